/** An account that has never worked may get this many requests before its first result. */
const UNKNOWN = 3;

/** When the running probes have had no result for this long, one more probe is allowed. Milliseconds. */
const TRIAL_MS = 10_000;

/**
 * Limits the concurrent requests of an account while other accounts are healthy, in addition to the configured limit: no
 * limit once it works, one request after a failure, a few when it was never used (a half-open circuit). So a failing
 * account costs few attempts, however many slots it has. Waiting requests may use it after the first success.
 */
export class Trust {
  #allowance = UNKNOWN;
  /** Requests that currently use the account and were granted since its last failure. */
  #trials = 0;
  #triedAt = 0;
  /** Number of the period since the last failure: results of requests from earlier periods are ignored. */
  #period = 1;

  /** Whether it has worked since its last failure. */
  get earned(): boolean {
    return this.#allowance === Number.POSITIVE_INFINITY;
  }

  /** Whether one more request may use the account. */
  get open(): boolean {
    return this.#trials < this.#allowance;
  }

  /** When one more probe is allowed, Unix milliseconds. */
  get nextTrial(): number {
    return this.#triedAt + TRIAL_MS;
  }

  /** A request was granted a slot. Returns the period to pass to `endProbe`. */
  tried(now: number): number {
    this.#trials += 1;
    this.#triedAt = now;
    return this.#period;
  }

  /** A request of that period has released its slot. */
  ended(period: number): void {
    if (period === this.#period) this.#trials -= 1;
  }

  /** The probes have had no result so far: allows one more. */
  allowAnother(now: number): void {
    this.#allowance += 1;
    this.#triedAt = now;
  }

  /** Shifts the times after the clock was set. */
  clockSet(byMs: number): void {
    this.#triedAt += byMs;
  }

  /** The account works. Returns true when it was not proven before. */
  earn(): boolean {
    if (this.earned) return false;
    this.#allowance = Number.POSITIVE_INFINITY;
    return true;
  }

  /** The account has failed. */
  lose(): void {
    this.#begin(1);
  }

  /** The account was replaced by another one without history. */
  reset(): void {
    this.#begin(UNKNOWN);
  }

  #begin(allowance: number): void {
    this.#allowance = allowance;
    this.#trials = 0;
    this.#period += 1;
  }
}
