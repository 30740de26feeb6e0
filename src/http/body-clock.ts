import type { RequestTimers } from "./request-timers.ts";

/** Minimum rate of a body: this many received bytes extend the deadline by a second. */
const BYTES_A_SECOND = 65_536;

/** Limits how long a body may take to arrive. Received bytes extend the limit. */
export class BodyClock {
  readonly #timers: RequestTimers;
  readonly #stalled: () => void;
  #cancel: () => void;
  /** Bytes that have not extended the deadline yet. */
  #bytes = 0;
  #over = false;

  /**
   * @param ms initial time limit, also for an empty body
   * @param stalled called once, when the time is over
   */
  constructor(timers: RequestTimers, ms: number, stalled: () => void) {
    this.#timers = timers;
    this.#stalled = stalled;
    this.#cancel = timers.after(ms, () => this.#look());
  }

  /** Whether the time is over. */
  get over(): boolean {
    return this.#over;
  }

  /** Records received bytes. */
  heard(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Stops the clock: the body is complete or no longer needed. */
  stop(): void {
    this.#cancel();
  }

  #look(): void {
    const seconds = Math.floor(this.#bytes / BYTES_A_SECOND);
    if (seconds === 0) {
      this.#over = true;
      this.#stalled();
      return;
    }
    this.#bytes -= seconds * BYTES_A_SECOND;
    this.#cancel = this.#timers.after(seconds * 1000, () => this.#look());
  }
}
