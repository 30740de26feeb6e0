import type { Spent, Step } from "../../platform/page-browser.ts";

/** Tells where the time of one request goes. */
export class Stopwatch {
  readonly #now: () => number;
  readonly #spent = new Map<Step, number>();
  #since: number;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#since = now();
  }

  /** What passed since the last step was over belongs to this one. */
  lap(step: Step): void {
    const now = this.#now();
    this.#spent.set(step, (this.#spent.get(step) ?? 0) + now - this.#since);
    this.#since = now;
  }

  /** All steps so far, in the order in which they were first taken. */
  get spent(): Spent {
    return [...this.#spent].map(([step, ms]) => ({ step, ms }));
  }
}
