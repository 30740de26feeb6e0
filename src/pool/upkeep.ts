import type { Clock } from "../platform/clock.ts";
import { SETTLE_MS } from "./reservations.ts";
import { LOOK_MS } from "./slots.ts";

/** How often expired leases are looked for, and marks lowered. */
const SWEEP_MS = 10_000;

/** What the pool needs from where it runs, to notice that time has passed. */
export interface Clockwork extends Clock {
  /** Asks for a call of `sweep` at a time (Unix milliseconds), also if the pool is restarted meanwhile. */
  readonly wakeAt: (at: number) => void;
}

/** When the pool looks after itself: three appointments, each made only while there is something to look after. */
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

  /** Calls `onWake` at a time (Unix milliseconds); `Infinity` for not at all. Replaces the time given before. */
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

  /** Something is held: calls `look` again and again, until nothing is. */
  hold(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#clockwork.setTimer(LOOK_MS, () => {
      this.#looking = false;
      this.#onLook();
      if (!this.#isIdle()) this.hold();
    });
  }

  /** Makes sure that a sweep is planned. It is planned durably: it takes place although the pool is restarted. */
  planSweep(): void {
    if (this.#sweepPlanned) return;
    this.#sweepPlanned = true;
    this.#clockwork.wakeAt(this.#clockwork.now() + SWEEP_MS);
  }

  /** A sweep has taken place. Returns when the next one is due, or null when none is `needed`. */
  swept(needed: boolean): number | null {
    this.#sweepPlanned = needed;
    return needed ? this.#clockwork.now() + SWEEP_MS : null;
  }

  /** Nothing is held any more: calls `onSettled` when it has stayed so for a while. */
  idle(): void {
    this.#idleSince = this.#clockwork.now();
    if (this.#settling) return;
    this.#settling = true;
    this.#settleIn(SETTLE_MS);
  }

  /** One timer at most: it is not restarted by each request that comes and goes, but looks again when it ends. */
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
