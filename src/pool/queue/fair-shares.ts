import { FairShare, type FairShareOwner } from "./fair-share.ts";
import type { Waiter } from "./waiter.ts";

/** The shares of all callers that hold or request slots. */
export class FairShares implements FairShareOwner<Waiter> {
  readonly #shares = new Map<string, FairShare<Waiter>>();
  /** Shares with waiting requests. */
  readonly waitingShares = new Set<FairShare<Waiter>>();

  getOrCreate(caller: string): FairShare<Waiter> {
    let share = this.#shares.get(caller);
    if (share === undefined) {
      share = new FairShare<Waiter>(caller, this);
      this.#shares.set(caller, share);
    }
    return share;
  }

  /** Deletes a share that has become empty. */
  deleteIfEmpty(share: FairShare<Waiter>): void {
    if (share.occupiedSlots > 0 || share.waiters.size > 0) return;
    // A request held outside of the queue may reference an older share of the same caller.
    if (this.#shares.get(share.caller) === share) this.#shares.delete(share.caller);
  }

  /**
   * Selects the request to evict from a full queue in favour of one more request of `share`: the newest waiting request of
   * the caller with the most. It must still have at least as many as the other caller afterwards. Null: none.
   */
  findWaiterToEvict(share: FairShare<Waiter>): Waiter | null {
    let most = share.waiters.size + 1;
    let newest: Waiter | null = null;
    for (const { waiters } of this.waitingShares) {
      if (waiters.size < most || waiters.size === share.waiters.size + 1) continue;
      const last = [...waiters].reduce((a, b) => (b.serial > a.serial ? b : a));
      if (waiters.size > most || newest === null || last.serial > newest.serial) newest = last;
      most = waiters.size;
    }
    return newest;
  }
}
