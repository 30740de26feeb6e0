import { MASK, withoutSecrets } from "../encoding/mask.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { OutboundProxy } from "../platform/upstream.ts";

/** What calls itself a credential. `x-goog-api-key`, `set-cookie`, `proxy-authorization` and their like. */
const SECRET_HEADER = /authorization|cookie|token|secret|password|api-?key|signature|credential/i;
const SECRET_PARAMETER = /token|secret|password|key|signature|credential|code/i;
/** A query within a text: the parameter's name, which is short, so that no text costs the square of its length, then its value. */
const QUERY =
  /([?&;][\w.-]{0,40}(?:token|secret|password|key|signature|credential|code)[\w.-]{0,40}=)[^&\s#"']+/gi;
/** So many secrets of a body are looked for: each costs a walk over the whole answer. */
const MAX_SECRETS = 100;
/** No credential is longer; what is stays masked where it stands, and is not looked for elsewhere. */
const MAX_SECRET_CHARS = 8 * 1024;
/** A member of JSON that calls itself a credential, also one whose text was cut off. */
const SECRET_MEMBER =
  /("(?:password|passwd|(?:access_?|refresh_?|id_?|session_?|auth_?)?token|api_?key|(?:client_?)?secret|(?:proxy-)?authorization|set-cookie|cookie)"\s*:\s*")((?:[^"\\]|\\.)*)("|\\?$)/gi;

/** A shorter value of a provider's header is looked for nowhere else: it may well be a number or a word of a protocol. */
const MIN_HEADER_SECRET = 8;

/** Who speaks to the upstream: what a request carries, and the proxy that it goes through. */
export interface Spoken {
  readonly url: string;
  readonly headers: Headers;
  /** Those among them that the provider is configured with: secrets, whatever their names. */
  readonly configured: Readonly<Record<string, string>>;
  readonly body: string;
  readonly proxy: OutboundProxy | null;
}

/** The secrets that a request carries: credentials in its address, its headers and members of its JSON body, the provider's headers, and the proxy's. */
export function secretsOf({ url, headers, configured, body, proxy }: Spoken): string[] {
  const found = new Set<string>();
  headers.forEach((value, name) => {
    if (!SECRET_HEADER.test(name)) return;
    // Without the scheme as well, as in `Bearer …`.
    found.add(value).add(withoutScheme(value));
  });
  for (const secret of secretsIn(configured)) found.add(secret);
  for (const match of body.matchAll(SECRET_MEMBER)) {
    if (found.size >= MAX_SECRETS) break;
    const value = match[2] ?? "";
    if (value.length <= MAX_SECRET_CHARS) found.add(unescaped(value));
  }
  const { username, password, searchParams } = new URL(url);
  found.add(decoded(password)).add(decoded(username));
  for (const [name, value] of searchParams) if (SECRET_PARAMETER.test(name)) found.add(value);
  if (proxy !== null && proxy.password !== "") {
    found.add(proxy.password).add(`${proxy.username}:${proxy.password}`);
  }
  found.delete("");
  return [...found];
}

/** The secrets among a provider's own headers, with and without their schemes. */
function secretsIn(configured: Spoken["configured"]): string[] {
  return Object.values(configured)
    .flatMap((value) => [value.trim(), withoutScheme(value.trim())])
    .filter((secret) => secret.length >= MIN_HEADER_SECRET);
}

/** A failure that repeats no secret of the provider's own headers: it is told to callers, and kept. The same one if there is none in it. */
export function failureWithout<T>(configured: Spoken["configured"], failure: T): T | ProviderError {
  const secrets = secretsIn(configured);
  if (secrets.length === 0 || !(failure instanceof ProviderError)) return failure;
  const { kind, status, cause, retryAfter } = failure;
  const message = withoutSecrets(failure.message, secrets, true);
  const told = Object.entries(failure.said);
  const said = told.filter(([, text]) => !withoutSecrets(text, secrets).includes(MASK));
  if (message === failure.message && said.length === told.length) return failure;
  return new ProviderError(kind, message, status, cause, retryAfter, Object.fromEntries(said));
}

function withoutScheme(value: string): string {
  return value.replace(/^\S+\s+/, "");
}

/** What a JSON string says; as it is when it is none. */
function unescaped(text: string): string {
  try {
    const value: unknown = JSON.parse(`"${text}"`);
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Headers by name, secret ones without their value, and others without secrets within it.
 *
 * @param configured those of the provider's configuration: secret by whatever name
 */
export function maskHeaders(
  headers: Headers,
  secrets: readonly string[],
  configured: Spoken["configured"],
): Record<string, string> {
  const names = new Set(Object.keys(configured).map((name) => name.toLowerCase()));
  const masked: Record<string, string> = {};
  headers.forEach((value, name) => {
    masked[name] =
      SECRET_HEADER.test(name) || names.has(name)
        ? MASK
        : withoutSecrets(value, secrets).replace(QUERY, `$1${MASK}`);
  });
  return masked;
}

/** How a text is masked beside the known secrets. */
export interface TextKind {
  /** It may be JSON: what its members call a secret is masked. */
  readonly json: boolean;
  /** It was cut: the beginning of a secret at its end is masked. */
  readonly cut: boolean;
}

/** A text without the known secrets and, if it is JSON, without what its members call a secret. */
export function maskText(text: string, secrets: readonly string[], { json, cut }: TextKind): string {
  const masked = withoutSecrets(text, secrets, cut);
  return json ? masked.replace(SECRET_MEMBER, `$1${MASK}$3`) : masked;
}

/** An address without credentials in it. */
export function maskUrl(address: string, secrets: readonly string[]): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  for (const name of [...url.searchParams.keys()]) {
    if (SECRET_PARAMETER.test(name)) url.searchParams.set(name, MASK);
  }
  return withoutSecrets(url.href, secrets);
}
