/** Which silence a {@link Watchdog} measures. */
export type Silence = "first-byte" | "idle" | "stalled-reader";

/**
 * Ends a stream whose upstream has fallen silent, or whose reader has stopped reading. Noting a byte costs one clock
 * read: the timer runs for the shorter of the limits at first, and is re-armed only when it fires.
 */
export class Watchdog {
  readonly #now: () => number;
  readonly #limits: { readonly firstByteMs: number; readonly idleMs: number };
  readonly #bark: (silence: Silence) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since: number;
  #heard = false;
  /** When the pending write began; 0: none is pending. */
  #writing = 0;
  #paused = true;

  constructor(
    limits: { firstByteMs: number; idleMs: number },
    now: () => number,
    bark: (silence: Silence) => void,
  ) {
    this.#limits = limits;
    this.#now = now;
    this.#bark = bark;
    this.#since = now();
  }

  /** A turn begins: the upstream owes a first byte. */
  expect(): void {
    this.#heard = false;
    this.#writing = 0;
    this.#paused = false;
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
    this.#writing = this.#now();
  }

  written(): void {
    this.#writing = 0;
    this.#since = this.#now();
  }

  /** Nothing is owed any more. */
  stop(): void {
    this.#paused = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #limit(): number {
    return this.#heard || this.#writing > 0 ? this.#limits.idleMs : this.#limits.firstByteMs;
  }

  /** At most one timer runs. It never fires later than the next bark is due, whichever limit that will be by. */
  #arm(): void {
    clearTimeout(this.#timer);
    const since = this.#writing > 0 ? this.#writing : this.#since;
    const now = this.#now();
    const soonest = Math.min(since + this.#limit(), now + this.#limits.idleMs);
    this.#timer = setTimeout(() => this.#check(), Math.max(1, soonest - now));
  }

  #check(): void {
    if (this.#paused) return;
    const since = this.#writing > 0 ? this.#writing : this.#since;
    if (this.#now() - since < this.#limit()) {
      this.#arm();
      return;
    }
    this.stop();
    this.#bark(this.#writing > 0 ? "stalled-reader" : this.#heard ? "idle" : "first-byte");
  }
}
