/** Minimum rate of a body: this many received bytes extend the deadline by a second. */
const MIN_BYTES_PER_SECOND = 65_536;

/** Limits how long a body may take to arrive. Received bytes extend the limit. */
export class BodyDeadline {
  readonly #onTimeout: () => void;
  #timer: ReturnType<typeof setTimeout>;
  /** Bytes that have not extended the deadline yet. */
  #bytes = 0;
  #isOver = false;

  /**
   * @param ms initial time limit, also for an empty body
   * @param onTimeout called once, when the time is over
   */
  constructor(ms: number, onTimeout: () => void) {
    this.#onTimeout = onTimeout;
    this.#timer = setTimeout(() => this.#check(), ms);
  }

  /** Whether the time is over. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Records received bytes. */
  addReceived(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Stops the clock: the body is complete or no longer needed. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #check(): void {
    const seconds = Math.floor(this.#bytes / MIN_BYTES_PER_SECOND);
    if (seconds === 0) {
      this.#isOver = true;
      this.#onTimeout();
      return;
    }
    this.#bytes -= seconds * MIN_BYTES_PER_SECOND;
    this.#timer = setTimeout(() => this.#check(), seconds * 1000);
  }
}
