import type { Clock, SetTimer } from "../../../src/core/ports/clock.ts";
import { Heap } from "../../../src/pool/structures/heap.ts";

/** A scheduled callback; null when cancelled. */
interface Timer {
  run: (() => void) | null;
}

/** Lets all pending promises continue. */
const settlePromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A simulated clock. Callbacks of the same millisecond run in the order of scheduling. In asynchronous use, promises settle
 * before the clock advances. So a run depends only on its seed.
 */
export class SimulatedClock implements Clock {
  #now: number;
  readonly #timersAt = new Map<number, Timer[]>();
  readonly #times = new Heap<Timer[]>();

  /** @param start Unix milliseconds */
  constructor(start: number) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;

  /** Calls `run` after `ms` milliseconds, rounded up. Returns a function that cancels it. */
  readonly setTimer: SetTimer = (ms, run) => {
    const at = this.#now + Math.max(0, Math.ceil(ms));
    const timer: Timer = { run };
    const others = this.#timersAt.get(at);
    if (others !== undefined) others.push(timer);
    else {
      const timers = [timer];
      this.#timersAt.set(at, timers);
      this.#times.set(timers, at);
    }
    return () => {
      timer.run = null;
    };
  };

  readonly after = (ms: number): Promise<void> => new Promise((resolve) => this.setTimer(ms, resolve));

  /** Runs the timers of the next time up to `end` that has any. Returns whether there was one. */
  #runNext(end: number): boolean {
    const { first: timers, firstKey: at } = this.#times;
    if (timers === undefined || at > end) return false;
    this.#times.delete(timers);
    this.#timersAt.delete(at);
    this.#now = at;
    for (const { run } of timers) run?.();
    return true;
  }

  /** Lets time pass for code without promises. */
  advance(ms: number): void {
    const end = this.#now + ms;
    while (this.#runNext(end));
    this.#now = end;
  }

  /** Lets time pass for code with promises. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settlePromises();
    while (this.#runNext(end)) await settlePromises();
    this.#now = end;
  }
}

/** Random numbers from 0 to 1, determined by the seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
