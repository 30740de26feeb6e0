import { withTimeout } from "../../core/ports/clock.ts";

/** How long requests have at a shutdown to tell their callers that they end early, milliseconds: counts wait two seconds. */
const LAST_WORDS_MS = 4_000;

/**
 * Tracks the work in progress of this process: requests, streams and their background work. A shutdown waits for it, and
 * accepts no new work.
 */
export class InFlightWork {
  readonly #work = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Ends requests early. */
  readonly #ends = new Set<() => void>();

  /** Aborted when a shutdown begins. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get isClosing(): boolean {
    return this.closing.aborted;
  }

  /** Adds work that a shutdown waits for, whether it succeeds or fails. */
  add(work: Promise<unknown>): void {
    const settled: Promise<void> = work.then(
      () => this.#forget(settled),
      () => this.#forget(settled),
    );
    this.#work.add(settled);
  }

  /** Calls `end` if a shutdown no longer waits for `request`. */
  beforeEnd(end: () => void, request: Promise<unknown>): void {
    this.#ends.add(end);
    const forget = () => this.#ends.delete(end);
    request.then(forget, forget);
  }

  /**
   * Accepts nothing new from now on. Resolves with true when all work has ended; with false if it has not after `ms`
   * milliseconds, and requests were ended early.
   */
  async drain(ms: number): Promise<boolean> {
    this.#closing.abort();
    const isDone = (await withTimeout(this.#allDone(), ms)) === true;
    if (isDone) return true;
    for (const end of this.#ends) end();
    await withTimeout(this.#allDone(), LAST_WORDS_MS);
    return false;
  }

  #forget(settled: Promise<void>): void {
    this.#work.delete(settled);
  }

  async #allDone(): Promise<true> {
    // Ending work may have started more work, such as writing the history of a stream.
    while (this.#work.size > 0) await Promise.all(this.#work);
    return true;
  }
}
