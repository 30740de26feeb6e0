import { Heap } from "../../src/pool/heap.ts";

interface Appointment {
  readonly run: () => void;
}

/** A clock that advances only on demand. Timers fire in order, each at its time. */
export class ModelClock {
  #now: number;
  readonly #planned = new Heap<Appointment>();

  /** @param start Unix milliseconds */
  constructor(start: number) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;

  /** Calls `run` after `ms` milliseconds. Returns a function that cancels it. */
  readonly setTimer = (ms: number, run: () => void): (() => void) => {
    const appointment = { run };
    this.#planned.set(appointment, this.#now + Math.max(0, ms));
    return () => this.#planned.delete(appointment);
  };

  advance(ms: number): void {
    const end = this.#now + ms;
    while (this.#planned.firstKey <= end) {
      const { first } = this.#planned;
      this.#now = Math.max(this.#now, this.#planned.firstKey);
      if (first === undefined) break;
      this.#planned.delete(first);
      first.run();
    }
    this.#now = end;
  }
}
