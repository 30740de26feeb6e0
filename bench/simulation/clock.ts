/** Something to be done at a time; null once it is stopped. */
interface Appointment {
  run: (() => void) | null;
}

/** Lets all promises go on that can. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Time that passes only when nothing is left to do: whole milliseconds, one after the other. What falls on the same one happens in
 * the order in which it was planned, and promises go on before time does. So a run depends on nothing but its seed.
 */
export class VirtualClock {
  #now: number;
  readonly #planned = new Map<number, Appointment[]>();

  /** @param start Unix milliseconds */
  constructor(start: number) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;

  /** Calls `run` after `ms` milliseconds, rounded up; the result stops it. */
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

  /** Has everything happen up to that time. */
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

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
