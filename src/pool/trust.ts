/** An account that has never worked may cost so many requests before that is known. */
const UNKNOWN = 3;

/** When nothing has come of what an account was tried with for so long, one more may try it. Milliseconds. */
const TRIAL_MS = 10_000;

/**
 * How many requests an account may have at once, besides the limit that the configuration sets, while others are healthy: all it
 * likes once it works, one after it has failed, a few when it has never been used. A sick account so costs few attempts,
 * however many slots it has. Of those that wait meanwhile each learns at the first success that there is room.
 */
export class Trust {
  #allowance = UNKNOWN;
  /** Requests that have it, and got it since it failed last. */
  #trials = 0;
  #triedAt = 0;
  /** Names the time since it failed last: of what began earlier nothing is to be learnt. */
  #period = 1;

  /** Whether it has worked since it failed last. */
  get earned(): boolean {
    return this.#allowance === Number.POSITIVE_INFINITY;
  }

  /** Whether one more request may have it. */
  get open(): boolean {
    return this.#trials < this.#allowance;
  }

  /** When one more may try it, Unix milliseconds. */
  get nextTrial(): number {
    return this.#triedAt + TRIAL_MS;
  }

  /** A request has got it. Returns what `ended` is to be told. */
  tried(now: number): number {
    this.#trials += 1;
    this.#triedAt = now;
    return this.#period;
  }

  /** A request has given it back that got it in that period. */
  ended(period: number): void {
    if (period === this.#period) this.#trials -= 1;
  }

  /** Nothing has come of the trials so far. */
  allowAnother(now: number): void {
    this.#allowance += 1;
    this.#triedAt = now;
  }

  /** The clock was set. */
  clockSet(byMs: number): void {
    this.#triedAt += byMs;
  }

  /** It works. True when that is news. */
  earn(): boolean {
    if (this.earned) return false;
    this.#allowance = Number.POSITIVE_INFINITY;
    return true;
  }

  /** It has failed. */
  lose(): void {
    this.#begin(1);
  }

  /** It is another one now: nothing is known of it. */
  reset(): void {
    this.#begin(UNKNOWN);
  }

  #begin(allowance: number): void {
    this.#allowance = allowance;
    this.#trials = 0;
    this.#period += 1;
  }
}
