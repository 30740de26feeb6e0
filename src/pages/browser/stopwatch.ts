import type { Spent, Step } from "../../platform/page-browser.ts";

/** Measures the steps of one request. */
export class Stopwatch {
  readonly #now: () => number;
  readonly #spent = new Map<Step, number>();
  #since: number;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#since = now();
  }

  /** Adds the time since the last lap to this step. */
  lap(step: Step): void {
    const now = this.#now();
    this.#spent.set(step, (this.#spent.get(step) ?? 0) + now - this.#since);
    this.#since = now;
  }

  /** All steps so far, in the order of their first lap. */
  get spent(): Spent {
    return [...this.#spent].map(([step, ms]) => ({ step, ms }));
  }
}
