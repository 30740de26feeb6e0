import type { Clock } from "../platform/clock.ts";
import { SETTLE_MS } from "./reservations.ts";
import { LOOK_MS } from "./slots.ts";

/** How often expired leases are reclaimed and high-water marks lowered, milliseconds. */
const SWEEP_MS = 10_000;

/** The clock and alarm that the pool needs. */
export interface Clockwork extends Clock {
  /** Requests a call of `sweep` at a time (Unix milliseconds), even if the pool is restarted meanwhile. */
  readonly wakeAt: (at: number) => void;
}

/** The pool's timers for maintenance: wake-up, sweep and idle check. Each runs only while it is needed. */
export class Upkeep {
  readonly #clockwork: Clockwork;
  readonly #onWake: () => void;
  readonly #onSettled: () => void;
  readonly #isIdle: () => boolean;
  #wakeTime = Number.POSITIVE_INFINITY;
  #stopWake: () => void = () => {};
  #sweepPlanned = false;
  #idleSince = 0;
  #settling = false;
  #looking = false;
  readonly #onLook: () => void;

  constructor(
    clockwork: Clockwork,
    isIdle: () => boolean,
    onLook: () => void,
    onWake: () => void,
    onSettled: () => void,
  ) {
    this.#onLook = onLook;
    this.#clockwork = clockwork;
    this.#isIdle = isIdle;
    this.#onWake = onWake;
    this.#onSettled = onSettled;
  }

  /** Calls `onWake` at a time (Unix milliseconds); `Infinity`: never. Replaces the earlier time. */
  wake(at: number): void {
    if (at === this.#wakeTime) return;
    this.#stopWake();
    this.#stopWake = () => {};
    this.#wakeTime = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#stopWake = this.#clockwork.setTimer(Math.max(0, at - this.#clockwork.now()), () => {
      this.#wakeTime = Number.POSITIVE_INFINITY;
      this.#onWake();
    });
  }

  /** Checks the clock at intervals while a slot is occupied. */
  hold(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#clockwork.setTimer(LOOK_MS, () => {
      this.#looking = false;
      this.#onLook();
      if (!this.#isIdle()) this.hold();
    });
  }

  /** Ensures that a sweep is scheduled. The schedule is durable: the sweep runs even if the pool is restarted. */
  planSweep(): void {
    if (this.#sweepPlanned) return;
    this.#sweepPlanned = true;
    this.#clockwork.wakeAt(this.#clockwork.now() + SWEEP_MS);
  }

  /** A sweep has run. Returns when the next one is due (Unix milliseconds), or null when none is `needed`. */
  swept(needed: boolean): number | null {
    this.#sweepPlanned = needed;
    return needed ? this.#clockwork.now() + SWEEP_MS : null;
  }

  /** No slot is occupied any more: calls `onSettled` when this has lasted for a while. */
  idle(): void {
    this.#idleSince = this.#clockwork.now();
    if (this.#settling) return;
    this.#settling = true;
    this.#settleIn(SETTLE_MS);
  }

  /** One timer at most: it is not restarted for each request, but checks again when it fires. */
  #settleIn(ms: number): void {
    this.#clockwork.setTimer(ms, () => {
      const passed = this.#clockwork.now() - this.#idleSince;
      // A clock may be set back.
      if (this.#isIdle() && passed >= 0 && passed < SETTLE_MS) {
        this.#settleIn(SETTLE_MS - passed);
        return;
      }
      this.#settling = false;
      if (this.#isIdle()) this.#onSettled();
    });
  }
}
