import type { PoolStore } from "./pool-store.ts";

/**
 * The isolates that hold leases for long, by the names that they gave themselves. Storage knows each of them, and nothing of
 * its leases: a restarted pool waits for a sign of life from those, and for nobody else. A name is written when the first
 * lease of an isolate has lived for a while, and dropped with its last one.
 */
export class Isolates {
  readonly #store: PoolStore;
  /** Long leases of each. */
  readonly #leases = new Map<string, number>();
  /** Those from before the restart that may still have leases which they did not take over. */
  readonly #awaited: Set<string>;

  constructor(store: PoolStore) {
    this.#store = store;
    this.#awaited = new Set(store.loadIsolates());
  }

  /** Whether an isolate from before the restart has not been heard of. */
  get awaiting(): boolean {
    return this.#awaited.size > 0;
  }

  /** An isolate holds one more lease. */
  joined(isolate: string): void {
    const leases = this.#leases.get(isolate) ?? 0;
    if (leases === 0 && !this.#awaited.has(isolate)) this.#store.addIsolate(isolate);
    this.#leases.set(isolate, leases + 1);
  }

  /** A lease of an isolate has ended. */
  left(isolate: string): void {
    const leases = (this.#leases.get(isolate) ?? 1) - 1;
    if (leases > 0) {
      this.#leases.set(isolate, leases);
      return;
    }
    this.#leases.delete(isolate);
    if (!this.#awaited.has(isolate)) this.#store.removeIsolate(isolate);
  }

  /** An isolate has no leases from before the restart any more. True when it was the last one that was awaited. */
  settled(isolate: string): boolean {
    if (!this.#awaited.delete(isolate)) return false;
    if (!this.#leases.has(isolate)) this.#store.removeIsolate(isolate);
    return this.#awaited.size === 0;
  }

  /** Nobody is awaited any longer. */
  giveUp(): void {
    for (const isolate of [...this.#awaited]) this.settled(isolate);
  }
}
