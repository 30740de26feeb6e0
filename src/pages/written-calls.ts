import type { RateWindow } from "./rate-window.ts";

/** Calls within this many milliseconds after a write belong to a burst: further calls are written ahead. */
const BURST_MS = 2_000;
/** Milliseconds for which calls written ahead may be used. */
const AHEAD_MS = 1_000;
/** Maximum calls to write ahead: also at most the limit divided by `PART_AHEAD`. */
const MOST_AHEAD = 64;
const PART_AHEAD = 8;

/** The calls of a client to write. */
export interface CallsToWrite {
  /** Milliseconds since the epoch, oldest first; calls written ahead have a time in the future. */
  readonly calls: readonly number[];
  /** Milliseconds after which to call {@link WrittenCalls.settle}; null if it is not needed. */
  readonly settleAfter: number | null;
}

/**
 * Decides when to persist a client's calls, so that a counter that is evicted and restored never allows more than the
 * limit. A write costs more than a count. So in a burst one write reserves further calls, with the time at which the
 * reservation ends. When the burst is over, another write stores the actual calls. If the counter is evicted before
 * that, it counts too many calls for a minute.
 */
export class WrittenCalls {
  readonly #window: RateWindow;
  #ahead = 0;
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(window: RateWindow) {
    this.#window = window;
  }

  /**
   * Records calls that the window has just allowed at `now`, in milliseconds since the epoch.
   *
   * @param limit calls per minute
   * @returns null if they were already written ahead
   */
  note(now: number, limit: number, count = 1): CallsToWrite | null {
    const since = now - this.#wroteAt;
    if (count <= this.#ahead && since >= 0 && since <= AHEAD_MS) {
      this.#ahead -= count;
      return null;
    }
    const inBurst = since >= 0 && since < BURST_MS;
    this.#ahead = inBurst ? Math.min(MOST_AHEAD, Math.floor(limit / PART_AHEAD)) : 0;
    this.#wroteAt = now;
    const calls = [...this.#window.calls, ...Array<number>(this.#ahead).fill(now + AHEAD_MS)];
    return { calls, settleAfter: this.#ahead > 0 ? AHEAD_MS + 1 : null };
  }

  /** The calls to write after a burst; null if the stored ones are right. */
  settle(): readonly number[] | null {
    if (this.#ahead === 0) return null;
    this.#ahead = 0;
    return this.#window.calls;
  }
}
