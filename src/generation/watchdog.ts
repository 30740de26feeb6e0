import type { RequestTimers } from "../http/request-timers.ts";

/**
 * Which limit a {@link Watchdog} found exceeded. `no-answer`: bytes came, but no complete answer, or no content of a
 * stream.
 */
export type Silence = "first-byte" | "idle" | "no-answer" | "stalled-reader";

/** Limits of an upstream, milliseconds. */
export interface WatchdogLimits {
  /** Longest silence before the first byte. */
  readonly firstByteMs: number;
  /** Longest silence within a stream, and longest time for which a reader may block a write. */
  readonly idleMs: number;
  /**
   * Longest time for a complete answer. For a stream: longest time between two pieces of content, whatever else arrives.
   */
  readonly answerMs: number;
}

/**
 * Minimum read rate in bytes per second, averaged over the time in which a write waits: slower than anyone reads or
 * listens. Otherwise a client that reads one byte or one event a minute would occupy its slot for days.
 */
const MIN_BYTES_PER_SECOND = 256;

/**
 * Ends an answer when its upstream is silent or sends no content, or when its reader has stopped reading. Recording a byte
 * costs one clock read. A timer checks the limits from time to time, and each check sets the time of the next one.
 */
export class Watchdog {
  readonly #now: () => number;
  readonly #limits: WatchdogLimits;
  readonly #bark: (silence: Silence) => void;
  readonly #timers: RequestTimers;
  /** Cancels the next check. */
  #cancel: (() => void) | undefined;
  #since: number;
  /** When the attempt began, or the stream's last content arrived. */
  #contentAt: number;
  #heard = false;
  /** Since when a write waits for the reader without any byte being taken; 0: no write waits. */
  #writing = 0;
  /** When the last write ended. */
  #free: number;
  /**
   * How long the reader has blocked writes, milliseconds, minus credit for the bytes it took and for the time between
   * writes.
   */
  #debt = 0;

  constructor(
    limits: WatchdogLimits,
    now: () => number,
    timers: RequestTimers,
    bark: (silence: Silence) => void,
  ) {
    this.#limits = limits;
    this.#now = now;
    this.#timers = timers;
    this.#bark = bark;
    this.#since = now();
    this.#contentAt = this.#since;
    this.#free = this.#since;
  }

  /** Begins an attempt, which may have several turns. */
  begin(): void {
    this.#contentAt = this.#now();
  }

  /** Begins a turn, and waits for the upstream's first byte. */
  expect(): void {
    this.#heard = false;
    this.#writing = 0;
    this.#since = this.#now();
    this.#arm();
  }

  /** Records a byte of the upstream. Returns the current time, milliseconds since the epoch. */
  heard(): number {
    this.#since = this.#now();
    this.#heard = true;
    return this.#since;
  }

  /**
   * Records that the last byte was content of a stream. Not used for a complete answer, which counts as one piece of
   * content.
   */
  progress(): void {
    this.#contentAt = this.#since;
  }

  /** Begins a write to the caller. The upstream's silence does not count until the write ends. */
  writing(): void {
    const now = this.#now();
    if (this.#writing === 0) this.#repay(now - this.#free);
    else this.#debt += now - this.#writing;
    this.#writing = now;
  }

  /** Records that the reader has taken `bytes` bytes of the current write. */
  taken(bytes: number): void {
    if (this.#writing === 0) return;
    const now = this.#now();
    this.#debt += now - this.#writing;
    this.#writing = now;
    this.#repay((bytes * 1000) / MIN_BYTES_PER_SECOND);
  }

  /** Ends the write. */
  written(): void {
    this.#writing = 0;
    this.#since = this.#now();
    this.#contentAt = this.#since;
    this.#free = this.#since;
  }

  #repay(milliseconds: number): void {
    this.#debt = Math.max(0, this.#debt - milliseconds);
  }

  /** Stops all checks. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** When the next limit will be exceeded, if nothing happens. */
  #due(): number {
    if (this.#writing > 0) return this.#writing + this.#limits.idleMs - this.#debt;
    const { firstByteMs, idleMs } = this.#limits;
    return Math.min(this.#since + (this.#heard ? idleMs : firstByteMs), this.#answerDue());
  }

  #answerDue(): number {
    return this.#contentAt + this.#limits.answerMs;
  }

  /** Schedules the next check; at most one is pending. Checks are frequent enough for every limit that may apply next. */
  #arm(): void {
    this.#cancel?.();
    const now = this.#now();
    const soonest = Math.min(this.#due(), now + this.#limits.idleMs / 2);
    this.#cancel = this.#timers.after(soonest - now, () => this.#check());
  }

  #check(): void {
    const now = this.#now();
    if (now < this.#due()) {
      this.#arm();
      return;
    }
    this.stop();
    if (this.#writing > 0) this.#bark("stalled-reader");
    else if (!this.#heard) this.#bark("first-byte");
    else this.#bark(now < this.#answerDue() ? "idle" : "no-answer");
  }
}
