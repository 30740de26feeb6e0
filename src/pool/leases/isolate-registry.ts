import type { PoolStore } from "../storage/pool-store.ts";

/**
 * Registry of the isolates that hold long-lived leases, by the names that they chose. Only the names are stored, not the
 * leases: a restarted pool waits for a heartbeat of these isolates only. A name is stored when the first lease of an
 * isolate has lived for a while, and removed with its last lease.
 */
export class IsolateRegistry {
  readonly #store: PoolStore;
  /** Number of long-lived leases of each isolate. */
  readonly #leases = new Map<string, number>();
  /** Isolates from before the restart that may still have leases which they have not resumed. */
  readonly #awaited: Set<string>;

  constructor(store: PoolStore) {
    this.#store = store;
    this.#awaited = new Set(store.loadIsolates());
  }

  /** Whether an isolate from before the restart has not confirmed its leases yet. */
  get isAwaiting(): boolean {
    return this.#awaited.size > 0;
  }

  /** Counts one more lease of an isolate. */
  addLease(isolate: string): void {
    const leases = this.#leases.get(isolate) ?? 0;
    if (leases === 0 && !this.#awaited.has(isolate)) this.#store.addIsolate(isolate);
    this.#leases.set(isolate, leases + 1);
  }

  /** Counts one lease less of an isolate. */
  removeLease(isolate: string): void {
    const leases = (this.#leases.get(isolate) ?? 1) - 1;
    if (leases > 0) {
      this.#leases.set(isolate, leases);
      return;
    }
    this.#leases.delete(isolate);
    if (!this.#awaited.has(isolate)) this.#store.removeIsolate(isolate);
  }

  /** An isolate has no more leases from before the restart. Returns true when it was the last awaited isolate. */
  stopAwaiting(isolate: string): boolean {
    if (!this.#awaited.delete(isolate)) return false;
    if (!this.#leases.has(isolate)) this.#store.removeIsolate(isolate);
    return this.#awaited.size === 0;
  }

  /** Stops waiting for all isolates. */
  stopAwaitingAll(): void {
    for (const isolate of [...this.#awaited]) this.stopAwaiting(isolate);
  }
}
