import type { RateWindow } from "./rate-window.ts";

/** Calls within this many milliseconds after a write belong to a burst: further calls are written ahead. */
const BURST_GAP_MS = 2_000;
/** Milliseconds for which calls written ahead may be used. */
const RESERVATION_MS = 1_000;
/** Maximum calls to write ahead: also at most the limit divided by `RESERVED_LIMIT_DIVISOR`. */
const MAX_RESERVED_CALLS = 64;
const RESERVED_LIMIT_DIVISOR = 8;

/** The calls of a client to write. */
export interface CallsToWrite {
  /** Milliseconds since the epoch, oldest first; calls written ahead have a time in the future. */
  readonly calls: readonly number[];
  /** Milliseconds after which to call {@link CallPersistence.finishBurst}; null if it is not needed. */
  readonly settleAfter: number | null;
}

/**
 * Decides when to persist a client's calls, so that a counter that is evicted and restored never allows more than the
 * limit. A write costs more than a count. So in a burst one write reserves further calls, with the time at which the
 * reservation ends. When the burst is over, another write stores the actual calls. If the counter is evicted before
 * that, it counts too many calls for a minute.
 */
export class CallPersistence {
  readonly #window: RateWindow;
  #reservedCalls = 0;
  #lastWriteAt = Number.NEGATIVE_INFINITY;

  constructor(window: RateWindow) {
    this.#window = window;
  }

  /**
   * Records calls that the window has just allowed at `now`, in milliseconds since the epoch.
   *
   * @param limit calls per minute
   * @returns null if they were already written ahead
   */
  recordCalls(now: number, limit: number, count = 1): CallsToWrite | null {
    const since = now - this.#lastWriteAt;
    if (count <= this.#reservedCalls && since >= 0 && since <= RESERVATION_MS) {
      this.#reservedCalls -= count;
      return null;
    }
    const inBurst = since >= 0 && since < BURST_GAP_MS;
    this.#reservedCalls = inBurst
      ? Math.min(MAX_RESERVED_CALLS, Math.floor(limit / RESERVED_LIMIT_DIVISOR))
      : 0;
    this.#lastWriteAt = now;
    const calls = [...this.#window.calls, ...Array<number>(this.#reservedCalls).fill(now + RESERVATION_MS)];
    return { calls, settleAfter: this.#reservedCalls > 0 ? RESERVATION_MS + 1 : null };
  }

  /** The calls to write after a burst; null if the stored ones are right. */
  finishBurst(): readonly number[] | null {
    if (this.#reservedCalls === 0) return null;
    this.#reservedCalls = 0;
    return this.#window.calls;
  }
}
