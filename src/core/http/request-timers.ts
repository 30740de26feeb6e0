/**
 * Maximum delay of the native timer, milliseconds. A lease's first heartbeat is the first deadline of most requests: until
 * then one timer serves all later ones. It also limits how long a clock change can postpone a deadline.
 */
const MAX_TIMER_MS = 500;

/** A native timer may fire this much early by the clock, milliseconds. */
const EARLY_MS = 1;

/** If a timer is later than this, milliseconds, the machine was suspended, or the clock was set. */
const LATE_MS = 1_000;

interface Deadline {
  readonly due: number;
  readonly work: () => void;
}

/**
 * The deadlines of one request behind a single native timer: on Workers a timer belongs to the request that set it.
 * Cancelling a deadline does not touch the timer, so that most requests set it once and clear it once.
 *
 * This class exists for changes of the clock, not for speed. The clock may be set, even by hours: deadlines then neither fire
 * all at once nor wait for hours.
 */
export class RequestTimers {
  readonly #clock: () => number;
  /** Sorted by time; equal times in the order of creation. */
  readonly #deadlines: Deadline[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the native timer is due; infinite: it is not set. */
  #timerDue = Number.POSITIVE_INFINITY;
  /** Correction that is added to the clock after it was set. */
  #clockCorrection = 0;
  /** The latest time seen. */
  #latestTime = Number.NEGATIVE_INFINITY;
  /** Deadlines are running; the timer is set afterwards. */
  #isFiring = false;
  #hasEnded = false;

  /** `clock` returns milliseconds from any origin. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /**
   * Runs `work` once after `ms` milliseconds, at least one. Its error reaches the runtime's handler for timer errors after
   * all due work has run.
   *
   * @returns a function that cancels `work`, if it has not run yet
   */
  runAfter(ms: number, work: () => void): () => void {
    const now = this.#correctTime(this.#latestTime, this.#latestTime);
    const wait = Math.max(1, ms);
    const deadline = { due: now + wait, work };
    const laterIndex = this.#deadlines.findIndex(({ due }) => due > deadline.due);
    this.#deadlines.splice(laterIndex === -1 ? this.#deadlines.length : laterIndex, 0, deadline);
    if (!this.#isFiring && deadline.due < this.#timerDue) this.#arm(wait, now);
    return () => this.#cancel(deadline);
  }

  /**
   * Marks the request as ended: from now on the native timer is cleared as soon as no deadline is left. Background work
   * keeps its deadlines and may add others.
   */
  end(): void {
    this.#hasEnded = true;
    this.#disarm();
  }

  #cancel(deadline: Deadline): void {
    const at = this.#deadlines.indexOf(deadline);
    if (at !== -1) this.#deadlines.splice(at, 1);
    if (this.#hasEnded) this.#disarm();
  }

  #disarm(): void {
    if (this.#timer === undefined || this.#deadlines.length > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerDue = Number.POSITIVE_INFINITY;
  }

  #arm(ms: number, now: number): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    // Runtimes truncate fractions of milliseconds.
    const wait = Math.max(1, Math.min(MAX_TIMER_MS, Math.ceil(ms)));
    this.#timerDue = now + wait;
    this.#timer = setTimeout(() => this.#fire(), wait);
  }

  #fire(): void {
    // If the machine was suspended instead, overdue work runs now: it may be a heartbeat.
    const now = this.#correctTime(
      Math.max(this.#latestTime, this.#timerDue - EARLY_MS),
      this.#timerDue + MAX_TIMER_MS,
    );
    this.#timer = undefined;
    this.#timerDue = Number.POSITIVE_INFINITY;
    this.#isFiring = true;
    try {
      this.#run(now);
    } finally {
      this.#isFiring = false;
      const [next] = this.#deadlines;
      if (next !== undefined) {
        const correctedNow = this.#correctTime(this.#latestTime, this.#latestTime);
        this.#arm(next.due - correctedNow, correctedNow);
      }
    }
  }

  /** Runs all due work, even if some of it throws. */
  #run(now: number): void {
    const [next] = this.#deadlines;
    if (next === undefined || next.due > now) return;
    this.#deadlines.shift();
    try {
      next.work();
    } finally {
      this.#run(now);
    }
  }

  /**
   * The corrected time. If the clock was set back, it is `least`. If the clock is far beyond the native timer's due time,
   * because it was set forwards, it is `jumped`.
   */
  #correctTime(least: number, jumped: number): number {
    const measured = this.#clock() + this.#clockCorrection;
    const now = measured < least ? least : measured > this.#timerDue + LATE_MS ? jumped : measured;
    this.#clockCorrection += now - measured;
    this.#latestTime = now;
    return now;
  }
}
