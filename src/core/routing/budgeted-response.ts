import { byteChannel } from "../http/byte-channel.ts";
import type { Context } from "../ports/context.ts";

/** Responses up to this size are sent directly: the network takes them at once. */
const DIRECT_BYTES = 64 * 1024;

/** Chunk size of larger responses. The client has the idle timeout for each chunk: at 60 s that is 273 bytes per second. */
const CHUNK_BYTES = 16 * 1024;

/**
 * The most bytes that a response reserves. The largest screenshot must fit into the part of the budget for
 * unknown callers on Workers.
 */
const MAX_COUNTED_BYTES = 16 * 1024 * 1024;

/** The HTTP status of a response that sets none. */
const OK = 200;

/** The parts of a request's context that a response needs. */
export type ResponseContext = Pick<
  Context,
  "memory" | "keepUntil" | "recordOutcome" | "request" | "waitUntil"
> & {
  readonly platform: { readonly variables: Pick<Context["platform"]["variables"], "idleTimeoutMs"> };
};

/**
 * Sends a complete response that stays reserved in the memory budget until the client has read it or has stopped reading.
 * Otherwise the runtime would buffer every unread response.
 *
 * @throws GatewayError 413 and 503 if the memory budget is exhausted.
 */
export async function respondWithinBudget(
  context: ResponseContext,
  body: string | Uint8Array<ArrayBuffer>,
  init: ResponseInit,
): Promise<Response> {
  if (body.length <= DIRECT_BYTES || context.request.method === "HEAD") return new Response(body, init);
  const { memory, platform } = context;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const counted = Math.min(bytes.byteLength, MAX_COUNTED_BYTES);
  // Does not wait: waiting responses would themselves occupy memory.
  memory.reserveNow(counted);
  context.recordOutcome(init.status ?? OK);
  const { readable, writable } = byteChannel();
  const sent = sendChunks(bytes, writable.getWriter(), platform.variables.idleTimeoutMs);
  context.keepUntil(sent);
  context.waitUntil(sent);
  return new Response(readable, init);
}

/** The same for a JSON value. */
export function respondJsonWithinBudget(context: ResponseContext, value: unknown): Promise<Response> {
  return respondWithinBudget(context, JSON.stringify(value), {
    headers: { "content-type": "application/json" },
  });
}

/** Never rejects. Stops if the client disconnects, or reads nothing for `idleMs` milliseconds. */
async function sendChunks(
  bytes: Uint8Array,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  idleMs: number,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const idleTimeout = Promise.withResolvers<never>();
  const restartTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => idleTimeout.reject(new Error("the client reads nothing")), idleMs);
  };
  try {
    for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) {
      restartTimer();
      // A copy: an unread subarray would keep the whole response in memory.
      await Promise.race([writer.write(bytes.slice(at, at + CHUNK_BYTES)), idleTimeout.promise]);
    }
    await Promise.race([writer.close(), idleTimeout.promise]);
  } catch (reason) {
    // `abort` resolves only when the reader takes the pending chunk, so do not await it.
    writer.abort(reason).catch(() => undefined);
  } finally {
    clearTimeout(timer);
  }
}
