/** A client may take a second longer for each so many bytes that came. */
const BYTES_A_SECOND = 65_536;

/** Bounds how long a body takes to come: some time, and longer the more of it has come. */
export class BodyClock {
  readonly #stalled: () => void;
  #timer: ReturnType<typeof setTimeout>;
  /** Bytes that no time was given for yet. */
  #bytes = 0;
  #over = false;

  /** `stalled` is called once, when the time is over. `ms` is the time that even an empty body has. */
  constructor(ms: number, stalled: () => void) {
    this.#stalled = stalled;
    this.#timer = setTimeout(() => this.#look(), ms);
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
    clearTimeout(this.#timer);
  }

  #look(): void {
    const seconds = Math.floor(this.#bytes / BYTES_A_SECOND);
    if (seconds === 0) {
      this.#over = true;
      this.#stalled();
      return;
    }
    this.#bytes -= seconds * BYTES_A_SECOND;
    this.#timer = setTimeout(() => this.#look(), seconds * 1000);
  }
}
