import { type Clock, withTimeout } from "../core/ports/clock.ts";

/**
 * How long an edit waits for the pools' acknowledgements, milliseconds.
 * A pool that is silent that long is informed later.
 */
const BROADCAST_TIMEOUT_MS = 5_000;
/** Delay before the first retry to a pool that has not acknowledged, milliseconds; it doubles up to the maximum. */
const MIN_RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;

/**
 * Sends the newest configuration to every pool. A pool that does not answer is retried, and delays neither the edit nor the
 * other pools. The acknowledgements are not stored: after a restart all pools are informed again.
 */
export class ConfigBroadcaster {
  readonly #clock: Clock;
  /** Number of the newest configuration, counted since this object was created. */
  #newest = 0;
  /** The newest number that each pool has acknowledged. */
  readonly #acknowledged = new Map<string, number>();
  #pauseMs = MIN_RETRY_MS;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** There is a new configuration that no pool knows yet. */
  markChanged(): void {
    this.#newest += 1;
    this.#pauseMs = MIN_RETRY_MS;
  }

  /** Whether all of these pools have acknowledged the newest configuration. */
  isAcknowledgedBy(pools: readonly string[]): boolean {
    return pools.every((pool) => this.#hasAcknowledged(pool, this.#newest));
  }

  /**
   * Sends the newest configuration to the pools that have not acknowledged it; takes some seconds at most. Never rejects.
   *
   * @param send sends the newest configuration to one pool; rejects when it cannot
   */
  async broadcast(pools: readonly string[], send: (pool: string) => Promise<void>): Promise<void> {
    const number = this.#newest;
    const sends = pools
      .filter((pool) => !this.#hasAcknowledged(pool, number))
      .map(async (pool) => {
        await send(pool);
        // A late acknowledgement counts as well.
        if (!this.#hasAcknowledged(pool, number)) this.#acknowledged.set(pool, number);
      });
    await withTimeout(Promise.allSettled(sends), BROADCAST_TIMEOUT_MS, this.#clock);
  }

  /** Milliseconds until the next retry; doubles with each call. */
  nextRetryMs(): number {
    const ms = this.#pauseMs;
    this.#pauseMs = Math.min(MAX_RETRY_MS, 2 * ms);
    return ms;
  }

  #hasAcknowledged(pool: string, number: number): boolean {
    return (this.#acknowledged.get(pool) ?? -1) >= number;
  }
}
