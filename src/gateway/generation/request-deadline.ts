import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { LightAbortController } from "../../core/http/light-abort-controller.ts";
import type { RequestTimers } from "../../core/http/request-timers.ts";
import { TIMEOUT_HEADER } from "../../core/routing/control-headers.ts";

/** Aborts a request that takes longer than its caller allows. */
export class RequestDeadline {
  readonly #cancel: () => void;
  #error: GatewayError | null = null;

  /** Starts the clock. */
  constructor(timers: RequestTimers, abort: LightAbortController, ms: number) {
    this.#cancel = timers.runAfter(ms, () => {
      const message = `the answer took longer than the ${ms} ms of ${TIMEOUT_HEADER}`;
      this.#error = new GatewayError(504, message, { code: "request_timeout" });
      abort.abort(this.#error);
    });
  }

  /** Stops the clock: the answer is there, or has begun. */
  end(): void {
    this.#cancel();
  }

  /** Returns the error for the caller: that of the deadline if it is over. */
  explain(thrown: unknown): unknown {
    return this.#error ?? thrown;
  }
}
