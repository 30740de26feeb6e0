/**
 * Which limit a {@link StallDetector} found exceeded. `no-answer`: bytes came, but no complete answer, or no content of a
 * stream.
 */
export type StallReason = "first-byte" | "idle" | "no-answer" | "stalled-reader";

/** Limits of an upstream, milliseconds. */
export interface StallLimits {
  /** Longest silence before the first byte. */
  readonly firstByteMs: number;
  /** Longest silence within a stream, and longest time for which a reader may block a write. */
  readonly idleMs: number;
  /**
   * Longest time for a complete answer. For a stream: longest time between two pieces of content, even if other data
   * arrives.
   */
  readonly answerMs: number;
}

/**
 * Minimum read rate in bytes per second, averaged over the time in which a write waits: slower than anyone reads or
 * listens. Otherwise a client that reads one byte or one event a minute would occupy its slot for days.
 */
export const MIN_BYTES_PER_SECOND = 256;

/**
 * Ends an answer when its upstream is silent or sends no content, or when its reader has stopped reading. Recording a byte
 * costs one clock read. A timer checks the limits from time to time, and each check sets the time of the next one.
 */
export class StallDetector {
  readonly #now: () => number;
  readonly #limits: StallLimits;
  readonly #onStall: (reason: StallReason) => void;
  /** The timer of the next check. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastActivityAt: number;
  /** When the attempt began, or the stream's last content arrived. */
  #contentAt: number;
  #hasFirstByte = false;
  /** Since when a write waits for the reader without any byte being taken; 0: no write waits. */
  #blockedSince = 0;
  /** When the current or the last write began. */
  #writeBeganAt = 0;
  /** When the last write ended. */
  #lastWriteEndAt: number;
  /**
   * How long the reader has blocked writes, milliseconds, minus credit for the bytes it took and for the time between
   * writes.
   */
  #readerDebtMs = 0;

  constructor(limits: StallLimits, now: () => number, onStall: (reason: StallReason) => void) {
    this.#limits = limits;
    this.#now = now;
    this.#onStall = onStall;
    this.#lastActivityAt = now();
    this.#contentAt = this.#lastActivityAt;
    this.#lastWriteEndAt = this.#lastActivityAt;
  }

  /** Begins an attempt, which may have several turns. */
  beginAttempt(): void {
    this.#contentAt = this.#now();
  }

  /** Begins a turn, and waits for the upstream's first byte. */
  beginTurn(): void {
    this.#hasFirstByte = false;
    this.#blockedSince = 0;
    this.#lastActivityAt = this.#now();
    this.#scheduleCheck();
  }

  /** Records a byte of the upstream. Returns the current time, milliseconds since the epoch. */
  recordData(): number {
    this.#lastActivityAt = this.#now();
    this.#hasFirstByte = true;
    return this.#lastActivityAt;
  }

  /**
   * Records that the last byte was content of a stream. Not used for a complete answer, which counts as one piece of
   * content.
   */
  recordContent(): void {
    this.#contentAt = this.#lastActivityAt;
  }

  /** Begins a write to the caller. The upstream's silence does not count until the write ends. */
  beginWrite(): void {
    const now = this.#now();
    if (this.#blockedSince === 0) {
      this.#writeBeganAt = now;
      this.#reduceDebt(now - this.#lastWriteEndAt);
    } else this.#readerDebtMs += now - this.#blockedSince;
    this.#blockedSince = now;
  }

  /** Records that the reader has taken `bytes` bytes of the current write. */
  recordRead(bytes: number): void {
    if (this.#blockedSince === 0) return;
    const now = this.#now();
    this.#readerDebtMs += now - this.#blockedSince;
    this.#blockedSince = now;
    this.#reduceDebt((bytes * 1000) / MIN_BYTES_PER_SECOND);
  }

  /** Ends the write. */
  endWrite(): void {
    this.#blockedSince = 0;
    this.#lastActivityAt = this.#now();
    // The time of the write does not count against the upstream.
    this.#contentAt += this.#lastActivityAt - this.#writeBeganAt;
    this.#lastWriteEndAt = this.#lastActivityAt;
  }

  /** Ends the answer because its reader has stopped. For a piped answer, whose writes cannot be observed. */
  reportStalledReader(): void {
    this.stop();
    this.#onStall("stalled-reader");
  }

  #reduceDebt(milliseconds: number): void {
    this.#readerDebtMs = Math.max(0, this.#readerDebtMs - milliseconds);
  }

  /** Stops all checks. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** When the next limit will be exceeded, if nothing happens. */
  #nextDeadline(): number {
    if (this.#blockedSince > 0) return this.#blockedSince + this.#limits.idleMs - this.#readerDebtMs;
    const { firstByteMs, idleMs } = this.#limits;
    return Math.min(
      this.#lastActivityAt + (this.#hasFirstByte ? idleMs : firstByteMs),
      this.#answerDeadline(),
    );
  }

  #answerDeadline(): number {
    return this.#contentAt + this.#limits.answerMs;
  }

  /** Schedules the next check; at most one is pending. Checks are frequent enough for every limit that may apply next. */
  #scheduleCheck(): void {
    clearTimeout(this.#timer);
    const now = this.#now();
    const nextCheckAt = Math.min(this.#nextDeadline(), now + this.#limits.idleMs / 2);
    // Runtimes truncate fractions of milliseconds.
    this.#timer = setTimeout(() => this.#check(), Math.ceil(nextCheckAt - now));
  }

  #check(): void {
    const now = this.#now();
    if (now < this.#nextDeadline()) {
      this.#scheduleCheck();
      return;
    }
    this.stop();
    if (this.#blockedSince > 0) this.#onStall("stalled-reader");
    else if (!this.#hasFirstByte) this.#onStall("first-byte");
    else this.#onStall(now < this.#answerDeadline() ? "idle" : "no-answer");
  }
}
