import { REGIONS } from "./regions.ts";

const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;

/** Waiting times for a lease, in milliseconds. */
export interface Waits {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

const summarizeWaits = (values: readonly number[]): Waits => {
  const sorted = Float64Array.from(values).sort();
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    longest: sorted.at(-1) ?? Number.NaN,
  };
};

/** How the requests of a run ended, and how long they waited for their leases. */
export class Outcomes {
  readonly #waits: number[][] = REGIONS.map(() => []);
  requests = 0;
  done = 0;
  /** Requests whose slot was revoked. */
  aborted = 0;
  readonly refusals: Record<string, number> = {};

  granted(region: number, ms: number): void {
    this.#waits[region]?.push(ms);
  }

  refused(reason: string): void {
    this.refusals[reason] = (this.refusals[reason] ?? 0) + 1;
  }

  finished(isHeld: boolean): void {
    if (isHeld) this.done += 1;
    else this.aborted += 1;
  }

  waits(): Waits {
    return summarizeWaits(this.#waits.flat());
  }

  waitsByRegion(): Waits[] {
    return this.#waits.map(summarizeWaits);
  }
}
