import { byteChannel } from "../http/byte-channel.ts";
import type { Context } from "../platform/context.ts";

/** Answers of up to so many bytes go out as they are: the network takes them at once. */
const LITTLE_BYTES = 64 * 1024;

/** A larger answer goes out in pieces. The client has the idle time-out for each: at 60 s that is 273 bytes a second. */
const PIECE_BYTES = 16 * 1024;

/** The most that an answer counts with: the largest picture of a page has to fit into what strangers have on Workers. */
const MAX_COUNTED_BYTES = 16 * 1024 * 1024;

/** The HTTP status of an answer that names none. */
const OK = 200;

/** What an answer needs of its request. */
export type Answering = Pick<Context, "hold" | "log" | "record" | "request" | "waitUntil"> & {
  readonly platform: { readonly variables: Pick<Context["platform"]["variables"], "idleTimeoutMs"> };
};

/**
 * A whole answer that counts in the memory budget until the client has read it, or for as long as the client reads at all.
 * The runtime would keep every answer that nobody reads.
 *
 * @throws GatewayError 413 and 503 for want of memory.
 */
export async function heldAnswer(
  context: Answering,
  body: string | Uint8Array<ArrayBuffer>,
  init: ResponseInit,
): Promise<Response> {
  if (body.length <= LITTLE_BYTES || context.request.method === "HEAD") return new Response(body, init);
  const { hold, log, platform } = context;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const counted = Math.min(bytes.byteLength, MAX_COUNTED_BYTES);
  // Answers that wait for memory would take it themselves.
  hold.demand(counted);
  context.record(init.status ?? OK);
  const { readable, writable } = byteChannel();
  const sent = sendPieces(bytes, writable.getWriter(), platform.variables.idleTimeoutMs);
  log.streaming = sent;
  context.waitUntil(sent);
  return new Response(readable, init);
}

/** The same of a JSON value. */
export function heldJson(context: Answering, value: unknown): Promise<Response> {
  return heldAnswer(context, JSON.stringify(value), { headers: { "content-type": "application/json" } });
}

/** Never rejects: a client that has left, or reads nothing for so many milliseconds, gets nothing more. */
async function sendPieces(
  bytes: Uint8Array,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  idleMs: number,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const idle = Promise.withResolvers<never>();
  const restart = () => {
    clearTimeout(timer);
    timer = setTimeout(() => idle.reject(new Error("the client reads nothing")), idleMs);
  };
  try {
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
      restart();
      // A copy: a piece that nobody takes would keep the whole answer in memory.
      await Promise.race([writer.write(bytes.slice(at, at + PIECE_BYTES)), idle.promise]);
    }
    await Promise.race([writer.close(), idle.promise]);
  } catch (reason) {
    // Resolves only when the reader takes the piece under way.
    writer.abort(reason).catch(() => undefined);
  } finally {
    clearTimeout(timer);
  }
}
