import type { RequestTimers } from "../http/request-timers.ts";

/** Which silence a {@link Watchdog} measures. `no-answer`: bytes came, but no complete answer, or no content of a stream. */
export type Silence = "first-byte" | "idle" | "no-answer" | "stalled-reader";

/** Limits of an upstream, milliseconds. */
export interface WatchdogLimits {
  /** Longest silence before the first byte. */
  readonly firstByteMs: number;
  /** Longest silence within a stream, and longest time for which a reader may keep a write waiting. */
  readonly idleMs: number;
  /** Longest time for a whole answer, and longest time between two contents of a stream, whatever else arrives. */
  readonly answerMs: number;
}

/**
 * Bytes a second that a reader must take, on average over the time in which something waits for it: less than any tongue or
 * eye takes in, as events go. One that takes a byte or an event a minute would otherwise keep its slot for days.
 */
const MIN_BYTES_PER_SECOND = 256;

/**
 * Ends an answer whose upstream has fallen silent or sends no content, or whose reader has stopped reading. Noting a byte costs one clock
 * read: it is looked after every now and then, and each look says when the next one is.
 */
export class Watchdog {
  readonly #now: () => number;
  readonly #limits: WatchdogLimits;
  readonly #bark: (silence: Silence) => void;
  readonly #timers: RequestTimers;
  /** Keeps the next look from being taken. */
  #cancel: (() => void) | undefined;
  #since: number;
  /** When the attempt began, or when the stream's last content came. */
  #contentAt: number;
  #heard = false;
  /** Since when something has waited for the reader without a byte being taken; 0: nothing waits. */
  #writing = 0;
  /** When the last write was through. */
  #free: number;
  /** For how long the reader has kept writes waiting by now, less what it took since is worth, and less the time between. */
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

  /** An attempt begins, which may have several turns. */
  begin(): void {
    this.#contentAt = this.#now();
  }

  /** A turn begins: the upstream owes a first byte. */
  expect(): void {
    this.#heard = false;
    this.#writing = 0;
    this.#since = this.#now();
    this.#arm();
  }

  /** The upstream said something. Returns when, as milliseconds since the epoch. */
  heard(): number {
    this.#since = this.#now();
    this.#heard = true;
    return this.#since;
  }

  /** What the upstream just said is content of a stream. A whole answer is one content, however it arrives. */
  progress(): void {
    this.#contentAt = this.#since;
  }

  /** A write to the caller begins; the upstream's silence does not count until it is through. */
  writing(): void {
    const now = this.#now();
    if (this.#writing === 0) this.#repay(now - this.#free);
    else this.#debt += now - this.#writing;
    this.#writing = now;
  }

  /** The reader has taken so many bytes of what is being written. */
  taken(bytes: number): void {
    if (this.#writing === 0) return;
    const now = this.#now();
    this.#debt += now - this.#writing;
    this.#writing = now;
    this.#repay((bytes * 1000) / MIN_BYTES_PER_SECOND);
  }

  /** The write is through. */
  written(): void {
    this.#writing = 0;
    this.#since = this.#now();
    this.#contentAt = this.#since;
    this.#free = this.#since;
  }

  #repay(milliseconds: number): void {
    this.#debt = Math.max(0, this.#debt - milliseconds);
  }

  /** Nothing is owed any more. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** When it is to bark, as things stand. */
  #due(): number {
    if (this.#writing > 0) return this.#writing + this.#limits.idleMs - this.#debt;
    const { firstByteMs, idleMs } = this.#limits;
    return Math.min(this.#since + (this.#heard ? idleMs : firstByteMs), this.#answerDue());
  }

  #answerDue(): number {
    return this.#contentAt + this.#limits.answerMs;
  }

  /** At most one look is ahead. They are often enough for whichever limit the next bark will be due by. */
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
