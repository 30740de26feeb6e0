import { assertDialectAllowed, assertNetworkAllowed } from "../../core/auth/access-rules.ts";
import { getKeyRejection, getKnownKeys, type KnownKey } from "../../core/auth/caller-keys.ts";
import { createManagedCaller } from "../../core/auth/callers.ts";
import { hasValidSignature, LINK_PARAMETERS } from "../../core/auth/signed-links.ts";
import type { Config } from "../../core/config/schema.ts";
import { PAGES_STYLE } from "../../core/config/styles.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { clientKey } from "../../core/http/client-key.ts";
import type { Context } from "../../core/ports/context.ts";

/** The caller of the page service. */
export interface PageCaller {
  /** The client whose limits of tabs, queue places and jobs apply. */
  readonly client: string;
  /** The key whose limit applies instead of the address's; null for the public. */
  readonly key: KnownKey["key"] | null;
  /**
   * Seconds for which shared caches may store the answer: for a link, until it expires; 0 for a key; null if there is
   * no restriction.
   */
  readonly sharedMaxAge: number | null;
}

/**
 * How a caller was identified: by nothing, by a signed link, or by an API key. Secrets need the key itself, because a
 * link shows everything that it is made of.
 */
export type CallerAccess = "public" | "link" | "key";

/** How a caller was identified. */
export function callerAccess({ key, sharedMaxAge }: PageCaller): CallerAccess {
  if (key === null) return "public";
  return sharedMaxAge === 0 ? "key" : "link";
}

/** How the client of deferred work was identified. A job has no secrets, so a link's client counts as a key's. */
export function clientAccess(client: string): CallerAccess {
  return clientKeyId(client) === null ? "public" : "link";
}

/** The id of the key that a client's name is made of; null for the public. */
export function clientKeyId(client: string): string | null {
  return client.startsWith(KEY_CLIENT_PREFIX) ? client.slice(KEY_CLIENT_PREFIX.length) : null;
}

/** Prefix of a client name that is made of a key's id. */
const KEY_CLIENT_PREFIX = "key:";
/** The authentication parameters. */
const AUTH_PARAMETERS = ["key", ...LINK_PARAMETERS];

/** Parameters that decide how the answer is delivered, not what it contains. */
const JOB_PARAMETERS = ["async", "webhook", "uploadUrl"];

/** The query without the parameters of authentication and of jobs. */
export function normalizedQuery(query: URLSearchParams): URLSearchParams {
  const normalized = new URLSearchParams(query);
  for (const name of [...AUTH_PARAMETERS, ...JOB_PARAMETERS]) normalized.delete(name);
  return normalized;
}

/**
 * Checks the client of deferred work: a client with a key needs a key that is still valid.
 *
 * @param now milliseconds since the epoch
 * @throws GatewayError 401 if no valid key has that id
 */
export async function assertClientKeyValid(config: Config, client: string, now: number): Promise<void> {
  const id = clientKeyId(client);
  if (id === null) return;
  for (const known of (await getKnownKeys(config)).values()) {
    if (known.key.id === id && getKeyRejection(known, now) === null) return;
  }
  throw new GatewayError(401, "The API key that began this does not work any more.", {
    code: "invalid_api_key",
  });
}

/** A public caller, identified by the address alone. */
export function createPublicCaller({ clientAddress }: Pick<Context, "clientAddress">): PageCaller {
  return { client: clientKey(clientAddress), key: null, sharedMaxAge: null };
}

/** Whether a request contains a possible key or signature. */
export function hasCredentials({
  request,
  url: { searchParams },
}: Pick<Context, "request" | "url">): boolean {
  return readHeaderCredentials(request).length > 0 || AUTH_PARAMETERS.some((name) => searchParams.has(name));
}

/**
 * Identifies the caller: an operator with a key in the query or a header, the holder of a link signed with a key, or
 * the public. Ignores a header credential that is no configured key: it may be meant for the provider.
 *
 * @throws GatewayError 401 for an invalid key, 403 for one that may not be used here, and for an invalid link
 */
export async function identifyCaller(context: Context): Promise<PageCaller> {
  const { request, url, platform, clientAddress } = context;
  const query = url.searchParams;
  const { config } = await context.config();
  if (LINK_PARAMETERS.some((name) => query.has(name))) return identifyLinkCaller(context, config);
  const keyParameter = query.get("key");
  const known = await findConfiguredKey(
    config,
    keyParameter === null ? readHeaderCredentials(request) : [keyParameter.trim()],
    platform.now(),
  );
  if (known === undefined) {
    if (keyParameter === null) return createPublicCaller(context);
    throw new GatewayError(
      401,
      "This API key is not known. (If key is a parameter of the page's address, that address has to be percent-encoded.)",
      { code: "invalid_api_key", param: "key" },
    );
  }
  const { key } = createManagedCaller(known, platform.now(), null);
  return authorizeKeyCaller(key ?? known.key, clientAddress, 0);
}

/** The configured key among some credentials; a valid one takes precedence. */
async function findConfiguredKey(
  config: Config,
  credentials: readonly string[],
  now: number,
): Promise<KnownKey | undefined> {
  const keys = await getKnownKeys(config);
  const digests = await Promise.all(credentials.map((credential) => sha256Hex(credential)));
  const matches = digests.flatMap((digest) => keys.get(digest) ?? []);
  return matches.find((known) => getKeyRejection(known, now) === null) ?? matches[0];
}

function readHeaderCredentials({ headers }: Request): string[] {
  const bearer = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1];
  return [bearer, headers.get("x-api-key")].flatMap((text) => text?.trim() || []);
}

async function identifyLinkCaller(
  { request, url, platform, clientAddress }: Context,
  config: Config,
): Promise<PageCaller> {
  const query = url.searchParams;
  // The signature does not cover a body.
  if (request.method !== "GET" && request.method !== "HEAD")
    throw createLinkError("A signed link is for GET alone.");
  for (const name of LINK_PARAMETERS) {
    if (!query.get(name)) throw invalidRequest(`A signed link needs the parameter ${name}.`, name);
  }
  const id = query.get("keyId") ?? "";
  for (const [digest, known] of await getKnownKeys(config)) {
    if (known.key.id !== id || !(await hasValidSignature(digest, url.pathname, query))) continue;
    const now = platform.now();
    if (getKeyRejection(known, now) !== null)
      throw createLinkError("The key that signed this link does not work any more.");
    const expires = Number(query.get("expires"));
    const remaining = Math.floor(expires - now / 1_000);
    if (!(remaining > 0)) {
      throw new GatewayError(403, "This link has expired.", { code: "link_expired", param: "expires" });
    }
    return authorizeKeyCaller(known.key, clientAddress, remaining);
  }
  throw createLinkError("This link is not signed by a known key, or has been changed since.");
}

function createLinkError(message: string): GatewayError {
  return new GatewayError(403, message, { code: "signature_invalid", param: "signature" });
}

/** The caller of a key that may be used here. Throws GatewayError 403. */
function authorizeKeyCaller(key: KnownKey["key"], clientAddress: string, sharedMaxAge: number): PageCaller {
  assertNetworkAllowed(key.entry, clientAddress);
  assertDialectAllowed(key.entry, PAGES_STYLE);
  return { client: `${KEY_CLIENT_PREFIX}${key.id}`, key, sharedMaxAge };
}
