import type { StoredSum, StoredUse, UseStore } from "./use-store.ts";

/**
 * Batches the writes of several requests, because each separate write costs a commit. Effects of a request may be visible
 * outside only once {@link whenStored} has resolved.
 */
export class BatchedUseStore implements UseStore {
  readonly #store: UseStore;
  readonly #transaction: (work: () => void) => void;
  /** Pending writes by request id; null: delete it. */
  #pending = new Map<string, StoredUse | null>();
  /** Ids of pending writes that the store does not contain yet. */
  #newIds = new Set<string>();
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
  whenStored(): Promise<void> | null {
    return this.#writing;
  }

  #enqueue(id: string, use: StoredUse | null): void {
    this.#pending.set(id, use);
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
    const pending = this.#pending;
    if (pending.size === 0) return;
    this.#transaction(() => {
      for (const [id, use] of pending) {
        if (use === null) this.#store.removeUse(id);
        else this.#store.saveUse(use, this.#newIds.has(id));
      }
    });
    this.#pending = new Map();
    this.#newIds = new Set();
  }

  loadUses(): Iterable<StoredUse> {
    this.writeNow();
    return this.#store.loadUses();
  }

  saveUse(use: StoredUse, isNew: boolean): void {
    if (isNew) this.#newIds.add(use.id);
    this.#enqueue(use.id, use);
  }

  removeUse(id: string): void {
    // While the storage fails, requests may begin and end without ever being stored.
    if (this.#newIds.delete(id)) this.#pending.delete(id);
    else this.#enqueue(id, null);
  }

  loadSums(): Iterable<StoredSum> {
    return this.#store.loadSums();
  }

  fold(cutoff: number, sums: readonly StoredSum[]): void {
    this.writeNow();
    this.#store.fold(cutoff, sums);
  }
}
