import type { JsonObject } from "../../core/encoding/json.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import { parseJson, toRecord } from "./json.ts";

/** The maximum length of a JSON answer from the provider, in bytes. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** The maximum length of a whole answer to a conversation, in bytes. Such an answer may contain files. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Idempotent methods: a repeated request has no further effect (RFC 9110, 9.2.2). */
const IDEMPOTENT: readonly (string | undefined)[] = [undefined, "GET", "DELETE"];

/** Most connections succeed. */
const loadConnectionErrors = () => import("./errors/connection-failure.ts");

/**
 * Sends a request to the provider. A failed connection throws `unreachable`; an abort rejects with the signal's
 * reason. Redirects are not followed, because they would carry the account's token to another host.
 *
 * The peer may close a kept-alive connection at the moment of its reuse, and no runtime reports whether the peer read
 * the request. So idempotent requests are repeated once, as HTTP clients do: the request's `RetryBudget` neither counts
 * nor lists that. A conversation is not repeated here, because it could be billed twice.
 */
export async function send(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
): Promise<Response> {
  // Node requires `duplex` for a stream as body. Other runtimes ignore it.
  const duplex = init.body instanceof ReadableStream ? ({ duplex: "half" } as const) : {};
  const request = { ...init, ...duplex, signal, redirect: "manual" } as const;
  for (let attemptsLeft = IDEMPOTENT.includes(init.method) ? 2 : 1; ; attemptsLeft -= 1) {
    signal.throwIfAborted();
    try {
      return await fetch(url, request);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ProviderError) throw error;
      if (attemptsLeft === 1) throw (await loadConnectionErrors()).createConnectionError(error);
    }
  }
}

/**
 * Reads at most `limit` bytes of a body as text, and closes the body. `whole` is false if the body is longer or the
 * connection broke; `broken` is true in the second case.
 */
export async function readBounded(
  response: Response,
  limit: number,
): Promise<{ readonly text: string; readonly whole: boolean; readonly broken: boolean }> {
  if (response.body === null) return { text: "", whole: true, broken: false };
  const reader = response.body.getReader();
  const utf8 = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { text: text + utf8.decode(), whole: true, broken: false };
      const chunk = value.subarray(0, limit - size);
      size += chunk.length;
      text += utf8.decode(chunk, { stream: true });
      if (chunk.length < value.length) return { text, whole: false, broken: false };
    }
  } catch {
    return { text, whole: false, broken: true };
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Reads an answer of the provider as one JSON object. Throws `malformed` for anything else and for an answer that is
 * too long or cut off.
 */
export async function readRecord(response: Response, signal: AbortSignal): Promise<JsonObject> {
  return toRecord(await readJson(response, signal));
}

/** The same for any JSON value. */
export async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
  const { text, whole } = await readBounded(response, MAX_JSON_BYTES);
  signal.throwIfAborted();
  if (!whole)
    throw new ProviderError("malformed", "the provider's answer is too long or was cut off", {
      status: response.status,
    });
  return parseJson(text);
}

/**
 * Reads the text of a whole answer.
 *
 * @throws ProviderError `cut` if the connection broke, `malformed` if the answer is too long; the signal's reason if the
 *   signal is aborted.
 */
export async function readAnswerText(response: Response, signal: AbortSignal): Promise<string> {
  const { text, whole, broken } = isBounded(response)
    ? await readNatively(response)
    : await readBounded(response, MAX_ANSWER_BYTES);
  signal.throwIfAborted();
  if (broken) throw new ProviderError("cut", "the provider's answer was cut off");
  if (!whole) throw new ProviderError("malformed", "the provider's answer is too long");
  return text;
}

/**
 * Whether the answer states an acceptable length. Compressed answers do not count, because
 * they may expand to any length.
 */
function isBounded({ headers }: Response): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= MAX_ANSWER_BYTES && !headers.has("content-encoding");
}

/** Reads the body with one call of the runtime instead of one call per piece. */
async function readNatively(response: Response): ReturnType<typeof readBounded> {
  try {
    return { text: await response.text(), whole: true, broken: false };
  } catch {
    return { text: "", whole: false, broken: true };
  }
}

/** Whether an answer with this media type comes in one piece. */
export function isWhole(mediaType: string): boolean {
  return /\bjson\b/i.test(mediaType);
}

/** Returns the media type of an answer, in lower case and without parameters. */
export function mediaTypeOf(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Returns the body of a successful answer. Throws `malformed` unless its media type is one of `names`. */
export async function eventStreamOf(
  response: Response,
  names: readonly string[] = ["text/event-stream"],
): Promise<ReadableStream<Uint8Array>> {
  if (!names.includes(mediaTypeOf(response)) || response.body === null) {
    await response.body?.cancel();
    const type = /^[\w.+/-]{1,100}$/.exec(mediaTypeOf(response))?.[0];
    const found = type === undefined ? "" : ` but with ${type}: its address or driver may be wrong`;
    const message = `the provider did not answer with an event stream${found}`;
    throw new ProviderError("malformed", message, { status: response.status });
  }
  return response.body;
}

/** The same response with another body. A status outside the valid range (for example 999) becomes 502. */
export function replaceBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  return new Response(body, { status: status > 599 ? 502 : status, statusText, headers });
}
