/**
 * While a deadline waits the native timer goes off at least so often, milliseconds. What waits first is a lease's first beat: up to then one
 * timer does for whatever else is set before it. And no clock that is set puts a deadline off for longer.
 */
const LOOK_MS = 500;

/** By the clock a native timer may go off so much before its time, milliseconds. */
const EARLY_MS = 1;

/** One that is later than this has stood still with the machine, or the clock was set: milliseconds. */
const LATE_MS = 1_000;

interface Deadline {
  readonly due: number;
  readonly work: () => void;
}

/**
 * The deadlines of one request, all behind one native timer: on Workers a timer belongs to the request that set it. A deadline that
 * is cancelled does not touch the timer, so that most requests set it once and clear it once.
 *
 * The clock may be set, also by hours: what waits then neither comes at once nor waits for hours.
 */
export class RequestTimers {
  readonly #clock: () => number;
  /** The soonest first; those of one moment as they were set. */
  readonly #deadlines: Deadline[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the native timer is to go off; infinite: there is none. */
  #armedFor = Number.POSITIVE_INFINITY;
  /** How far the time is ahead of the clock, which was set. */
  #ahead = 0;
  /** The latest time that was seen. */
  #seen = Number.NEGATIVE_INFINITY;
  /** Deadlines are being seen to: the timer is set behind them. */
  #firing = false;
  #ended = false;

  /** `clock` tells milliseconds since whenever. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /**
   * Runs `work` once in so many milliseconds, at least one. What it throws goes to whoever hears of errors in timers, once all that
   * is due has run.
   *
   * @returns Keeps `work` from being run; of no effect when it was.
   */
  after(ms: number, work: () => void): () => void {
    const now = this.#now(this.#seen, this.#seen);
    const wait = Math.max(1, ms);
    const deadline = { due: now + wait, work };
    const later = this.#deadlines.findIndex(({ due }) => due > deadline.due);
    this.#deadlines.splice(later === -1 ? this.#deadlines.length : later, 0, deadline);
    if (!this.#firing && deadline.due < this.#armedFor) this.#arm(wait, now);
    return () => this.#cancel(deadline);
  }

  /**
   * The request is over: from now on no native timer is left where no deadline is. Work that goes on behind the answer keeps its
   * deadlines, and may set others.
   */
  end(): void {
    this.#ended = true;
    this.#disarm();
  }

  #cancel(deadline: Deadline): void {
    const at = this.#deadlines.indexOf(deadline);
    if (at !== -1) this.#deadlines.splice(at, 1);
    if (this.#ended) this.#disarm();
  }

  #disarm(): void {
    if (this.#timer === undefined || this.#deadlines.length > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  #arm(ms: number, now: number): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    // Runtimes cut off parts of milliseconds.
    const wait = Math.max(1, Math.min(LOOK_MS, Math.ceil(ms)));
    this.#armedFor = now + wait;
    this.#timer = setTimeout(() => this.#fire(), wait);
  }

  #fire(): void {
    // Where everything stood still instead, what was due meanwhile waits no longer: that may be a beat.
    const now = this.#now(Math.max(this.#seen, this.#armedFor - EARLY_MS), this.#armedFor + LOOK_MS);
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#firing = true;
    try {
      this.#run(now);
    } finally {
      this.#firing = false;
      const [next] = this.#deadlines;
      if (next !== undefined) {
        const then = this.#now(this.#seen, this.#seen);
        this.#arm(next.due - then, then);
      }
    }
  }

  /** Runs what is due, also behind what throws. */
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
   * The time. It is `least` where the clock says less, for it was set back; and `jumped` where the clock is far beyond the time for which
   * the native timer is set, for it was set forwards.
   */
  #now(least: number, jumped: number): number {
    const said = this.#clock() + this.#ahead;
    const now = said < least ? least : said > this.#armedFor + LATE_MS ? jumped : said;
    this.#ahead += now - said;
    this.#seen = now;
    return now;
  }
}
