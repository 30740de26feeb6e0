import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { MASK, maskSecrets } from "../../../core/encoding/secret-masking.ts";
import { describeFailedStatus, QUOTE } from "../../../core/errors/failure-message.ts";
import type { UpstreamFault } from "../../../core/errors/gateway-error.ts";
import {
  ProviderError,
  type ProviderErrorDetails,
  type ProviderErrorKind,
} from "../../../core/errors/provider-error.ts";
import { readStatedWait } from "../answers/provider-quota.ts";
import { mediaTypeOf, readBounded } from "../transport.ts";

/** How many bytes of an error body are read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** How many characters of an upstream's message are passed on. */
const MAX_MESSAGE_CHARS = 500;
/** The same for a caller that speaks the upstream's protocol. */
const MAX_VERBATIM_CHARS = 16 * 1024;
/** The maximum accepted `Retry-After`, in seconds: one year. */
const LONGEST_WAIT = 365 * 86_400;

/** An error within an answer has none. */
const NO_HEADERS = new Headers();

/** Error codes that upstreams of all protocols use. Drivers add the codes of their own protocol ({@link ErrorKinds}). */
const KIND_OF_CODE: ReadonlyMap<string, ProviderErrorKind> = new Map<string, ProviderErrorKind>([
  ["invalid_credentials", "invalid_credentials"],
  ["token_expired", "token_expired"],
  ["invalid_api_key", "token_expired"],
  ["account_suspended", "account_suspended"],
  ["account_deactivated", "account_suspended"],
  ["rate_limited", "rate_limited"],
  ["rate_limit_exceeded", "rate_limited"],
  ["insufficient_quota", "rate_limited"],
  ["not_found", "not_found"],
  ["too_large", "too_large"],
  ["model_unavailable", "model_unavailable"],
  ["model_not_found", "model_unavailable"],
  ["invalid_request", "invalid_request"],
  ["context_length_exceeded", "context_length"],
  ["exceed_context_size_error", "context_length"],
  ["content_filter", "content_filter"],
  ["content_policy_violation", "content_filter"],
]);

/** Phrases with which backends without an error code for it report that a prompt is too long for the model. */
const TOO_LONG =
  /maximum context length|prompt is too long|longer than the model's context|exceeds? (?:the )?(?:model's )?(?:context|available context size|maximum number of (?:input )?tokens)|input length and `?max_tokens`? exceed|too large for model with/i;

/**
 * How messages begin with which backends refuse an API key with 400.
 * Only the beginning counts, since a message may quote the request.
 */
const REFUSED_KEY = /^(?:incorrect api key provided|api key not valid|invalid api[ -]key)\b/i;

/** Fixed messages for callers, where the upstream's own words could contain part of a credential. */
const FIXED_MESSAGES: Partial<Record<ProviderErrorKind, string>> = {
  invalid_credentials: "the provider refused the account's credentials",
  token_expired: "the provider refused the account's token",
  account_suspended: "the provider refused the account",
};

function kindOfCode(code: unknown, kinds: ErrorKinds): ProviderErrorKind | undefined {
  return typeof code === "string" ? (kinds.codes?.get(code) ?? KIND_OF_CODE.get(code)) : undefined;
}

function kindOfStatus(status: number): ProviderErrorKind {
  switch (status) {
    case 401:
      return "token_expired";
    case 402:
    case 403:
      return "account_suspended";
    case 404:
      return "not_found";
    case 408:
    case 504:
      return "timeout";
    // These are about the gateway's connection, and clients of `fetch` do not let their callers read them.
    case 407:
    case 421:
    case 426:
      return "server_error";
    case 413:
      return "too_large";
    case 429:
      return "rate_limited";
    case 503:
      return "model_unavailable";
  }
  return status >= 400 && status < 500 ? "invalid_request" : "server_error";
}

/** A driver's mapping of error codes, and of statuses without a known code, where it differs from the general mapping. */
export interface ErrorKinds {
  readonly codes?: ReadonlyMap<string, ProviderErrorKind>;
  readonly statuses?: Readonly<Record<number, ProviderErrorKind>>;
  /** Converts the protocol's error body into a form that {@link toProviderError} reads. */
  readonly read?: (body: JsonObject) => JsonObject;
  /** The caller speaks the same protocol, so it gets the upstream's message unchanged. */
  readonly isVerbatim?: boolean;
}

/** The members that hold the reason, the preferred first. Each is a text, an object with such members or a list. */
const REASON_MEMBERS = ["message", "msg", "error", "detail", "errors"] as const;
/** How deep the reason may be nested. */
const MAX_REASON_DEPTH = 5;

/** Reads the reason from an error body. Joins the entries of lists such as FastAPI's `detail: [{loc, msg}]`. */
function readReason(value: unknown, depth = 0): string {
  if (typeof value === "string") return value.trim();
  if (depth === MAX_REASON_DEPTH) return "";
  if (Array.isArray(value)) {
    const reasons = value.map((entry) => readReason(entry, depth + 1));
    return reasons.filter((reason) => reason !== "").join("; ");
  }
  if (!isObject(value)) return "";
  for (const member of REASON_MEMBERS) {
    const reason = readReason(value[member], depth + 1);
    if (reason !== "") return readPlace(value["loc"]) + reason;
  }
  return "";
}

/** The path of the field at fault, as in `body.messages.0.role: `. */
function readPlace(path: unknown): string {
  if (!Array.isArray(path)) return "";
  const steps: readonly unknown[] = path;
  const names = steps.filter((step) => typeof step === "string" || typeof step === "number");
  return names.length === 0 ? "" : `${names.join(".")}: `;
}

/**
 * Converts a provider's error object into a `ProviderError`. Accepts `{code, message}`, the same under `error`, a
 * text under `error`, and the forms of common HTTP frameworks (`message`, `detail`, `errors`). The code decides first,
 * then the HTTP status. If the status is 0 (none), a numeric code replaces it. The body or the headers may state how long
 * to wait.
 */
export function toProviderError(
  rawBody: JsonObject,
  status: number,
  secret: string,
  kinds: ErrorKinds = {},
  headers: Headers = NO_HEADERS,
): ProviderError {
  const statedWait = readStatedWait(headers, rawBody, Date.now());
  const retryAfter = statedWait === null ? null : Math.min(statedWait, LONGEST_WAIT);
  const body = kinds.read?.(rawBody) ?? rawBody;
  const { error } = body;
  const { code, type } = isObject(error) ? error : body;
  const effective = status === 0 && isStatus(code) ? code : status;
  const known = kindOfCode(code, kinds) ?? kindOfCode(type, kinds);
  const text = (isObject(error) ? readReason(error) : "") || readReason(body);
  const statusKind = known ?? kinds.statuses?.[effective] ?? kindOfStatus(effective);
  const kind = statusKind === "invalid_request" ? kindOfRefusal(text) : statusKind;
  // An error response has a status, an error within an answer has none.
  const isErrorEvent = status === 0;
  const fault = readErrorFields(isObject(error) ? error : body, secret);
  const { code: _, ...faultWithoutCode } = fault;
  // If the gateway understands the code, callers receive the gateway's own code instead.
  const reportedFault = kindOfCode(code, kinds) === undefined ? fault : faultWithoutCode;
  if (kinds.isVerbatim === true && FIXED_MESSAGES[kind] === undefined && text !== "") {
    const message = maskQuotedKey(maskSecrets(text, [secret]), secret).slice(0, MAX_VERBATIM_CHARS);
    return new ProviderError(kind, message, {
      status: effective,
      retryAfter,
      upstreamFault: fault,
      isVerbatim: true,
      isErrorEvent,
    });
  }
  const details = { status: effective, retryAfter, upstreamFault: reportedFault, isErrorEvent };
  return createProviderError(kind, text, secret, details);
}

/** The kind of a refusal without a code that says more. */
function kindOfRefusal(text: string): ProviderErrorKind {
  if (TOO_LONG.test(text)) return "context_length";
  return REFUSED_KEY.test(text) ? "token_expired" : "invalid_request";
}

function isStatus(code: unknown): code is number {
  return Number.isInteger(code) && Number(code) >= 100 && Number(code) < 600;
}

/** Codes, types and field names. Longer or otherwise written values are ignored. */
const NAME = /^[\w.[\]-]{1,100}$/;

/** Reads the code, type and field name of an error object. */
function readErrorFields(error: JsonObject, secret: string): UpstreamFault {
  const fault: { code?: string; type?: string; param?: string } = {};
  for (const name of ["code", "type", "param"] as const) {
    const value = error[name];
    if (typeof value !== "string" || !NAME.test(value)) continue;
    if (!maskSecrets(value, [secret]).includes(MASK)) fault[name] = value;
  }
  return fault;
}

/** Describes an error response without a reason. Web servers answer so for paths that they do not know. */
function describeStatus(status: number): string {
  const hint = status === 404 ? ": its address may lack a part such as /v1, or its driver may be wrong" : "";
  return describeFailedStatus(status) + hint;
}

/** How providers shorten a credential that they quote: `sk-ab****wxyz`, `sk-ab...wxyz`. */
const SHORTENED = /\*\*|•|\w\.\.\.\w/;
/** From this length on, a run with a digit may be a credential. */
const MIN_CREDENTIAL = 16;
/** An address of letters alone: it tells where to pay, or to get another key, and holds no credential. */
const PLAIN_ADDRESS = /^["'(<]?https?:\/\/[a-z./_-]+(?:["')>,;]["')>,.;]*)?$/i;
/** As many characters of a credential's beginning or end identify it within a run. */
const CREDENTIAL_END = 4;

/** So many characters of a credential's beginning or end are a part of it wherever they stand. */
const CREDENTIAL_PART = 8;

/**
 * Whether a run contains so many of the first or the last characters of a credential.
 * Short credentials have no such parts.
 */
const hasEndOf = (run: string, secret: string, length: number): boolean =>
  secret.length >= 2 * length &&
  (run.includes(secret.slice(0, length)) || run.includes(secret.slice(-length)));

/**
 * Masks parts of the account's credential: a shortened form with its first or last characters, or a longer part of either
 * end. Other words stay, because clients read them.
 */
function maskQuotedKey(text: string, secret: string): string {
  const isQuoted = (run: string): boolean =>
    (SHORTENED.test(run) && hasEndOf(run, secret, CREDENTIAL_END)) || hasEndOf(run, secret, CREDENTIAL_PART);
  return text.replace(/\S+/g, (run) => (isQuoted(run) ? MASK : run));
}

/** Masks words that may be a part of the account's credential: providers quote the first or last characters of a refused key. */
function maskCredentialParts(text: string, secret: string): string {
  const isSuspect = (run: string): boolean =>
    SHORTENED.test(run) ||
    (run.length >= MIN_CREDENTIAL && /\d/.test(run) && !run.includes("://")) ||
    (!PLAIN_ADDRESS.test(run) && hasEndOf(run, secret, CREDENTIAL_END));
  return text
    .split(" ")
    .map((run) => (isSuspect(run) ? MASK : run))
    .join(" ");
}

/** Creates an error with a message that callers may see: limited in length, on one line, without the account's token. */
function createProviderError(
  kind: ProviderErrorKind,
  text: string,
  secret: string,
  details: ProviderErrorDetails & { readonly status: number },
): ProviderError {
  const { status, isErrorEvent } = details;
  // A provider that is a gateway like this one has marked its provider's words already.
  const words = maskSecrets(text.replaceAll(QUOTE, ""), [secret])
    .slice(0, MAX_MESSAGE_CHARS)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const fixed = FIXED_MESSAGES[kind];
  if (fixed !== undefined) {
    const upstreamWords = maskCredentialParts(words, secret);
    return new ProviderError(kind, fixed, { status, isErrorEvent, upstreamWords });
  }
  const masked = maskQuotedKey(words, secret);
  return new ProviderError(kind, masked === "" ? describeStatus(status) : `${QUOTE}${masked}`, details);
}

/**
 * An error response after reading: the `ProviderError`, and the body's text (at most 64 kB) for drivers that need
 * details.
 */
export interface UpstreamErrorResponse {
  readonly error: ProviderError;
  readonly text: string;
}

/** A page, cut JSON, or bytes that are not text. */
const NOT_PLAIN_TEXT = /^\s*[<{[]|[^\P{Cc}\s]|\uFFFD/u;
const PLAIN_TEXT_TYPES: readonly string[] = ["text/plain", "application/json", ""];

/** Reads the body of an error response. An HTML page is not passed on: it is the error page of a proxy, for example. */
function parseErrorBody(response: Response, text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    // Some backends wrap the error in a list, like the pieces of a stream.
    const root: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isObject(root) ? root : { message: root };
  } catch {
    const isPlain = PLAIN_TEXT_TYPES.includes(mediaTypeOf(response)) && !NOT_PLAIN_TEXT.test(text);
    // An API answers in JSON. A plain 404 is that of a web server, which does not know the path.
    const isUnknownPath = response.status === 404 && !/model/i.test(text);
    return isPlain && !isUnknownPath ? { message: text } : {};
  }
}

/** Reads an error response and closes its body. If the body states no reason, only the status counts. */
export async function readErrorResponse(
  response: Response,
  secret: string,
  signal: AbortSignal,
  kinds: ErrorKinds = {},
): Promise<UpstreamErrorResponse> {
  const { status } = response;
  if (status < 400) {
    await response.body?.cancel();
    const error = new ProviderError("malformed", `the provider answered with status ${status}`, { status });
    return { error, text: "" };
  }
  const { text } = await readBounded(response, MAX_ERROR_BYTES);
  signal.throwIfAborted();
  const body = parseErrorBody(response, text);
  return { error: toProviderError(body, status, secret, kinds, response.headers), text };
}
