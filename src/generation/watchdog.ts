import type { RequestTimers } from "../http/request-timers.ts";

/** Which silence a {@link Watchdog} measures. */
export type Silence = "first-byte" | "idle" | "stalled-reader";

/**
 * Bytes a second that a reader must take, on average over the time in which something waits for it: less than any tongue or
 * eye takes in, as events go. One that takes a byte or an event a minute would otherwise keep its slot for days.
 */
const MIN_BYTES_PER_SECOND = 256;

/**
 * Ends a stream whose upstream has fallen silent, or whose reader has stopped reading. Noting a byte costs one clock
 * read: it is looked after every now and then, and each look says when the next one is.
 */
export class Watchdog {
  readonly #now: () => number;
  readonly #limits: { readonly firstByteMs: number; readonly idleMs: number };
  readonly #bark: (silence: Silence) => void;
  readonly #timers: RequestTimers;
  /** Keeps the next look from being taken. */
  #cancel: (() => void) | undefined;
  #since: number;
  #heard = false;
  /** Since when something has waited for the reader without a byte being taken; 0: nothing waits. */
  #writing = 0;
  /** When the last write was through. */
  #free: number;
  /** For how long the reader has kept writes waiting by now, less what it took since is worth, and less the time between. */
  #debt = 0;

  constructor(
    limits: { firstByteMs: number; idleMs: number },
    now: () => number,
    timers: RequestTimers,
    bark: (silence: Silence) => void,
  ) {
    this.#limits = limits;
    this.#now = now;
    this.#timers = timers;
    this.#bark = bark;
    this.#since = now();
    this.#free = this.#since;
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
    return this.#since + (this.#heard ? this.#limits.idleMs : this.#limits.firstByteMs);
  }

  /** At most one look is ahead. They are often enough for whichever limit the next bark will be due by. */
  #arm(): void {
    this.#cancel?.();
    const now = this.#now();
    const soonest = Math.min(this.#due(), now + this.#limits.idleMs / 2);
    this.#cancel = this.#timers.after(soonest - now, () => this.#check());
  }

  #check(): void {
    if (this.#now() < this.#due()) {
      this.#arm();
      return;
    }
    this.stop();
    this.#bark(this.#writing > 0 ? "stalled-reader" : this.#heard ? "idle" : "first-byte");
  }
}
