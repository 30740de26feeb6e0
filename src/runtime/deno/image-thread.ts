import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { ImageConversion } from "../../core/ports/pages.ts";

/** A picture that the thread is to convert. */
export interface ConversionRequest {
  readonly id: number;
  readonly input: Parameters<ImageConversion["convert"]>;
}

/** What became of it. */
export type ConversionReply =
  | { readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly error: string };

/** The program that `npx polygate` runs has JavaScript in place of the sources. */
const WORKER_FILE = import.meta.url.endsWith(".ts") ? "./image-worker.ts" : "./image-worker.js";

/**
 * How long one picture may compute, the start of the thread included.
 * The slowest pictures that are allowed take seconds.
 */
const DEADLINE_MS = 60_000;

/** A picture that waits or is being converted. */
interface Conversion extends PromiseWithResolvers<Uint8Array<ArrayBuffer>> {
  readonly request: ConversionRequest;
}

/**
 * Converts pictures in a thread of its own, one after another. The thread starts with the first picture. One that fails as a
 * whole, or takes too long for a picture, is replaced: only the picture that it was converting fails.
 */
export class ImageThread implements ImageConversion {
  readonly #workerFile: URL;
  readonly #deadlineMs: number;
  #worker: Worker | null = null;
  #lastId = 0;
  readonly #waiting: Conversion[] = [];
  #current: Conversion | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(workerFile = new URL(WORKER_FILE, import.meta.url), deadlineMs = DEADLINE_MS) {
    this.#workerFile = workerFile;
    this.#deadlineMs = deadlineMs;
  }

  convert(...input: ConversionRequest["input"]): Promise<Uint8Array<ArrayBuffer>> {
    this.#lastId += 1;
    const conversion = {
      ...Promise.withResolvers<Uint8Array<ArrayBuffer>>(),
      request: { id: this.#lastId, input },
    };
    this.#waiting.push(conversion);
    this.#startNext();
    return conversion.promise;
  }

  #startNext(): void {
    if (this.#current !== null) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#current = next;
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(next.request);
    } catch (error) {
      this.#replace(error instanceof Error ? error : new Error("the thread for pictures cannot start"));
      return;
    }
    this.#timer = setTimeout(() => this.#replace(createDeadlineError(this.#deadlineMs)), this.#deadlineMs);
  }

  #start(): Worker {
    const worker = new Worker(this.#workerFile, { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<ConversionReply>) => {
      // A thread that was replaced may still have answered.
      if (data.id !== this.#current?.request.id) return;
      this.#settle(({ resolve, reject }) =>
        "bytes" in data ? resolve(data.bytes) : reject(new Error(data.error)),
      );
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (worker === this.#worker)
        this.#replace(new Error(`the thread for pictures has failed: ${event.message}`));
    });
    return worker;
  }

  /** Ends the thread. The present picture fails, and the next one gets another thread. */
  #replace(error: Error): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#settle(({ reject }) => reject(error));
  }

  #settle(end: (conversion: Conversion) => void): void {
    clearTimeout(this.#timer);
    const ended = this.#current;
    this.#current = null;
    if (ended !== null) end(ended);
    this.#startNext();
  }
}

function createDeadlineError(deadlineMs: number): GatewayError {
  const message = `The picture took longer than ${deadlineMs / 1_000} seconds to encode: ask for a smaller one, or for another format.`;
  return new GatewayError(504, message, { code: "page_timeout", param: "format" });
}
