import type { Spent } from "../limits.ts";

/** What requests have used in the end, by what their use is called. */
export type Settled = readonly (readonly [use: string, spent: Spent])[];

/** How long what a request has used waits for another request of the isolate that goes to the pool anyway. */
const WAIT_MS = 10;
/** So many requests see to it that what waits is told; the rest need not. One that sees to it may die. */
const WAITERS = 3;
const STUCK_MS = 1_000;
/** Beyond these the oldest count as what was expected of them. */
const MOST = 10_000;

/**
 * What an isolate's requests have used and the pool has not heard of yet: it goes with the next request for a slot, so that it
 * costs no call of its own, and counts before whatever that request asks for.
 */
export class Settlements {
  readonly #send: (settled: Settled) => Promise<void>;
  readonly #pause: (ms: number) => Promise<void>;
  readonly #now: () => number;
  readonly #waiting = new Map<string, Spent>();
  #waiters = 0;
  #since = 0;

  constructor(
    send: (settled: Settled) => Promise<void>,
    pause: (ms: number) => Promise<void>,
    now: () => number,
  ) {
    this.#send = send;
    this.#pause = pause;
    this.#now = now;
  }

  /** Resolves when the pool has been told, or others see to it. `atOnce`: nobody is waited for. */
  async add(use: string, spent: Spent, atOnce: boolean): Promise<void> {
    this.#hold([[use, spent]]);
    if (atOnce) {
      await this.tell();
      return;
    }
    const now = this.#now();
    if (this.#waiters === 0) this.#since = now;
    if (this.#waiters >= WAITERS && Math.abs(now - this.#since) < STUCK_MS) return;
    this.#waiters += 1;
    this.#since = now;
    await this.#pause(WAIT_MS);
    this.#waiters = Math.max(0, this.#waiters - 1);
    await this.tell();
  }

  /** What a call to the pool takes with it. {@link lost} when it did not arrive. */
  take(): Settled {
    if (this.#waiting.size === 0) return [];
    const taken = [...this.#waiting];
    this.#waiting.clear();
    return taken;
  }

  lost(settled: Settled): void {
    this.#hold(settled);
  }

  /** Tells the pool what waits. */
  async tell(): Promise<void> {
    const settled = this.take();
    if (settled.length === 0) return;
    try {
      await this.#send(settled);
    } catch (error) {
      this.lost(settled);
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
