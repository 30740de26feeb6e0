import { silentPool } from "../../errors/silent-pool.ts";
import { type Clock, inTime, pause } from "../clock.ts";
import type { Spent } from "../limits.ts";

/** What ended requests have used, by the id of their use. */
export type Settled = readonly (readonly [use: string, spent: Spent])[];

/** How long a report waits for another request of the isolate that calls the pool anyway. */
const WAIT_MS = 10;
/**
 * At most this many requests wait to send the reports; more would be useless. Several, because a request may die while it
 * waits.
 */
const WAITERS = 3;
const STUCK_MS = 1_000;
/**
 * After this time without acknowledgement, milliseconds, a report is sent again with the next call. Repeats have no effect.
 */
const SILENT_MS = 4_000;
/** Limit of waiting reports. Beyond it the oldest are dropped, and the pool keeps the estimate for them. */
const MOST = 10_000;

/**
 * Usage of this isolate's requests that the pool does not know yet. It travels with the next request for a slot: that saves
 * a call, and the pool counts it before it decides on the request.
 */
export class Settlements {
  readonly #send: (settled: Settled) => Promise<void>;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Spent>();
  #waiters = 0;
  #since = 0;

  constructor(send: (settled: Settled) => Promise<void>, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /**
   * Resolves when the usage is reported, or when other requests will report it; rejects like {@link flush}. `atOnce`: do not
   * wait for another call.
   */
  async add(use: string, spent: Spent, atOnce: boolean): Promise<void> {
    this.#hold([[use, spent]]);
    if (atOnce) {
      await this.tell();
      return;
    }
    const now = this.#clock.now();
    if (this.#waiters === 0) this.#since = now;
    if (this.#waiters >= WAITERS && Math.abs(now - this.#since) < STUCK_MS) return;
    this.#waiters += 1;
    this.#since = now;
    await pause(WAIT_MS, this.#clock);
    this.#waiters = Math.max(0, this.#waiters - 1);
    await this.tell();
  }

  /**
   * Sends the waiting usage along with a call to the pool. Without acknowledgement in time, or after a failure, it is sent
   * again with the next call: on Workers a call ends silently with the request that made it.
   */
  with<T>(call: (settled: Settled) => Promise<T>): Promise<T> {
    const settled = this.#take();
    return settled.length === 0 ? call(settled) : this.#tellWith(call, settled);
  }

  async #tellWith<T>(call: (settled: Settled) => Promise<T>, settled: Settled): Promise<T> {
    const stop = this.#clock.setTimer(SILENT_MS, () => this.#hold(settled));
    try {
      return await call(settled);
    } catch (error) {
      this.#hold(settled);
      throw error;
    } finally {
      stop();
    }
  }

  #take(): Settled {
    if (this.#waiting.size === 0) return [];
    const taken = [...this.#waiting];
    this.#waiting.clear();
    return taken;
  }

  /**
   * Reports the waiting usage to the pool. Rejects if that fails, or (503) if the pool does not answer for some seconds; it
   * is sent again later.
   */
  async tell(): Promise<void> {
    const settled = this.#take();
    if (settled.length === 0) return;
    try {
      const sending = this.#send(settled).then(() => true);
      if ((await inTime(sending, SILENT_MS, this.#clock)) === null)
        throw silentPool("the account pool does not answer: what was used is told later");
    } catch (error) {
      this.#hold(settled);
      throw error;
    }
  }

  #hold(settled: Settled): void {
    for (const [use, spent] of settled) this.#waiting.set(use, spent);
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MOST) return;
      this.#waiting.delete(oldest);
    }
  }
}
