import type { LoginDecision } from "../platform/administration.ts";

/** What is remembered of one address's failed attempts. Times are milliseconds since the epoch. */
export interface LoginFailures {
  readonly count: number;
  readonly lastAt: number;
  readonly blockedUntil: number;
  /** `lastAt` before the latest attempt. */
  readonly previousAt?: number;
}

/** So many attempts in a row cost nothing to an address, and to a network of addresses that one person may have. */
export const FREE_ATTEMPTS = 10;
export const FREE_NETWORK_ATTEMPTS = 100;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
/** An address that has been quiet for this long starts anew. */
export const FORGET_MS = 900_000;

/**
 * Slows down guessing: after ten failed attempts an address has to pause, twice as long each time, up to five
 * minutes. An attempt counts as failed until it is known to have succeeded, so that guesses made all at once do not slip
 * through. A success is forgotten, but not the failures before it, which may be somebody else's at the same address; those
 * a quarter of an hour without failures clears.
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

  /** Asks for an attempt at `now`, milliseconds since the epoch; `free` of them in a row cost nothing. */
  attempt(now: number, free = FREE_ATTEMPTS): LoginDecision {
    const before = this.#failures;
    const known = before !== null && Math.abs(now - before.lastAt) < FORGET_MS ? before : null;
    if (known !== null && known.blockedUntil > now) {
      return { allowed: false, waitSeconds: Math.ceil((known.blockedUntil - now) / 1000) };
    }
    const count = (known?.count ?? 0) + 1;
    const over = count - free;
    const pause = over < 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** over, LONGEST_PAUSE_MS);
    this.#failures = { count, lastAt: now, blockedUntil: now + pause, previousAt: known?.lastAt ?? now };
    return { allowed: true };
  }

  /** The latest attempt succeeded: it was no failure. */
  succeeded(): void {
    const known = this.#failures;
    if (known === null) return;
    const count = known.count - 1;
    const lastAt = known.previousAt ?? known.lastAt;
    this.#failures = count <= 0 ? null : { count, lastAt, blockedUntil: 0 };
  }
}
