import { ProviderError } from "../../errors/provider-error.ts";

/** Aborts the work of a request whose provider has done nothing for too long. */
export class Patience {
  readonly #ms: number;
  readonly #abort: AbortController;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `ms` is how long the provider may do nothing. The clock stands until `renew`. */
  constructor(ms: number, abort: AbortController) {
    this.#ms = ms;
    this.#abort = abort;
  }

  /** Something happened, or is asked for now. */
  renew(): void {
    this.end();
    this.#timer = setTimeout(() => {
      this.#abort.abort(new ProviderError("timeout", "the provider did not answer in time"));
    }, this.#ms);
  }

  /** Nothing is waited for. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
