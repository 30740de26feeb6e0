import { GatewayError } from "../../core/errors/gateway-error.ts";
import { drain } from "../../core/http/drain.ts";
import { bodyIncomplete, bodyTooLarge } from "../../core/http/json-text.ts";
import { withDeadline } from "../../core/ports/clock.ts";
import type { UnreadBody } from "./unread-body.ts";

/** How many bytes of a watched body are read ahead. */
const READ_AHEAD_BYTES = 64 * 1024;

/** Limits of an upload. */
export interface BodyLimits {
  /** Bytes of the whole body. */
  readonly bytes: number;
  /** Maximum time without data from the client, in milliseconds. */
  readonly idleMs: number;
}

/** The streamed body of an upload. Rejects a body that is too long, and a client that stops sending. */
export class IncomingBody implements UnreadBody {
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #limits: BodyLimits;
  #size = 0;
  #isAbandoned = false;
  /** The current read. Some runtimes do not allow two reads of a body at once. */
  #reading: Promise<unknown> = Promise.resolve();

  /** @throws GatewayError 413 for a declared length above the limit. */
  constructor(request: Request, limits: BodyLimits) {
    if (Number(request.headers.get("content-length") ?? 0) > limits.bytes) throw bodyTooLarge(limits.bytes);
    this.#limits = limits;
    this.#reader = request.body?.getReader();
  }

  /**
   * Returns the next bytes, or null at the end.
   *
   * @throws GatewayError 408 if the client stops sending, 413 if the body is too long.
   */
  async read(): Promise<Uint8Array | null> {
    if (this.#isAbandoned) throw new TypeError("the body has been given up");
    if (this.#reader === undefined) return null;
    const read = this.#reader.read().catch((error: unknown) => {
      throw bodyIncomplete(error);
    });
    this.#reading = read;
    const { done, value } = await this.#withIdleTimeout(read);
    if (done) return null;
    this.#size += value.byteLength;
    if (this.#size > this.#limits.bytes) throw bodyTooLarge(this.#limits.bytes);
    return value;
  }

  /**
   * Calls `onBroken` when the body breaks off. Reads ahead, because only a pending read reports that a client has left (on
   * workerd a reset is reported without one). Call it while no read is pending.
   */
  watch(onBroken: (error: unknown) => void): void {
    if (this.#reader === undefined) return;
    this.#reader = readAhead(this.#reader).getReader();
    this.#reader.closed.catch((error: unknown) => onBroken(bodyIncomplete(error)));
  }

  async drain(): Promise<void> {
    this.#isAbandoned = true;
    await this.#reading.catch(() => undefined);
    if (this.#reader !== undefined) await drain(this.#reader);
  }

  async cancel(): Promise<void> {
    this.#isAbandoned = true;
    await this.#reader?.cancel();
  }

  #withIdleTimeout<T>(read: Promise<T>): Promise<T> {
    return withDeadline(
      read,
      this.#limits.idleMs,
      () => new GatewayError(408, "the client stopped sending the file", { code: "invalid_request" }),
    );
  }
}

function readAhead(reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: READ_AHEAD_BYTES }),
  );
}
