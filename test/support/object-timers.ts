import type { SetTimer } from "../../src/core/ports/clock.ts";

/** Timers of an object, which end when the object loses its memory, on a clock that continues. */
export class ObjectTimers {
  readonly #setTimer: SetTimer;
  readonly #stops = new Set<() => void>();

  constructor(setTimer: SetTimer) {
    this.#setTimer = setTimer;
  }

  readonly set: SetTimer = (ms, run) => {
    const stop = this.#setTimer(ms, () => {
      this.#stops.delete(stop);
      run();
    });
    this.#stops.add(stop);
    return () => {
      this.#stops.delete(stop);
      stop();
    };
  };

  /** Stops all timers: the object loses its memory. */
  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops.clear();
  }
}
