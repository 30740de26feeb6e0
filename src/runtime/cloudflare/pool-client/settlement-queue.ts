import { unresponsivePoolError } from "../../../core/errors/unresponsive-pool.ts";
import { type Clock, sleep, withTimeout } from "../../../core/ports/clock.ts";
import type { SpentAmounts } from "../../../core/ports/subject-limits.ts";

/** What ended requests have used, by the id of their use. */
export type SettledUses = readonly (readonly [use: string, spent: SpentAmounts])[];

/** How long a report waits for another request of the isolate that calls the pool anyway. */
const FLUSH_DELAY_MS = 10;
/**
 * At most this many requests wait to send the reports; more would be useless. Several, because a request may die while it
 * waits.
 */
const MAX_FLUSHERS = 3;
const STUCK_MS = 1_000;
/**
 * After this time without acknowledgement, milliseconds, a report is sent again with the next call. Repeats have no effect.
 */
const ACKNOWLEDGE_TIMEOUT_MS = 4_000;
/** Limit of waiting reports. Beyond it the oldest are dropped, and the pool keeps the estimate for them. */
const MAX_WAITING = 10_000;

/**
 * Usage of this isolate's requests that the pool does not know yet. It travels with the next request for a slot: that saves
 * a call, and the pool counts it before it decides on the request.
 */
export class SettlementQueue {
  readonly #send: (settled: SettledUses) => Promise<void>;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, SpentAmounts>();
  #flushers = 0;
  #lastFlusherAt = 0;

  constructor(send: (settled: SettledUses) => Promise<void>, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /**
   * Resolves when the usage is reported, or when other requests will report it; rejects like {@link flush}.
   * `isImmediate`: do not wait for another call.
   */
  async add(use: string, spent: SpentAmounts, isImmediate: boolean): Promise<void> {
    this.#enqueue([[use, spent]]);
    if (isImmediate) {
      await this.flush();
      return;
    }
    const now = this.#clock.now();
    if (this.#flushers === 0) this.#lastFlusherAt = now;
    if (this.#flushers >= MAX_FLUSHERS && Math.abs(now - this.#lastFlusherAt) < STUCK_MS) return;
    this.#flushers += 1;
    this.#lastFlusherAt = now;
    await sleep(FLUSH_DELAY_MS, this.#clock);
    this.#flushers = Math.max(0, this.#flushers - 1);
    await this.flush();
  }

  /**
   * Sends the waiting usage along with a call to the pool. Without acknowledgement in time, or after a failure, it is sent
   * again with the next call: on Workers a call ends silently with the request that made it.
   */
  sendWith<T>(call: (settled: SettledUses) => Promise<T>): Promise<T> {
    const settled = this.#drain();
    return settled.length === 0 ? call(settled) : this.#sendUnacknowledged(call, settled);
  }

  async #sendUnacknowledged<T>(call: (settled: SettledUses) => Promise<T>, settled: SettledUses): Promise<T> {
    const stop = this.#clock.setTimer(ACKNOWLEDGE_TIMEOUT_MS, () => this.#enqueue(settled));
    try {
      return await call(settled);
    } catch (error) {
      this.#enqueue(settled);
      throw error;
    } finally {
      stop();
    }
  }

  #drain(): SettledUses {
    if (this.#waiting.size === 0) return [];
    const settled = [...this.#waiting];
    this.#waiting.clear();
    return settled;
  }

  /**
   * Reports the waiting usage to the pool. Rejects if that fails, or (503) if the pool does not answer for some seconds; it
   * is sent again later.
   */
  async flush(): Promise<void> {
    const settled = this.#drain();
    if (settled.length === 0) return;
    try {
      const sending = this.#send(settled).then(() => true);
      if ((await withTimeout(sending, ACKNOWLEDGE_TIMEOUT_MS, this.#clock)) === null)
        throw unresponsivePoolError("the account pool does not answer; the usage is reported later");
    } catch (error) {
      this.#enqueue(settled);
      throw error;
    }
  }

  #enqueue(settled: SettledUses): void {
    for (const [use, spent] of settled) this.#waiting.set(use, spent);
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MAX_WAITING) return;
      this.#waiting.delete(oldest);
    }
  }
}
