import { onAbort } from "../../core/http/abort-signals.ts";
import { clientDisconnected } from "../../core/http/client-disconnect.ts";

interface PendingWork<T> {
  readonly result: Promise<T>;
  readonly unneeded: AbortController;
  /** Callers that wait for the result. */
  waiting: number;
}

/** Pending work by key, which equal callers share. Work learns when the last of its callers has left. */
export class AwaitedWork<T> {
  readonly #pending = new Map<string, PendingWork<T>>();

  /** The result of the pending work of a key; undefined: none. Who takes it does not count as waiting. */
  get(key: string): Promise<T> | undefined {
    return this.#pending.get(key)?.result;
  }

  /**
   * The pending work of a key, or new work.
   *
   * @param signal aborts when this caller leaves; without it the caller stays
   * @param start its signal aborts when all callers have left
   */
  join(
    key: string,
    signal: AbortSignal | undefined,
    start: (unneeded: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(clientDisconnected());
    const work = this.#pending.get(key) ?? this.#start(key, start);
    work.waiting++;
    if (signal === undefined) return work.result;
    const stopListening = onAbort(signal, () => {
      work.waiting--;
      if (work.waiting > 0) return;
      // The next caller needs new work.
      this.#remove(key, work);
      work.unneeded.abort();
    });
    return work.result.finally(stopListening);
  }

  #start(key: string, start: (unneeded: AbortSignal) => Promise<T>): PendingWork<T> {
    const unneeded = new AbortController();
    const result = start(unneeded.signal).finally(() => this.#remove(key, work));
    const work: PendingWork<T> = { result, unneeded, waiting: 0 };
    this.#pending.set(key, work);
    return work;
  }

  #remove(key: string, work: PendingWork<T>): void {
    if (this.#pending.get(key) === work) this.#pending.delete(key);
  }
}
