import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import { byteChannel } from "../../core/http/byte-channel.ts";
import { clientDisconnected } from "../../core/http/client-disconnect.ts";
import type { LightAbortController } from "../../core/http/light-abort-controller.ts";
import type { Context } from "../../core/ports/context.ts";
import { StallDetector, type StallLimits } from "../generation/stall-detector.ts";
import type { UploadObserver } from "./passthrough-call.ts";

/** Largest single write, in bytes: small writes show the progress of a slow reader. */
const PIECE_BYTES = 16 * 1024;

/** One attempt to get an answer from a provider: its time limits, and the signal that ends it. */
export class Attempt {
  readonly stallDetector: StallDetector;
  readonly signal: AbortSignal;
  /** The provider's time does not pass while it waits for the caller's body. */
  readonly uploadObserver: UploadObserver;
  #hasEnded = false;

  constructor({ platform, timers }: Context, request: LightAbortController, limits: StallLimits) {
    const controller = new AbortController();
    this.signal = AbortSignal.any([request.signal, controller.signal]);
    this.stallDetector = new StallDetector(
      limits,
      () => platform.now(),
      timers,
      (reason) => {
        if (reason === "stalled-reader") {
          request.abort(new GatewayError(499, "the client stopped reading", { code: "request_cancelled" }));
        } else {
          controller.abort(new ProviderError("timeout", "the provider did not answer in time"));
        }
      },
    );
    this.uploadObserver = {
      onWaitForCaller: () => this.stallDetector.stop(),
      onReceived: () => this.#startClock(),
      onFailed: (error) => {
        if (!this.#hasEnded) request.abort(error);
      },
    };
    this.#startClock();
  }

  /** Ends the attempt: its time limits no longer count. */
  end(): void {
    this.#hasEnded = true;
    this.stallDetector.stop();
  }

  #startClock(): void {
    if (this.#hasEnded) return;
    this.stallDetector.beginAttempt();
    this.stallDetector.beginTurn();
  }
}

/** The caller's end of an answer: bytes pass through one read at a time. */
export class Relay {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #abort: LightAbortController;
  readonly #aborted: Promise<never>;

  constructor(abort: LightAbortController) {
    const { readable, writable } = byteChannel();
    this.readable = readable;
    this.#writer = writable.getWriter();
    // The result of each write reports the same failure.
    this.#writer.closed.catch(() => undefined);
    this.#abort = abort;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    this.#aborted = promise;
    abort.addEventListener("abort", () => reject(abort.reason));
  }

  /** Writes bytes. A failed write shows that the client has left, and aborts the request. */
  async write(bytes: Uint8Array, stallDetector?: StallDetector): Promise<void> {
    stallDetector?.beginWrite();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      try {
        await Promise.race([this.#writer.write(piece), this.#aborted]);
      } catch {
        this.#abort.abort(clientDisconnected());
        throw this.#abort.reason;
      }
      stallDetector?.recordRead(piece.length);
    }
    stallDetector?.endWrite();
  }

  /** Ends a complete answer. */
  async close(): Promise<void> {
    await this.#writer.close().catch(() => undefined);
  }

  /** Breaks the connection: the caller must not take the answer as complete. */
  async break(reason: unknown): Promise<void> {
    await this.#writer.abort(reason).catch(() => undefined);
  }
}

/**
 * Reads an answer until its end.
 *
 * @throws ProviderError `cut` if the connection broke; the signal's reason if the attempt was aborted
 */
export async function* readBody(
  body: ReadableStream<Uint8Array> | null,
  { signal, stallDetector }: Attempt,
): AsyncGenerator<Uint8Array, void> {
  if (body === null) return;
  const reader = body.getReader();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  const stop = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let isWhole = false;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted.promise]).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new ProviderError("cut", "the provider's answer was cut off", 0, error);
      });
      if (done) break;
      stallDetector.recordData();
      stallDetector.recordContent();
      if (value.length > 0) yield value;
    }
    isWhole = true;
  } finally {
    signal.removeEventListener("abort", stop);
    if (!isWhole) await reader.cancel(signal.reason).catch(() => undefined);
  }
}
