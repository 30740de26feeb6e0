import { decodePercent } from "../../core/encoding/percent.ts";
import { MASK, maskSecrets } from "../../core/encoding/secret-masking.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { OutboundProxy } from "../../core/ports/upstream.ts";

/** Names of headers with credentials, for example `x-goog-api-key`, `set-cookie`, `proxy-authorization`. */
const SECRET_HEADER = /authorization|cookie|token|secret|password|api-?key|signature|credential/i;
const SECRET_PARAMETER = /token|secret|password|key|signature|credential|code/i;
/** A query parameter within a text. The name's length is limited, to avoid quadratic time. */
const QUERY =
  /([?&;][\w.-]{0,40}(?:token|secret|password|key|signature|credential|code)[\w.-]{0,40}=)[^&\s#"']+/gi;
/** Most secrets taken from a body: each costs a search through the whole answer. */
const MAX_SECRETS = 100;
/** Longest credential. A longer value is masked in its own place, but not searched for elsewhere. */
const MAX_SECRET_CHARS = 8 * 1024;
/** A JSON member with a credential's name, also one whose text was cut off. */
const SECRET_MEMBER =
  /("(?:password|passwd|(?:access_?|refresh_?|id_?|session_?|auth_?)?token|api_?key|(?:client_?)?secret|(?:proxy-)?authorization|set-cookie|cookie)"\s*:\s*")((?:[^"\\]|\\.)*)("|\\?$)/gi;

/**
 * Shorter values of a provider's configured headers are not searched for: they may be numbers or ordinary protocol words.
 */
const MIN_HEADER_SECRET = 8;

/** A request to the upstream, and the proxy that it goes through. */
export interface UpstreamRequest {
  readonly url: string;
  readonly headers: Headers;
  /** The headers of the provider's configuration. Their values are secrets, whatever their names. */
  readonly configuredHeaders: Readonly<Record<string, string>>;
  readonly body: string;
  readonly proxy: OutboundProxy | null;
}

/**
 * Collects a request's secrets: credentials in its URL, headers and JSON body, the provider's configured headers, and the
 * proxy's credentials.
 */
export function collectSecrets({ url, headers, configuredHeaders, body, proxy }: UpstreamRequest): string[] {
  const secrets = new Set<string>();
  headers.forEach((value, name) => {
    if (!SECRET_HEADER.test(name)) return;
    // Also without the scheme, as in `Bearer …`.
    secrets.add(value).add(withoutScheme(value));
  });
  for (const secret of configuredSecrets(configuredHeaders)) secrets.add(secret);
  for (const match of body.matchAll(SECRET_MEMBER)) {
    if (secrets.size >= MAX_SECRETS) break;
    const value = match[2] ?? "";
    if (value.length <= MAX_SECRET_CHARS) secrets.add(unescapeJson(value));
  }
  const { username, password, searchParams } = new URL(url);
  for (const part of [password, username]) secrets.add(decodePercent(part) ?? part);
  for (const [name, value] of searchParams) if (SECRET_PARAMETER.test(name)) secrets.add(value);
  if (proxy !== null && proxy.password !== "") {
    secrets.add(proxy.password).add(`${proxy.username}:${proxy.password}`);
  }
  secrets.delete("");
  return [...secrets];
}

/** The secrets in a provider's configured headers, with and without their schemes. */
export function configuredSecrets(configured: UpstreamRequest["configuredHeaders"]): string[] {
  return Object.values(configured)
    .flatMap((value) => [value.trim(), withoutScheme(value.trim())])
    .filter((secret) => secret.length >= MIN_HEADER_SECRET);
}

/**
 * Masks the secrets of a provider's configured headers in a failure, because callers see it and it is stored. Returns the
 * same failure if it contains none.
 */
export function maskFailure<T>(
  configured: UpstreamRequest["configuredHeaders"],
  failure: T,
): T | ProviderError {
  const secrets = configuredSecrets(configured);
  if (secrets.length === 0 || !(failure instanceof ProviderError)) return failure;
  const { kind, status, cause, retryAfter, isVerbatim, isErrorEvent } = failure;
  const message = maskSecrets(failure.message, secrets, true);
  const upstreamEntries = Object.entries(failure.upstreamFault);
  const safeEntries = upstreamEntries.filter(([, text]) => !maskSecrets(text, secrets).includes(MASK));
  if (message === failure.message && safeEntries.length === upstreamEntries.length) return failure;
  return new ProviderError(kind, message, {
    status,
    cause,
    retryAfter,
    upstreamFault: Object.fromEntries(safeEntries),
    isVerbatim,
    isErrorEvent,
  });
}

/** Whether a text contains a secret of a provider's configured headers. */
export function containsConfiguredSecret(
  configured: UpstreamRequest["configuredHeaders"],
  text: string,
): boolean {
  const secrets = configuredSecrets(configured);
  return secrets.length > 0 && maskSecrets(text, secrets) !== text;
}

function withoutScheme(value: string): string {
  return value.replace(/^\S+\s+/, "");
}

/** Decodes the content of a JSON string. Returns invalid text unchanged. */
function unescapeJson(text: string): string {
  try {
    const value: unknown = JSON.parse(`"${text}"`);
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
}

/**
 * Headers by name: secret values are masked completely, and secrets within other values are masked.
 *
 * @param configured the headers of the provider's configuration: secret whatever their names
 */
export function maskHeaders(
  headers: Headers,
  secrets: readonly string[],
  configured: UpstreamRequest["configuredHeaders"],
): Record<string, string> {
  const names = new Set(Object.keys(configured).map((name) => name.toLowerCase()));
  const masked: Record<string, string> = {};
  headers.forEach((value, name) => {
    masked[name] =
      SECRET_HEADER.test(name) || names.has(name)
        ? MASK
        : maskSecrets(value, secrets).replace(QUERY, `$1${MASK}`);
  });
  return masked;
}

/** How to mask a text in addition to the known secrets. */
export interface TextMaskOptions {
  /** Whether the text may be JSON: then the values of members with secret names are masked. */
  readonly mayBeJson: boolean;
  /** Whether the text was cut: then the beginning of a secret at its end is masked. */
  readonly isCut: boolean;
}

/** Masks the known secrets in a text and, if it may be JSON, the values of members with secret names. */
export function maskText(
  text: string,
  secrets: readonly string[],
  { mayBeJson, isCut }: TextMaskOptions,
): string {
  const masked = maskSecrets(text, secrets, isCut);
  return mayBeJson ? masked.replace(SECRET_MEMBER, `$1${MASK}$3`) : masked;
}

/** Masks the credentials in a URL. */
export function maskUrl(address: string, secrets: readonly string[]): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  for (const name of [...url.searchParams.keys()]) {
    if (SECRET_PARAMETER.test(name)) url.searchParams.set(name, MASK);
  }
  return maskSecrets(url.href, secrets);
}
