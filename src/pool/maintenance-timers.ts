import type { Clock } from "../core/ports/clock.ts";
import { IDLE_SETTLE_MS } from "./leases/lease-recovery.ts";

/** How often expired leases are reclaimed and high-water marks lowered, milliseconds. */
const SWEEP_MS = 10_000;

/** The clock and alarm that the pool needs. */
export interface MaintenanceClock extends Clock {
  /** Monotonic milliseconds, for leases and pauses; by default `now`. */
  readonly monotonicNow?: () => number;
  /** Requests a call of `sweep` at a time (Unix milliseconds), even if the pool is restarted meanwhile. */
  readonly wakeAt: (at: number) => void;
}

/** The pool's timers for maintenance: wake-up, sweep and idle check. Each runs only while it is needed. */
export class MaintenanceTimers {
  readonly #clock: MaintenanceClock;
  readonly #monotonicNow: () => number;
  readonly #onWake: () => void;
  readonly #onSettled: () => void;
  readonly #isIdle: () => boolean;
  #wakeTime = Number.POSITIVE_INFINITY;
  #stopWake: () => void = () => {};
  #sweepPlanned = false;
  #idleSince = 0;
  #settling = false;

  constructor(clock: MaintenanceClock, isIdle: () => boolean, onWake: () => void, onSettled: () => void) {
    this.#clock = clock;
    this.#monotonicNow = clock.monotonicNow ?? clock.now;
    this.#isIdle = isIdle;
    this.#onWake = onWake;
    this.#onSettled = onSettled;
  }

  /** Calls `onWake` at a time (Unix milliseconds); `Infinity`: never. Replaces the earlier time. */
  scheduleWake(at: number): void {
    if (at === this.#wakeTime) return;
    this.#stopWake();
    this.#stopWake = () => {};
    this.#wakeTime = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#stopWake = this.#clock.setTimer(Math.max(0, at - this.#clock.now()), () => {
      this.#wakeTime = Number.POSITIVE_INFINITY;
      this.#onWake();
    });
  }

  /** Ensures that a sweep is scheduled. The schedule is durable: the sweep runs even if the pool is restarted. */
  scheduleSweep(): void {
    if (this.#sweepPlanned) return;
    this.#sweepPlanned = true;
    this.#clock.wakeAt(this.#clock.now() + SWEEP_MS);
  }

  /** A sweep has run. Returns when the next one is due (Unix milliseconds), or null when none is `needed`. */
  onSwept(needed: boolean): number | null {
    this.#sweepPlanned = needed;
    return needed ? this.#clock.now() + SWEEP_MS : null;
  }

  /** No slot is occupied any more: calls `onSettled` when this has lasted for a while. */
  onIdle(): void {
    this.#idleSince = this.#monotonicNow();
    if (this.#settling) return;
    this.#settling = true;
    this.#scheduleSettle(IDLE_SETTLE_MS);
  }

  /** One timer at most: it is not restarted for each request, but checks again when it fires. */
  #scheduleSettle(ms: number): void {
    this.#clock.setTimer(ms, () => {
      const passed = this.#monotonicNow() - this.#idleSince;
      if (this.#isIdle() && passed < IDLE_SETTLE_MS) {
        this.#scheduleSettle(IDLE_SETTLE_MS - passed);
        return;
      }
      this.#settling = false;
      if (this.#isIdle()) this.#onSettled();
    });
  }
}
