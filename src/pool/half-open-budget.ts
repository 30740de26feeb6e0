/** An account that has never worked may get this many requests before its first result. */
const UNPROVEN_ALLOWANCE = 3;

/** When the running probes have had no result for this long, one more probe is allowed. Milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;

/**
 * Limits the concurrent requests of an account while other accounts are healthy, in addition to the configured limit: no
 * limit once it works, one request after a failure, a few when it was never used (a half-open circuit). So a failing
 * account costs few attempts, however many slots it has. Waiting requests may use it after the first success.
 */
export class HalfOpenBudget {
  #allowance = UNPROVEN_ALLOWANCE;
  /** Requests that currently use the account and were granted since its last failure. */
  #probes = 0;
  #lastProbeAt = 0;
  /** Number of the period since the last failure: results of requests from earlier periods are ignored. */
  #period = 1;

  /** Whether it has worked since its last failure. */
  get isProven(): boolean {
    return this.#allowance === Number.POSITIVE_INFINITY;
  }

  /** Whether one more request may use the account. */
  get hasAllowance(): boolean {
    return this.#probes < this.#allowance;
  }

  /** When one more probe is allowed, Unix milliseconds. */
  get nextProbeAt(): number {
    return this.#lastProbeAt + PROBE_TIMEOUT_MS;
  }

  /** A request was granted a slot. Returns the period to pass to `endProbe`. */
  startProbe(now: number): number {
    this.#probes += 1;
    this.#lastProbeAt = now;
    return this.#period;
  }

  /** A request of that period has released its slot. */
  endProbe(period: number): void {
    if (period === this.#period) this.#probes -= 1;
  }

  /** The probes have had no result so far: allows one more. */
  allowAnotherProbe(now: number): void {
    this.#allowance += 1;
    this.#lastProbeAt = now;
  }

  /** The account works. Returns true when it was not proven before. */
  markProven(): boolean {
    if (this.isProven) return false;
    this.#allowance = Number.POSITIVE_INFINITY;
    return true;
  }

  /** The account has failed. */
  markFailed(): void {
    this.#startPeriod(1);
  }

  /** The account was replaced by another one without history. */
  reset(): void {
    this.#startPeriod(UNPROVEN_ALLOWANCE);
  }

  #startPeriod(allowance: number): void {
    this.#allowance = allowance;
    this.#probes = 0;
    this.#period += 1;
  }
}
