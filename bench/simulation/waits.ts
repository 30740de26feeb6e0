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

const waitsOf = (values: readonly number[]): Waits => {
  const sorted = Float64Array.from(values).sort();
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    longest: sorted.at(-1) ?? Number.NaN,
  };
};

/** Omniscient record of the events: who really uses which account at which time. */
export class Books {
  readonly #perAccount: number;
  readonly #global: number;
  readonly #waits: number[][] = REGIONS.map(() => []);
  readonly #using = new Map<string, number>();
  #inUse = 0;
  requests = 0;
  done = 0;
  /** Requests whose slot was revoked. */
  aborted = 0;
  readonly refusals: Record<string, number> = {};
  /** Number of times a request started to use an account that had no free slot. */
  doubleGrants = 0;
  /** Number of times a request started to use an account although the global limit was reached. */
  overLimit = 0;
  mostInUse = 0;

  constructor(perAccount: number, global: number) {
    this.#perAccount = perAccount;
    this.#global = global;
  }

  arrived(): void {
    this.requests += 1;
  }

  granted(region: number, ms: number): void {
    this.#waits[region]?.push(ms);
  }

  refused(why: string): void {
    this.refusals[why] = (this.refusals[why] ?? 0) + 1;
  }

  begins(account: string): void {
    const using = (this.#using.get(account) ?? 0) + 1;
    this.#using.set(account, using);
    this.#inUse += 1;
    this.mostInUse = Math.max(this.mostInUse, this.#inUse);
    if (using > this.#perAccount) this.doubleGrants += 1;
    if (this.#inUse > this.#global) this.overLimit += 1;
  }

  ends(account: string): void {
    this.#using.set(account, (this.#using.get(account) ?? 1) - 1);
    this.#inUse -= 1;
  }

  finished(held: boolean): void {
    if (held) this.done += 1;
    else this.aborted += 1;
  }

  waits(): Waits {
    return waitsOf(this.#waits.flat());
  }

  waitsByRegion(): Waits[] {
    return this.#waits.map(waitsOf);
  }
}
