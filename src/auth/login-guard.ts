import type { LoginDecision } from "../platform/administration.ts";
/** What is remembered of one address's failed attempts. Times are milliseconds since the epoch. */
export interface LoginFailures {
  readonly count: number;
  readonly lastAt: number;
  readonly blockedUntil: number;
}

/** So many attempts in a row cost nothing. */
const FREE_ATTEMPTS = 10;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
/** An address that has been quiet for this long starts anew. */
export const FORGET_MS = 900_000;

/**
 * Slows down guessing: after ten failed attempts an address has to pause, twice as long each time, up to five
 * minutes. An attempt counts as failed until it is known to have succeeded, so that guesses made all at once do not slip
 * through. A success, or a quarter of an hour of silence, clears the count.
 */
export class LoginGuard {
  #failures: LoginFailures | null;

  constructor(failures: LoginFailures | null = null) {
    this.#failures = failures;
  }

  /** What is to be remembered; null: nothing. */
  get failures(): LoginFailures | null {
    return this.#failures;
  }

  /** Asks for an attempt at `now`, milliseconds since the epoch. */
  attempt(now: number): LoginDecision {
    const before = this.#failures;
    const known = before !== null && Math.abs(now - before.lastAt) < FORGET_MS ? before : null;
    if (known !== null && known.blockedUntil > now) {
      return { allowed: false, waitSeconds: Math.ceil((known.blockedUntil - now) / 1000) };
    }
    const count = (known?.count ?? 0) + 1;
    const over = count - FREE_ATTEMPTS;
    const pause = over < 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** over, LONGEST_PAUSE_MS);
    this.#failures = { count, lastAt: now, blockedUntil: now + pause };
    return { allowed: true };
  }

  /** The attempt succeeded. */
  succeeded(): void {
    this.#failures = null;
  }
}
