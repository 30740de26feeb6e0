/** A scheduled callback; null when cancelled. */
interface Appointment {
  run: (() => void) | null;
}

/** Lets all pending promises continue. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A virtual clock in whole milliseconds. It advances only when nothing is left to do. Callbacks of the same millisecond run
 * in the order of scheduling, and promises settle before the clock advances. So a run depends only on its seed.
 */
export class VirtualClock {
  #now: number;
  readonly #planned = new Map<number, Appointment[]>();

  /** @param start Unix milliseconds */
  constructor(start: number) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;

  /** Calls `run` after `ms` milliseconds, rounded up. Returns a function that cancels it. */
  readonly setTimer = (ms: number, run: () => void): (() => void) => {
    const at = this.#now + Math.max(0, Math.ceil(ms));
    const appointment: Appointment = { run };
    const others = this.#planned.get(at);
    if (others === undefined) this.#planned.set(at, [appointment]);
    else others.push(appointment);
    return () => {
      appointment.run = null;
    };
  };

  readonly after = (ms: number): Promise<void> => new Promise((resolve) => this.setTimer(ms, resolve));

  /** Runs everything up to that time. */
  async runUntil(end: number): Promise<void> {
    for (; this.#now <= end; this.#now += 1) {
      for (let due = this.#planned.get(this.#now); due !== undefined; due = this.#planned.get(this.#now)) {
        this.#planned.delete(this.#now);
        for (const { run } of due) run?.();
        await settled();
      }
    }
  }
}

/** Random numbers from 0 to 1, determined by the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
