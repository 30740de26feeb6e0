import { ProviderError } from "./errors.ts";
import { type JsonRecord, parseRecord } from "./json.ts";
import type { Fetch } from "./provider.ts";

/** How long a JSON answer of the provider may be, in bytes, where its length is stated. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;

/**
 * Sends a request to the provider. A failed connection is `unreachable`; an abort passes through with the signal's
 * reason. Redirects are not followed: they would carry the account's token to another place.
 */
export async function send(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
): Promise<Response> {
  signal.throwIfAborted();
  try {
    return await fetch(url, { ...init, signal, redirect: "manual" });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError) throw error;
    throw new ProviderError("unreachable", "the provider cannot be reached", 0, error);
  }
}

/** Reads an answer of the provider as one JSON object; anything else is `malformed`. */
export async function readRecord(response: Response, signal: AbortSignal): Promise<JsonRecord> {
  if (Number(response.headers.get("content-length") ?? 0) > MAX_JSON_BYTES) {
    await response.body?.cancel();
    throw new ProviderError("malformed", "the provider's answer is too long", response.status);
  }
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    signal.throwIfAborted();
    throw new ProviderError("cut", "the provider's answer was cut off", response.status, error);
  }
  return parseRecord(text);
}

/** The media type of an answer, in lower case and without parameters. */
export function mediaTypeOf(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The body of a successful answer that has to be an event stream. */
export async function eventStreamOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  if (mediaTypeOf(response) !== "text/event-stream" || response.body === null) {
    await response.body?.cancel();
    throw new ProviderError("malformed", "the provider did not answer with an event stream", response.status);
  }
  return response.body;
}
