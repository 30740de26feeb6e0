import type { RequestTimers } from "./request-timers.ts";

/** A client may take a second longer for each so many bytes that came. */
const BYTES_A_SECOND = 65_536;

/** Bounds how long a body takes to come: some time, and longer the more of it has come. */
export class BodyClock {
  readonly #timers: RequestTimers;
  readonly #stalled: () => void;
  #cancel: () => void;
  /** Bytes that no time was given for yet. */
  #bytes = 0;
  #over = false;

  /** `stalled` is called once, when the time is over. `ms` is the time that even an empty body has. */
  constructor(timers: RequestTimers, ms: number, stalled: () => void) {
    this.#timers = timers;
    this.#stalled = stalled;
    this.#cancel = timers.after(ms, () => this.#look());
  }

  /** Whether the time is over. */
  get over(): boolean {
    return this.#over;
  }

  /** Bytes have come. */
  heard(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The body is there, or of no interest any more. */
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
