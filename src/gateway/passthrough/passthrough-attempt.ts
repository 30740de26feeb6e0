import { ProviderError } from "../../core/errors/provider-error.ts";
import { clientStoppedReading } from "../../core/http/client-disconnect.ts";
import type { Context } from "../../core/ports/context.ts";
import { StallDetector, type StallLimits } from "../generation/stall-detector.ts";
import type { UploadObserver } from "./passthrough-call.ts";

/** One attempt to get an answer from a provider: its time limits, and the signal that ends it. */
export class PassthroughAttempt {
  readonly stallDetector: StallDetector;
  readonly signal: AbortSignal;
  /** The provider's time does not pass while it waits for the caller's body. */
  readonly uploadObserver: UploadObserver;
  #hasEnded = false;

  constructor({ platform }: Context, request: AbortController, limits: StallLimits) {
    const controller = new AbortController();
    this.signal = AbortSignal.any([request.signal, controller.signal]);
    this.stallDetector = new StallDetector(
      limits,
      () => platform.now(),
      (reason) => {
        if (reason === "stalled-reader") {
          request.abort(clientStoppedReading());
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
