import { ProviderError } from "../../core/errors/provider-error.ts";

/**
 * Limits how long a provider may make no progress on one attempt. It ends only the attempt, not the request, so that
 * another account can still be tried.
 */
export class AttemptTimeout {
  readonly #ms: number;
  readonly #request: AbortSignal;
  #timeoutController = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * `ms` is the longest time without progress, milliseconds; `request` ends the whole request.
   * The timer starts with `restart`.
   */
  constructor(ms: number, request: AbortSignal) {
    this.#ms = ms;
    this.#request = request;
  }

  /** Aborted when the request is aborted, or with a `ProviderError` when the provider has made no progress for too long. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#request, this.#timeoutController.signal]);
  }

  /**
   * Restarts the timer after progress, or before a request to the provider. After a timeout this begins the next attempt.
   */
  restart(): void {
    this.stop();
    if (this.#timeoutController.signal.aborted) this.#timeoutController = new AbortController();
    this.#timer = setTimeout(() => this.expire(), this.#ms);
  }

  /** Ends this attempt now, as if it had timed out. */
  expire(): void {
    this.#timeoutController.abort(new ProviderError("timeout", "the provider did not answer in time"));
  }

  /** Stops the timer. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
