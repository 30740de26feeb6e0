import { GatewayError } from "../../core/errors/gateway-error.ts";
import { TIMEOUT_HEADER } from "../../core/routing/control-headers.ts";

/** Aborts a request that takes longer than its caller allows. */
export class RequestDeadline {
  readonly #timer: ReturnType<typeof setTimeout>;

  /** Starts the clock. */
  constructor(abort: AbortController, ms: number) {
    this.#timer = setTimeout(() => {
      const message = `the answer took longer than the ${ms} ms of ${TIMEOUT_HEADER}`;
      abort.abort(new GatewayError(504, message, { code: "request_timeout" }));
    }, ms);
  }

  /** Stops the clock: the answer is there, or has begun. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
