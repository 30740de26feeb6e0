import type { Config } from "../config/schema.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { RecentMap } from "../encoding/recent-map.ts";
import { copyText } from "../encoding/text-slices.ts";
import { unauthorized } from "../errors/gateway-error.ts";
import type { Context } from "../ports/context.ts";
import { type CallerKey, getKeyRejection, getKnownKeys, type KnownKey } from "./caller-keys.ts";
import { loadTokenModule, looksLikeToken } from "./token-detection.ts";
import { effectiveUnknownKeyPolicy, warnIfOpenToAnyKey } from "./unknown-key-policy.ts";

/** The authenticated caller of a business endpoint (docs/contract/keys.md, Authentication). */
export interface Caller {
  /** `managed`: a configured key; the pool chooses an account. `own-token`: the provider's own token. */
  readonly mode: "managed" | "own-token";
  readonly credential: string;
  /**
   * SHA-256 of the credential in hexadecimal; for a rotated key, of its first secret. Owner of the caller's stored objects.
   */
  readonly owner: string;
  /** Null with an own token, and for the gateway itself. */
  readonly key: CallerKey | null;
  /** `X-Gateway-Target-Account`, managed mode only. */
  readonly targetAccount: string | null;
}

/** The characters of a header value (RFC 9110, section 5.5). A credential in a query may have any. */
const HEADER_VALUE = /^[\x20-\x7e\x80-\xff]+$/;

/** Limits of the digest cache, because strangers choose the credentials: number of entries, and characters of one. */
const MAX_CACHED_DIGESTS = 1_000;
const MAX_CACHED_LENGTH = 500;
const digestCache = new RecentMap<string>(MAX_CACHED_DIGESTS);

/** SHA-256 in hexadecimal, cached: on runtimes that hash on other threads, a digest takes a quarter of a request's time. */
async function getDigest(credential: string): Promise<string> {
  const known = digestCache.get(credential, 0);
  if (known !== undefined) return known;
  const digest = await sha256Hex(credential);
  if (credential.length > MAX_CACHED_LENGTH) return digest;
  // Copies the text: a slice of a header would keep the whole header in memory.
  digestCache.set(copyText(credential), digest, 0);
  return digest;
}

/** A place where a request may carry a key or token. */
export type CredentialSource =
  /** `Authorization: Bearer …` */
  | { readonly in: "bearer" }
  | { readonly in: "query"; readonly name: string }
  /** `prefix`: the header lists values separated by commas, and the credential follows the prefix of one of them. */
  | { readonly in: "header"; readonly name: string; readonly prefix?: string };

function readCredential(source: CredentialSource, request: Request, url: URL): string | null {
  switch (source.in) {
    case "bearer": {
      const authorization = request.headers.get("authorization");
      return authorization === null ? null : (/^bearer\s+(\S.*)$/i.exec(authorization.trim())?.[1] ?? null);
    }
    case "header": {
      const value = request.headers.get(source.name);
      const { prefix } = source;
      if (value === null || prefix === undefined) return value;
      const listed = value.split(",").map((item) => item.trim());
      return listed.find((item) => item.startsWith(prefix))?.slice(prefix.length) ?? null;
    }
    case "query":
      // Most requests have no query, and `searchParams` would parse it.
      return url.search === "" ? null : url.searchParams.get(source.name);
  }
}

/** The request's credentials, in the order of the sources. */
function* readCredentials(
  request: Request,
  url: URL,
  sources: readonly CredentialSource[],
): Generator<string, undefined> {
  for (const source of sources) {
    const credential = readCredential(source, request, url)?.trim() ?? "";
    if (credential !== "") yield credential;
  }
}

/**
 * Whether a credential belongs to the admin API or the hosting platform. A client that sends it as a key has confused them,
 * and the provider must not see it.
 */
async function isAdministrative(
  { platform }: Pick<Context, "platform">,
  config: Config,
  credential: string,
  owner: string,
): Promise<boolean> {
  if (looksLikeToken(credential) && (await loadTokenModule()).claimsOwnIssuer(credential)) return true;
  const { adminKey, hosting } = platform.variables;
  for (const secret of [adminKey, hosting.token, config.vercel.token]) {
    if (secret !== null && secret !== "" && (await getDigest(secret)) === owner) return true;
  }
  return false;
}

function unknownKeyMessage({ callers }: Config): string {
  const message = "this API key is not known";
  if (callers.unknown_keys === "refuse") return message;
  return `${message}: use an API key of this gateway. It passes no others on while it has no credential for the provider (callers.unknown_keys)`;
}

/**
 * The headers that accept a key, as text for an error message: those of the style first, then the one that all styles
 * accept.
 */
function describeSources(sources: readonly CredentialSource[]): string {
  const headers = sources.flatMap((source) => (source.in === "header" ? [`${source.name}: <key>`] : []));
  return [...headers, "Authorization: Bearer <key>"].join(" or ");
}

/**
 * Returns the caller with a configured key.
 *
 * @param now milliseconds since the epoch
 * @param target `X-Gateway-Target-Account`
 * @throws GatewayError 401 `invalid_api_key` for a key that does not work now.
 */
export function createManagedCaller(
  known: KnownKey,
  now: number,
  target: string | null,
  credential = known.key.entry.key,
): Caller {
  const rejection = getKeyRejection(known, now);
  if (rejection !== null) throw unauthorized(rejection);
  const { key, owner } = known;
  return { mode: "managed", credential, owner, key, targetAccount: target === "" ? null : target };
}

/**
 * Authenticates the caller (docs/contract/keys.md, Authentication, rules 1 to 3). Of several credentials a configured
 * key wins, and a working one before another. Without one, the first in the order of `sources` counts.
 *
 * @param expectedSources Where clients of this path put their key; for the error message when no credential was sent.
 * @param suppliedCredential Use this credential instead of the request's own; null: use the request's.
 * @param onKeyFound Receives the configured key, even if it is refused.
 *
 * @throws GatewayError 401 `invalid_api_key` if there is no credential, if it is an administrator's, or if a configured key
 * is disabled, expired or replaced: such a key is never passed through to the provider. Also for an unknown key, if the
 * configuration refuses those.
 */
export async function authenticateCaller(
  context: Pick<Context, "request" | "url" | "config" | "lookUpConfig" | "platform">,
  sources: readonly CredentialSource[],
  expectedSources: readonly CredentialSource[] = [],
  suppliedCredential: string | null = null,
  onKeyFound: (key: CallerKey) => void = () => undefined,
): Promise<Caller> {
  const { request, url } = context;
  const candidates =
    suppliedCredential === null ? [...readCredentials(request, url, sources)] : [suppliedCredential];
  const [first] = candidates;
  if (first === undefined) {
    throw unauthorized(`no API key was given: send ${describeSources(expectedSources)}`);
  }
  const firstOwner = await getDigest(first);
  let match = await findKnownKey(context, candidates);
  // A key that was just added must not be refused, or shown to the provider as a token.
  if (match?.works !== true && (await context.lookUpConfig(firstOwner)))
    match = await findKnownKey(context, candidates);
  if (match !== null) {
    onKeyFound(match.known.key);
    const target = request.headers.get("x-gateway-target-account")?.trim() ?? null;
    return createManagedCaller(match.known, context.platform.now(), target, match.credential);
  }
  const { config } = await context.config();
  warnIfOpenToAnyKey(context.platform, config);
  if (!HEADER_VALUE.test(first)) {
    throw unauthorized("this is no key and no token: it has characters that no header can hold");
  }
  if (await isAdministrative(context, config, first, firstOwner)) {
    throw unauthorized("this credential is for administration: send an API key or a token of the provider");
  }
  if (effectiveUnknownKeyPolicy(context.platform, config) === "refuse")
    throw unauthorized(unknownKeyMessage(config));
  // The owner differs from that of a key with this secret: the holder of a deleted key must not read what it has stored.
  const owner = await getDigest(`pass-through\0${first}`);
  return { mode: "own-token", credential: first, owner, key: null, targetAccount: null };
}

/** A configured key among a request's credentials. */
interface KeyMatch {
  readonly known: KnownKey;
  readonly credential: string;
  /** False for a disabled, expired or replaced key. */
  readonly works: boolean;
}

/** Finds the first configured key that works now, or else the first that is configured. */
async function findKnownKey(
  { config: readConfig, platform }: Pick<Context, "config" | "platform">,
  candidates: readonly string[],
): Promise<KeyMatch | null> {
  const { config } = await readConfig();
  const keys = await getKnownKeys(config);
  const now = platform.now();
  let match: KeyMatch | null = null;
  for (const credential of candidates) {
    const known = keys.get(await getDigest(credential));
    if (known === undefined) continue;
    const works = getKeyRejection(known, now) === null;
    if (works) return { known, credential, works };
    match ??= { known, credential, works };
  }
  return match;
}
