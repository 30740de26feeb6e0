import type { LoadStep, StepTimings } from "../../core/ports/page-browser.ts";

/** Measures the steps of one request. */
export class Stopwatch {
  readonly #now: () => number;
  readonly #timings = new Map<LoadStep, number>();
  #since: number;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#since = now();
  }

  /** Adds the time since the last lap to this step. */
  lap(step: LoadStep): void {
    const now = this.#now();
    this.#timings.set(step, (this.#timings.get(step) ?? 0) + now - this.#since);
    this.#since = now;
  }

  /** All steps so far, in the order of their first lap. */
  get timings(): StepTimings {
    return [...this.#timings].map(([step, ms]) => ({ step, ms }));
  }
}
