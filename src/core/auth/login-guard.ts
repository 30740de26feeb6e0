import type { LoginDecision } from "../ports/administration.ts";

/** Failed attempts of one address. Times are milliseconds since the epoch. */
export interface LoginFailures {
  readonly count: number;
  readonly lastAt: number;
  readonly blockedUntil: number;
  /** `lastAt` before the latest attempt. */
  readonly previousAt?: number;
}

/** Attempts in a row without a pause: for an address, and for a network of addresses that one person may control. */
export const FREE_ATTEMPTS = 10;
export const FREE_NETWORK_ATTEMPTS = 100;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
/** After this time without attempts an address starts with zero failures. */
export const FORGET_MS = 900_000;

/**
 * Slows down guessing: after ten failed attempts an address must pause, twice as long each time, up to five minutes. An
 * attempt counts as failed until it has succeeded, so that parallel guesses are counted too. A success removes only its own
 * attempt: another person at the same address may have caused the earlier failures. They expire after a quarter of an hour
 * without failures.
 */
export class LoginGuard {
  #failures: LoginFailures | null;

  constructor(failures: LoginFailures | null = null) {
    this.#failures = failures;
  }

  /** The state to store; null: nothing. */
  get failures(): LoginFailures | null {
    return this.#failures;
  }

  /** Requests an attempt at `now`, milliseconds since the epoch. The first `free` attempts in a row need no pause. */
  attempt(now: number, free = FREE_ATTEMPTS): LoginDecision {
    const stored = this.#failures;
    const known = stored !== null && Math.abs(now - stored.lastAt) < FORGET_MS ? stored : null;
    if (known !== null && known.blockedUntil > now) {
      return { allowed: false, waitSeconds: Math.ceil((known.blockedUntil - now) / 1000) };
    }
    const count = (known?.count ?? 0) + 1;
    const excess = count - free;
    const pause = excess < 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** excess, LONGEST_PAUSE_MS);
    this.#failures = { count, lastAt: now, blockedUntil: now + pause, previousAt: known?.lastAt ?? now };
    return { allowed: true };
  }

  /** Uncounts the latest attempt, because it succeeded. */
  succeeded(): void {
    const failures = this.#failures;
    if (failures === null) return;
    const count = failures.count - 1;
    const lastAt = failures.previousAt ?? failures.lastAt;
    this.#failures = count <= 0 ? null : { count, lastAt, blockedUntil: 0 };
  }
}
