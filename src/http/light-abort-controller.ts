/** Tells that some work has been ended: an `AbortSignal`, or something lighter. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  /** `listener` is called once at most. */
  addEventListener(type: "abort", listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Ends a request's work, as an `AbortController` does, and tells of it as its signal does. Most of the work listens within the program:
 * a native controller, which is dear on Workers, is made for those alone who ask for the `signal`.
 */
export class LightAbortController implements AbortSignalLike {
  readonly #listeners: (() => void)[] = [];
  #aborted = false;
  #reason: unknown;
  #native: AbortController | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  /** Why it was aborted; undefined before. */
  get reason(): unknown {
    return this.#reason;
  }

  /** For who needs a native one. It is aborted with the same reason. */
  get signal(): AbortSignal {
    if (this.#native === undefined) {
      this.#native = new AbortController();
      if (this.#aborted) this.#native.abort(this.#reason);
    }
    return this.#native.signal;
  }

  /** Throws the reason if it was aborted. */
  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  /** Ends the work; only the first call counts. Never throws. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (let next = this.#listeners.shift(); next !== undefined; next = this.#listeners.shift()) {
      try {
        next();
      } catch (error) {
        // As with a native signal: it is the runtime's to tell, and the others are told all the same.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    this.#native?.abort(reason);
  }

  /** Calls `listener` once, when the work is ended; never, if that was before. */
  addEventListener(_: "abort", listener: () => void): void {
    if (!this.#aborted) this.#listeners.push(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }
}
