import { silentPool } from "../../errors/silent-pool.ts";
import { type Clock, inTime, pause } from "../clock.ts";
import type { Spent } from "../limits.ts";

/** What requests have used in the end, by what their use is called. */
export type Settled = readonly (readonly [use: string, spent: Spent])[];

/** How long what a request has used waits for another request of the isolate that goes to the pool anyway. */
const WAIT_MS = 10;
/** So many requests see to it that what waits is told; the rest need not. One that sees to it may die. */
const WAITERS = 3;
const STUCK_MS = 1_000;
/** What the pool has not acknowledged for so long, milliseconds, is told again with the next: telling it twice changes nothing. */
const SILENT_MS = 4_000;
/** Beyond these the oldest count as what was expected of them. */
const MOST = 10_000;

/**
 * What an isolate's requests have used and the pool has not heard of yet: it goes with the next request for a slot, so that it
 * costs no call of its own, and counts before whatever that request asks for.
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

  /** Resolves when the pool has been told, or others see to it; rejects like {@link tell}. `atOnce`: nobody is waited for. */
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
   * Has a call to the pool take with it what waits. When that is not acknowledged in time, or fails, it goes with another one, too: on
   * Workers a call ends unseen with the request that has made it.
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

  /** Tells the pool what waits. Rejects when it cannot be told, or says nothing for some seconds (503): it is told later then. */
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
