import type { JsonObject } from "../encoding/json.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { Fetch } from "../platform/upstream.ts";
import { parseRecord } from "./json.ts";

/** How long a JSON answer of the provider may be, in bytes. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** The same of an answer to a conversation, which may hold whole files. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Methods of which a second request has no effect beyond that of the first (RFC 9110, 9.2.2). */
const IDEMPOTENT: readonly (string | undefined)[] = [undefined, "GET", "DELETE"];

/**
 * Sends a request to the provider. A failed connection is `unreachable`; an abort passes through with the signal's
 * reason. Redirects are not followed: they would carry the account's token to another place.
 *
 * A connection that was kept may be closed by the other side in the moment of its next use, and no runtime says whether a request
 * was read by then: it is sent once more where that does no harm. A conversation is not, it would be paid for twice.
 */
export async function send(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
): Promise<Response> {
  const request: RequestInit = { ...init, signal, redirect: "manual" };
  for (let tries = IDEMPOTENT.includes(init.method) ? 2 : 1; ; tries -= 1) {
    signal.throwIfAborted();
    try {
      return await fetch(url, request);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ProviderError) throw error;
      if (tries === 1) throw new ProviderError("unreachable", "the provider cannot be reached", 0, error);
    }
  }
}

/**
 * Reads at most `limit` bytes of a body as text, and closes it. `whole` is false when there was more, or when it broke
 * off, which `broken` tells.
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
      const room = value.subarray(0, limit - size);
      size += room.length;
      text += utf8.decode(room, { stream: true });
      if (room.length < value.length) return { text, whole: false, broken: false };
    }
  } catch {
    return { text, whole: false, broken: true };
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads an answer of the provider as one JSON object; anything else, and one that is too long, is `malformed`. */
export async function readRecord(response: Response, signal: AbortSignal): Promise<JsonObject> {
  const { text, whole } = await readBounded(response, MAX_JSON_BYTES);
  signal.throwIfAborted();
  if (!whole)
    throw new ProviderError("malformed", "the provider's answer is too long or was cut off", response.status);
  return parseRecord(text);
}

/**
 * Reads a whole answer as one JSON object.
 *
 * @throws ProviderError `cut` when it broke off, `malformed` when it is too long or no JSON object; the signal's reason
 *   when that is aborted.
 */
export async function readAnswer(response: Response, signal: AbortSignal): Promise<JsonObject> {
  const { text, whole, broken } = isBounded(response)
    ? await readNatively(response)
    : await readBounded(response, MAX_ANSWER_BYTES);
  signal.throwIfAborted();
  if (broken) throw new ProviderError("cut", "the provider's answer was cut off");
  if (!whole) throw new ProviderError("malformed", "the provider's answer is too long");
  return parseRecord(text);
}

/** Whether an answer says how long it is, and that is not too long. What is unpacked on the way may be any length. */
function isBounded({ headers }: Response): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= MAX_ANSWER_BYTES && !headers.has("content-encoding");
}

/** One call of the runtime instead of one for each piece. */
async function readNatively(response: Response): ReturnType<typeof readBounded> {
  try {
    return { text: await response.text(), whole: true, broken: false };
  } catch {
    return { text: "", whole: false, broken: true };
  }
}

/** Whether an answer of this media type comes in one piece. */
export function isWhole(mediaType: string): boolean {
  return /\bjson\b/i.test(mediaType);
}

/** The media type of an answer, in lower case and without parameters. */
export function mediaTypeOf(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The body of a successful answer that has to be an event stream, called by one of `names`. */
export async function eventStreamOf(
  response: Response,
  names: readonly string[] = ["text/event-stream"],
): Promise<ReadableStream<Uint8Array>> {
  if (!names.includes(mediaTypeOf(response)) || response.body === null) {
    await response.body?.cancel();
    throw new ProviderError("malformed", "the provider did not answer with an event stream", response.status);
  }
  return response.body;
}
