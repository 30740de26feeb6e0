/**
 * What is under way in this process: requests, streams and the work behind them. A shutdown waits for it, and takes
 * nothing new.
 */
export class InFlight {
  readonly #work = new Set<Promise<void>>();
  #closing = false;

  /** Whether the process is about to end. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Work that a shutdown waits for, whatever comes of it. */
  add(work: Promise<unknown>): void {
    const settled: Promise<void> = work.then(
      () => this.#forget(settled),
      () => this.#forget(settled),
    );
    this.#work.add(settled);
  }

  /** Takes nothing new from now on. Resolves when nothing is under way; false when that took longer than `ms`. */
  async drain(ms: number): Promise<boolean> {
    this.#closing = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    try {
      return await Promise.race([this.#allDone(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #forget(settled: Promise<void>): void {
    this.#work.delete(settled);
  }

  async #allDone(): Promise<true> {
    // What ends may have begun something else, such as the history of a stream.
    while (this.#work.size > 0) await Promise.all(this.#work);
    return true;
  }
}
