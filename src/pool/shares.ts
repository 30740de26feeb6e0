import { LinkedList } from "./linked-list.ts";
import type { Waiter } from "./waiting-queue.ts";

/** What one caller holds and waits for. */
export class Share {
  readonly caller: string;
  /** Where it is kept. */
  readonly among: Shares;
  /** Slots held. */
  held = 0;
  /** Serial number of the newest lease; 0: none since it last held or wanted anything. */
  served = 0;
  /** All its waiting requests, in order of arrival. */
  readonly waiters = new Set<Waiter>();
  /** Those of them that any account would do for. */
  readonly any = new LinkedList<Waiter>();

  constructor(caller: string, among: Shares) {
    this.caller = caller;
    this.among = among;
  }
}

/** The shares of all callers that hold or want slots. */
export class Shares {
  readonly #shares = new Map<string, Share>();
  /** Those that have waiting requests. */
  readonly waiting = new Set<Share>();

  of(caller: string): Share {
    let share = this.#shares.get(caller);
    if (share === undefined) {
      share = new Share(caller, this);
      this.#shares.set(caller, share);
    }
    return share;
  }

  /** To be called when a share may have become empty. */
  forget(share: Share): void {
    if (share.held > 0 || share.waiters.size > 0) return;
    // A request that waits outside of the queue may have one from before.
    if (this.#shares.get(share.caller) === share) this.#shares.delete(share.caller);
  }

  /**
   * The newest waiting request of the caller that has most of them, if it has to give way in a full queue to one more of
   * `share`: only who would still have as many as the other gives way.
   */
  surplus(share: Share): Waiter | null {
    let most = share.waiters.size + 1;
    let newest: Waiter | null = null;
    for (const { waiters } of this.waiting) {
      if (waiters.size < most || waiters.size === share.waiters.size + 1) continue;
      const last = [...waiters].at(-1);
      if (last === undefined) continue;
      if (waiters.size > most || newest === null || last.serial > newest.serial) newest = last;
      most = waiters.size;
    }
    return newest;
  }
}
