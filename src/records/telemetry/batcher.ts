/** What a {@link Batcher} sends, and when. */
export interface BatcherOptions {
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** How long what waits now may wait for more of it, milliseconds. Also the least time between two batches. */
  readonly getDelayMs: () => number;
  /** Whether nothing waits. */
  readonly isEmpty: () => boolean;
  /**
   * Sends everything that waits. Never throws: what could not be sent waits again.
   *
   * @returns whether the request that sends must try again, because no later request may come that would send the rest
   */
  readonly send: () => Promise<boolean>;
  /** Limit of requests that wait to send a batch. One would be enough, but it may die. */
  readonly maxWaiters: number;
  /** A batch that takes longer than this belongs to a request that died, milliseconds. */
  readonly stuckMs: number;
  /** How long a request tries again, milliseconds. */
  readonly retryMs: number;
  /** Longest pause between two checks whether another request has sent the batch, milliseconds. */
  readonly pollMs: number;
}

/** Least pause between two checks, milliseconds. */
const MIN_POLL_MS = 20;

/**
 * Decides which request sends what the requests of an isolate have collected, and when.
 *
 * A timer lives only as long as the request that set it. So each request waits until its own reports are sent. The first
 * request whose timer fires sends the reports of all. Once a few requests wait for the same batch, further ones do not wait.
 */
export class Batcher {
  readonly #options: BatcherOptions;
  /** Number of the batch being filled. */
  #batchNumber = 0;
  /** Number of requests that wait for that batch. */
  #waiters = 0;
  #awaitedSince = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #isSending = false;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /**
   * Resolves when everything that waits now is sent, by any request; null if enough other requests wait for that. Never
   * rejects. Pass it to `waitUntil`.
   */
  waitUntilSent(): Promise<void> | null {
    const { now, maxWaiters, stuckMs } = this.#options;
    const startedAt = now();
    if (this.#waiters === 0) this.#awaitedSince = startedAt;
    if (this.#waiters >= maxWaiters && startedAt - this.#awaitedSince < stuckMs) return null;
    this.#waiters += 1;
    return this.#wait(startedAt);
  }

  async #wait(startedAt: number): Promise<void> {
    const { now, sleep, isEmpty, getDelayMs, stuckMs, retryMs, pollMs } = this.#options;
    let waitStart = startedAt;
    let awaitedBatch = this.#batchNumber;
    while (this.#batchNumber === awaitedBatch && !isEmpty()) {
      // A clock may be set back.
      waitStart = Math.min(waitStart, now());
      this.#sentAt = Math.min(this.#sentAt, now());
      const dueAt = Math.max(this.#sentAt, waitStart) + getDelayMs();
      const isBusy = this.#isSending && now() - this.#sentAt < stuckMs;
      if (now() >= dueAt && !isBusy) {
        const mustRetry = await this.#send();
        if (!mustRetry || now() - startedAt > retryMs) return;
        awaitedBatch = this.#batchNumber;
        this.#waiters += 1;
        waitStart = now();
        continue;
      }
      await sleep(Math.max(Math.min(dueAt - now(), pollMs), MIN_POLL_MS));
    }
  }

  async #send(): Promise<boolean> {
    this.#isSending = true;
    this.#sentAt = this.#options.now();
    this.#batchNumber += 1;
    this.#waiters = 0;
    try {
      return await this.#options.send();
    } finally {
      this.#isSending = false;
    }
  }
}
