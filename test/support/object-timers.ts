import type { SetTimer } from "../../src/platform/clock.ts";

/** The timers of an object, which end with its memory, on a clock that goes on. */
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

  /** The object loses its memory. */
  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops.clear();
  }
}
