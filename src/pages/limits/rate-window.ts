import type { RateDecision } from "../../core/ports/pages.ts";

const WINDOW_MS = 60_000;

/**
 * Counts one client's calls exactly: no period of 60 seconds contains more allowed calls than the limit. Refused calls
 * do not count.
 */
export class RateWindow {
  readonly #calls: number[];

  /** @param calls of an earlier window, to continue it */
  constructor(calls: readonly number[] = []) {
    this.#calls = [...calls];
  }

  /** Times of the allowed calls, oldest first, in milliseconds since the epoch. */
  get calls(): readonly number[] {
    return this.#calls;
  }

  /** Allows or refuses `count` calls at `now`, in milliseconds since the epoch: all of them or none. */
  take(now: number, limit: number, count = 1): RateDecision {
    const calls = this.#calls;
    // Drop calls from the future, so that a clock that was set back does not lock a client out.
    while (calls[0] !== undefined && (calls[0] <= now - WINDOW_MS || calls[0] > now)) calls.shift();
    const allowed = calls.length + count <= limit;
    if (allowed) for (let n = 0; n < count; n++) calls.push(now);
    const oldest = calls[0] ?? now;
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - calls.length),
      resetSeconds: Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1000)),
    };
  }

  /** When the newest call leaves the window, milliseconds since the epoch. */
  get expiresAt(): number {
    return (this.#calls.at(-1) ?? 0) + WINDOW_MS;
  }
}
