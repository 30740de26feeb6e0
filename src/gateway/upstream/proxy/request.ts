/** A request in the form that is sent. */
export interface EncodedRequest {
  /** The request line and headers, with the empty line at the end. */
  readonly head: Uint8Array;
  /** The body, framed as `head` states. Null: none. */
  readonly body: ReadableStream<Uint8Array> | Uint8Array | null;
  readonly chunked: boolean;
}

/** Headers that belong to the connection. This module removes the caller's values. */
const OURS = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
  "content-length",
];

const encoder = new TextEncoder();

/**
 * Encodes a request as HTTP/1.1 (RFC 9112).
 *
 * @param target the request target: a path, or the whole URL for a forwarding proxy
 * @param extraHeaders headers for the proxy
 */
export function encodeRequest(
  url: URL,
  target: string,
  init: RequestInit,
  extraHeaders: Readonly<Record<string, string>>,
): EncodedRequest {
  const method = (init.method ?? "GET").toUpperCase();
  const headers = new Headers(init.headers);
  for (const name of OURS) headers.delete(name);
  const { body, type } = toWireBody(init.body ?? null);
  if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
  // A connection carries one exchange, and compression would delay streams.
  headers.set("connection", "close");
  headers.set("accept-encoding", "identity");
  headers.set("host", url.host);
  if (!headers.has("accept")) headers.set("accept", "*/*");
  for (const [name, value] of Object.entries(extraHeaders)) headers.set(name, value);
  const chunked = body instanceof ReadableStream;
  if (chunked) headers.set("transfer-encoding", "chunked");
  else if (body !== null) headers.set("content-length", String(body.length));
  else if (method !== "GET" && method !== "HEAD") headers.set("content-length", "0");
  let head = `${method} ${target} HTTP/1.1\r\n`;
  headers.forEach((value, name) => {
    head += `${name}: ${value}\r\n`;
  });
  return { head: encodeLatin1(`${head}\r\n`), body, chunked };
}

/** Encodes text as Latin-1: `Headers` stores each byte of a value as one character. */
function encodeLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function toWireBody(body: BodyInit | null): {
  body: ReadableStream<Uint8Array> | Uint8Array | null;
  type: string | null;
} {
  if (body === null) return { body: null, type: null };
  if (typeof body === "string") return { body: encoder.encode(body), type: "text/plain;charset=UTF-8" };
  if (body instanceof Uint8Array) return { body, type: null };
  if (body instanceof ReadableStream) return { body, type: null };
  const wrapped = new Response(body);
  return { body: wrapped.body, type: wrapped.headers.get("content-type") };
}

/** Writes a request to a connection. Rejects if it cannot write the whole request. */
export async function sendRequest(
  writable: WritableStream<Uint8Array>,
  request: EncodedRequest,
): Promise<void> {
  const writer = writable.getWriter();
  try {
    await writer.write(request.head);
    const { body } = request;
    if (body instanceof ReadableStream) await sendChunks(writer, body);
    else if (body !== null && body.length > 0) await writer.write(body);
  } finally {
    writer.releaseLock();
  }
}

async function sendChunks(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.length === 0) continue;
      await writer.write(encoder.encode(`${value.length.toString(16)}\r\n`));
      await writer.write(value);
      await writer.write(encoder.encode("\r\n"));
    }
    await writer.write(encoder.encode("0\r\n\r\n"));
  } catch (error) {
    // If the connection is gone as well, cancel the source of the body so that it stops producing.
    await reader.cancel(error).catch(() => undefined);
    throw error;
  }
}
