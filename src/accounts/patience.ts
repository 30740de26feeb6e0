import { ProviderError } from "../errors/provider-error.ts";

/**
 * Bounds how long a provider may do nothing for a request. What runs out is this one attempt's time: the request itself is
 * not aborted, so that another account may still be asked.
 */
export class Patience {
  readonly #ms: number;
  readonly #request: AbortSignal;
  #late = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `ms` is how long the provider may do nothing; `request` ends the whole request. The clock stands until `renew`. */
  constructor(ms: number, request: AbortSignal) {
    this.#ms = ms;
    this.#request = request;
  }

  /** Aborted when the request is, or with a `ProviderError` when the provider has done nothing for too long. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#request, this.#late.signal]);
  }

  /** Something happened, or is asked for now. An attempt that had run out of time is over: this is the next one. */
  renew(): void {
    this.end();
    if (this.#late.signal.aborted) this.#late = new AbortController();
    this.#timer = setTimeout(() => this.expire(), this.#ms);
  }

  /** Ends this attempt now, as if the provider had done nothing for too long. */
  expire(): void {
    this.#late.abort(new ProviderError("timeout", "the provider did not answer in time"));
  }

  /** Nothing is waited for. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
