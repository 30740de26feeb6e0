import { GatewayError } from "../errors/gateway-error.ts";
import { drain } from "../http/drain.ts";
import { brokenOff, tooLarge } from "../http/json-text.ts";
import type { Rest } from "./refused-body.ts";

/** Bounds of an upload. */
export interface BodyLimits {
  /** Bytes of the whole body. */
  readonly bytes: number;
  /** How long the client may send nothing, in milliseconds. */
  readonly idleMs: number;
}

/** The body of an upload, read as it comes in: one that is too long, or whose client has stopped sending, is refused. */
export class IncomingBody implements Rest {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #limits: BodyLimits;
  #size = 0;
  #over = false;
  /** The read that is under way. Not every runtime lets a body be read twice at once. */
  #reading: Promise<unknown> = Promise.resolve();

  /** @throws GatewayError 413 for a declared length beyond the limit. */
  constructor(request: Request, limits: BodyLimits) {
    if (Number(request.headers.get("content-length") ?? 0) > limits.bytes) throw tooLarge(limits.bytes);
    this.#limits = limits;
    this.#reader = request.body?.getReader();
  }

  /** What comes next; null at the end. Rejects with a `GatewayError` 408 or 413. */
  async read(): Promise<Uint8Array | null> {
    if (this.#over) throw new TypeError("the body has been given up");
    if (this.#reader === undefined) return null;
    const reading = this.#reader.read().catch((error: unknown) => {
      throw brokenOff(error);
    });
    this.#reading = reading;
    const { done, value } = await this.#inTime(reading);
    if (done) return null;
    this.#size += value.byteLength;
    if (this.#size > this.#limits.bytes) throw tooLarge(this.#limits.bytes);
    return value;
  }

  async drain(): Promise<void> {
    this.#over = true;
    await this.#reading.catch(() => undefined);
    if (this.#reader !== undefined) await drain(this.#reader);
  }

  async cancel(): Promise<void> {
    this.#over = true;
    await this.#reader?.cancel();
  }

  async #inTime<T>(reading: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new GatewayError(408, "the client stopped sending the file", { code: "invalid_request" }));
      }, this.#limits.idleMs);
    });
    try {
      return await Promise.race([reading, silence]);
    } finally {
      clearTimeout(timer);
    }
  }
}
