import { type KnownKey, keyFault, knownKeys } from "../auth/caller-keys.ts";
import { managedCaller } from "../auth/callers.ts";
import { isSigned, LINK_PARAMETERS } from "../auth/signed-links.ts";
import type { Config } from "../config/schema.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { clientKey } from "../http/client-key.ts";
import { checkDialect, checkNetwork } from "../limits/allowed.ts";
import type { Context } from "../platform/context.ts";

/** The caller of the page service. */
export interface Visitor {
  /** The client that tabs, queue places and jobs count for. */
  readonly client: string;
  /** The key whose limit applies instead of the address's; null for the public. */
  readonly key: KnownKey["key"] | null;
  /**
   * Seconds for which shared caches may store the answer: for a link, until it expires; 0 for a key; null if there is
   * no restriction.
   */
  readonly shared: number | null;
}

/** Prefix of a client name that is made of a key's id. */
const OF_KEY = "key:";
/** The authentication parameters. */
const OWN_PARAMETERS = ["key", ...LINK_PARAMETERS];

/** The query without the authentication parameters and `async`. */
export function wishIn(query: URLSearchParams): URLSearchParams {
  const wish = new URLSearchParams(query);
  for (const name of [...OWN_PARAMETERS, "async"]) wish.delete(name);
  return wish;
}

/**
 * Checks the client of deferred work: a client with a key needs a key that is still valid.
 *
 * @param now milliseconds since the epoch
 * @throws GatewayError 401 if no valid key has that id
 */
export async function checkClient(config: Config, client: string, now: number): Promise<void> {
  if (!client.startsWith(OF_KEY)) return;
  const id = client.slice(OF_KEY.length);
  for (const known of (await knownKeys(config)).values()) {
    if (known.key.id === id && keyFault(known, now) === null) return;
  }
  throw new GatewayError(401, "The API key that began this does not work any more.", {
    code: "invalid_api_key",
  });
}

/** A public caller, identified by the address alone. */
export function publicVisitor({ clientAddress }: Pick<Context, "clientAddress">): Visitor {
  return { client: clientKey(clientAddress), key: null, shared: null };
}

/** Whether a request contains a possible key or signature. */
export function claimsKey({ request, url: { searchParams } }: Pick<Context, "request" | "url">): boolean {
  return headerKeys(request).length > 0 || OWN_PARAMETERS.some((name) => searchParams.has(name));
}

/**
 * Identifies the caller: an operator with a key in the query or a header, the holder of a link signed with a key, or
 * the public. Ignores a header credential that is no configured key: it may be meant for the provider.
 *
 * @throws GatewayError 401 for an invalid key, 403 for one that may not be used here, and for an invalid link
 */
export async function visitorOf(context: Context): Promise<Visitor> {
  const { request, url, platform, clientAddress } = context;
  const query = url.searchParams;
  const { config } = await context.config();
  if (LINK_PARAMETERS.some((name) => query.has(name))) return linkVisitor(context, config);
  const given = query.get("key");
  const known = await configured(
    config,
    given === null ? headerKeys(request) : [given.trim()],
    platform.now(),
  );
  if (known === undefined) {
    if (given === null) return publicVisitor(context);
    throw new GatewayError(
      401,
      "This API key is not known. (If key is a parameter of the page's address, that address has to be percent-encoded.)",
      { code: "invalid_api_key", param: "key" },
    );
  }
  const { key } = managedCaller(known, platform.now(), null);
  return admitted(key ?? known.key, clientAddress, 0);
}

/** The configured key among some credentials; a valid one takes precedence. */
async function configured(
  config: Config,
  credentials: readonly string[],
  now: number,
): Promise<KnownKey | undefined> {
  const keys = await knownKeys(config);
  const digests = await Promise.all(credentials.map((credential) => sha256Hex(credential)));
  const found = digests.flatMap((digest) => keys.get(digest) ?? []);
  return found.find((known) => keyFault(known, now) === null) ?? found[0];
}

function headerKeys({ headers }: Request): string[] {
  const bearer = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1];
  return [bearer, headers.get("x-api-key")].flatMap((text) => text?.trim() || []);
}

async function linkVisitor(
  { request, url, platform, clientAddress }: Context,
  config: Config,
): Promise<Visitor> {
  const query = url.searchParams;
  // The signature does not cover a body.
  if (request.method !== "GET" && request.method !== "HEAD")
    throw invalidLink("A signed link is for GET alone.");
  for (const name of LINK_PARAMETERS) {
    if (!query.get(name)) throw invalidRequest(`A signed link needs the parameter ${name}.`, name);
  }
  const id = query.get("keyId") ?? "";
  for (const [digest, known] of await knownKeys(config)) {
    if (known.key.id !== id || !(await isSigned(digest, url.pathname, query))) continue;
    const now = platform.now();
    if (keyFault(known, now) !== null)
      throw invalidLink("The key that signed this link does not work any more.");
    const expires = Number(query.get("expires"));
    const left = Math.floor(expires - now / 1_000);
    if (!(left > 0)) {
      throw new GatewayError(403, "This link has expired.", { code: "link_expired", param: "expires" });
    }
    return admitted(known.key, clientAddress, left);
  }
  throw invalidLink("This link is not signed by a known key, or has been changed since.");
}

function invalidLink(message: string): GatewayError {
  return new GatewayError(403, message, { code: "signature_invalid", param: "signature" });
}

/** The caller of a key that may be used here. Throws GatewayError 403. */
function admitted(key: KnownKey["key"], clientAddress: string, shared: number): Visitor {
  checkNetwork(key.entry, clientAddress);
  checkDialect(key.entry, "pages");
  return { client: `${OF_KEY}${key.id}`, key, shared };
}
