import type { RateDecision } from "../platform/pages.ts";

const WINDOW_MS = 60_000;

/**
 * Counts one client's calls exactly: in no span of 60 seconds are more than the limit allowed, however the span lies. Refused
 * calls are not counted.
 */
export class RateWindow {
  readonly #calls: number[];

  /** @param calls of an earlier window that goes on */
  constructor(calls: readonly number[] = []) {
    this.#calls = [...calls];
  }

  /** Times of the allowed calls, oldest first, in milliseconds since the epoch. */
  get calls(): readonly number[] {
    return this.#calls;
  }

  /** Decides on calls at `now`, in milliseconds since the epoch: all of them or none. */
  take(now: number, limit: number, count = 1): RateDecision {
    const calls = this.#calls;
    // A clock that was set back must not lock a client out.
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

  /** The milliseconds since the epoch at which the newest call no longer counts. */
  get expiresAt(): number {
    return (this.#calls.at(-1) ?? 0) + WINDOW_MS;
  }
}
