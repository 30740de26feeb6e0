import { withTimeout } from "../../core/ports/clock.ts";

/**
 * Tracks the work in progress of this process: requests, streams and their background work. A shutdown waits for it, and
 * accepts no new work.
 */
export class InFlightWork {
  readonly #work = new Set<Promise<void>>();
  readonly #closing = new AbortController();

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

  /** Accepts nothing new from now on. Resolves with true when all work has ended, with false after `ms` milliseconds. */
  async drain(ms: number): Promise<boolean> {
    this.#closing.abort();
    return (await withTimeout(this.#allDone(), ms)) === true;
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
