import { ProviderError } from "../errors/provider-error.ts";

/**
 * Bounds how long a provider may do nothing for a request. What runs out is this one attempt's time: the request itself is
 * not aborted, so that another account may still be asked.
 */
export class Patience {
  /** Aborted when the request is, or with a `ProviderError` when the provider has done nothing for too long. */
  readonly signal: AbortSignal;
  readonly #ms: number;
  readonly #late = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `ms` is how long the provider may do nothing; `request` ends the whole request. The clock stands until `renew`. */
  constructor(ms: number, request: AbortSignal) {
    this.#ms = ms;
    this.signal = AbortSignal.any([request, this.#late.signal]);
  }

  /** Something happened, or is asked for now. */
  renew(): void {
    this.end();
    this.#timer = setTimeout(() => {
      this.#late.abort(new ProviderError("timeout", "the provider did not answer in time"));
    }, this.#ms);
  }

  /** Nothing is waited for. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
