/** Reports that work was aborted: an `AbortSignal` or a lighter equivalent. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  /** Calls `listener` at most once. */
  addEventListener(type: "abort", listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * An abort controller and its signal in one object, for listeners within the program. It creates a native controller, which
 * is expensive on Workers, only when `signal` is read. For a whole answer the difference is within the noise
 * (bench/results/answers.md).
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

  /** A native signal, for APIs that require one. It aborts with the same reason. */
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

  /** Aborts; only the first call has an effect. Never throws. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (let next = this.#listeners.shift(); next !== undefined; next = this.#listeners.shift()) {
      try {
        next();
      } catch (error) {
        // As with a native signal, the runtime reports a listener's error, and the other listeners still run.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    this.#native?.abort(reason);
  }

  /** Calls `listener` once on abort; never if already aborted. */
  addEventListener(_: "abort", listener: () => void): void {
    if (!this.#aborted) this.#listeners.push(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }
}
