import { type Clock, inTime } from "../platform/clock.ts";

/** For how long an edit waits for the pools to know of it, milliseconds. One that says nothing until then learns of it later. */
const WAIT_MS = 5_000;
/** After so long a pool is told again that has not acknowledged it, milliseconds; then after twice as long, up to the longest. */
const AGAIN_MS = 2_000;
const LONGEST_MS = 30_000;

/**
 * Has pools know of the newest configuration, each of them: who does not answer is told again, and keeps neither the edit nor the
 * other pools waiting. Which of them know it is forgotten at a restart, and all are told anew then.
 */
export class PoolNews {
  readonly #clock: Clock;
  /** Numbers what there is to tell, since this was made. */
  #newest = 0;
  /** What each pool has acknowledged. */
  readonly #known = new Map<string, number>();
  #pauseMs = AGAIN_MS;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** There is something new, of which nobody knows. */
  changed(): void {
    this.#newest += 1;
    this.#pauseMs = AGAIN_MS;
  }

  /** Whether all of those pools know the newest. */
  isKnownTo(pools: readonly string[]): boolean {
    return pools.every((pool) => this.#knows(pool, this.#newest));
  }

  /**
   * Tells those pools that do not know the newest, some seconds at most. Never rejects.
   *
   * @param send tells one of them what is the newest now; rejects when it cannot
   */
  async tell(pools: readonly string[], send: (pool: string) => Promise<void>): Promise<void> {
    const number = this.#newest;
    const telling = pools
      .filter((pool) => !this.#knows(pool, number))
      .map(async (pool) => {
        await send(pool);
        // An answer that comes late counts as well.
        if (!this.#knows(pool, number)) this.#known.set(pool, number);
      });
    await inTime(Promise.allSettled(telling), WAIT_MS, this.#clock);
  }

  /** After how many milliseconds those are to be told again that do not know it: ever later. */
  nextMs(): number {
    const ms = this.#pauseMs;
    this.#pauseMs = Math.min(LONGEST_MS, 2 * ms);
    return ms;
  }

  #knows(pool: string, number: number): boolean {
    return (this.#known.get(pool) ?? -1) >= number;
  }
}
