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
 * Converts pictures in a thread of its own, one after another. The thread starts with the first picture; one that fails as
 * a whole is replaced at the next one.
 */
export class ImageThread implements ImageConversion {
  #worker: Worker | null = null;
  #lastId = 0;
  readonly #waiting = new Map<number, PromiseWithResolvers<Uint8Array<ArrayBuffer>>>();

  convert(...input: ConversionRequest["input"]): Promise<Uint8Array<ArrayBuffer>> {
    this.#lastId += 1;
    const request: ConversionRequest = { id: this.#lastId, input };
    const waiting = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    this.#worker ??= this.#start();
    this.#worker.postMessage(request);
    this.#waiting.set(request.id, waiting);
    return waiting.promise;
  }

  #start(): Worker {
    const worker = new Worker(new URL(WORKER_FILE, import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<ConversionReply>) => this.#settle(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      worker.terminate();
      this.#worker = null;
      for (const id of [...this.#waiting.keys()])
        this.#settle({ id, error: `the thread for pictures has failed: ${event.message}` });
    });
    return worker;
  }

  #settle(reply: ConversionReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("bytes" in reply) waiting?.resolve(reply.bytes);
    else waiting?.reject(new Error(reply.error));
  }
}
