import type { RateWindow } from "./rate-window.ts";

/** Calls that follow a write within so many milliseconds are written ahead. */
const BURST_MS = 2_000;
/** For so many milliseconds what was written ahead holds. */
const AHEAD_MS = 1_000;
/** Calls that are written ahead: a part of the limit, and never more than this. */
const MOST_AHEAD = 64;
const PART_AHEAD = 8;

/** What has to be written of a client's calls. */
export interface CallsToWrite {
  /** Milliseconds since the epoch, oldest first; those to come stand in the future. */
  readonly calls: readonly number[];
  /** Milliseconds after which {@link WrittenCalls.settle} is to be asked; null: that is all there is to write. */
  readonly settleAfter: number | null;
}

/**
 * Says when a client's calls have to be written down, so that a counter that is put away and comes back has never allowed more than the limit.
 * To write costs more than to count: in a burst the next calls are written with one, as made at the end of the time in which they may come. What
 * has come is written once the burst is over; a counter that ends before has counted too many, for a minute.
 */
export class WrittenCalls {
  readonly #window: RateWindow;
  #ahead = 0;
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(window: RateWindow) {
    this.#window = window;
  }

  /**
   * Takes note of calls that the window has just allowed at `now`, in milliseconds since the epoch.
   *
   * @param limit calls a minute
   * @returns null when they have been written ahead
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

  /** What is to be written when nothing has been for a while; null when that is what is written. */
  settle(): readonly number[] | null {
    if (this.#ahead === 0) return null;
    this.#ahead = 0;
    return this.#window.calls;
  }
}
