import type { StoredSum, StoredUse, UseStore } from "./store.ts";

/**
 * Batches the writes of several requests, because each separate write costs a commit. Effects of a request may be visible
 * outside only once {@link whenStored} has resolved.
 */
export class GatheredUseStore implements UseStore {
  readonly #store: UseStore;
  readonly #transaction: (work: () => void) => void;
  /** Pending writes by request id; null: delete it. */
  #news = new Map<string, StoredUse | null>();
  /** Those of them that the store does not contain yet. */
  #fresh = new Set<string>();
  #writing: Promise<void> | null = null;

  /**
   * @param transaction runs `work` so that all of its writes happen or none
   */
  constructor(store: UseStore, transaction: (work: () => void) => void) {
    this.#store = store;
    this.#transaction = transaction;
  }

  /**
   * Resolves when everything up to now is written; null: it is already. Changes in the same turn of the event loop are
   * written together. Rejects with the store's error.
   */
  kept(): Promise<void> | null {
    return this.#writing;
  }

  #note(id: string, use: StoredUse | null): void {
    this.#news.set(id, use);
    if (this.#writing !== null) return;
    this.#writing = this.#write();
    // Callers of `whenStored` see the error; the next write tries again.
    this.#writing.catch(() => undefined);
  }

  async #write(): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    this.#writing = null;
    this.writeNow();
  }

  writeNow(): void {
    const news = this.#news;
    if (news.size === 0) return;
    this.#transaction(() => {
      for (const [id, use] of news) {
        if (use === null) this.#store.removeUse(id);
        else this.#store.saveUse(use, this.#fresh.has(id));
      }
    });
    this.#news = new Map();
    this.#fresh = new Set();
  }

  loadUses(): Iterable<StoredUse> {
    this.writeNow();
    return this.#store.loadUses();
  }

  saveUse(use: StoredUse, isNew: boolean): void {
    if (isNew) this.#fresh.add(use.id);
    this.#note(use.id, use);
  }

  removeUse(id: string): void {
    // While the storage fails, requests may begin and end without ever being stored.
    if (this.#fresh.delete(id)) this.#news.delete(id);
    else this.#note(id, null);
  }

  loadSums(): Iterable<StoredSum> {
    return this.#store.loadSums();
  }

  fold(horizon: number, sums: readonly StoredSum[]): void {
    this.writeNow();
    this.#store.fold(horizon, sums);
  }
}
