import type { AccountState } from "./account-state.ts";
import type { FairShares } from "./fair-shares.ts";
import { LinkedList } from "./linked-list.ts";
import type { Rotation } from "./rotation.ts";
import type { FairShare, Waiter } from "./waiter.ts";

/**
 * All requests that wait for accounts of one provider, with fair queuing between callers. The next request belongs to the
 * caller that holds the fewest slots; among equals, to the caller that was served longest ago. The requests of one caller
 * are served in order of arrival, but a request pinned to a busy account does not block the ones behind it.
 */
export class FairQueue {
  size = 0;
  /** Number of waiting requests that exclude accounts after a failure. */
  #excludingCount = 0;
  readonly #fairShares: FairShares;
  /** Requests pinned to an account, in order of arrival. Accounts without such requests are absent. */
  readonly #pinned = new Map<AccountState, LinkedList<Waiter>>();
  /** Accounts that have both a free slot and a pinned request. */
  readonly #runnable = new Set<AccountState>();

  constructor(fairShares: FairShares) {
    this.#fairShares = fairShares;
  }

  add(waiter: Waiter, rotation: Rotation): void {
    const { fairShare, target } = waiter;
    this.size += 1;
    if (waiter.exclude !== null) this.#excludingCount += 1;
    fairShare.waiters.add(waiter);
    this.#fairShares.waitingShares.add(fairShare);
    if (target === null) {
      fairShare.untargetedWaiters.push(waiter);
      return;
    }
    this.#pin(waiter, target);
    this.updateRunnable(target, rotation);
  }

  remove(waiter: Waiter, rotation: Rotation): void {
    if (waiter.list === null) return;
    const { fairShare, target } = waiter;
    waiter.list.remove(waiter);
    this.size -= 1;
    if (waiter.exclude !== null) this.#excludingCount -= 1;
    fairShare.waiters.delete(waiter);
    if (fairShare.waiters.size === 0) this.#fairShares.waitingShares.delete(fairShare);
    if (target === null) return;
    if (this.#pinned.get(target)?.size === 0) this.#pinned.delete(target);
    this.updateRunnable(target, rotation);
  }

  /** The requests pinned to an account, in order of arrival. */
  pinnedTo(state: AccountState): readonly Waiter[] {
    return [...(this.#pinned.get(state) ?? [])];
  }

  #pin(waiter: Waiter, target: AccountState): void {
    const waiters = this.#pinned.get(target) ?? new LinkedList<Waiter>();
    waiters.push(waiter);
    this.#pinned.set(target, waiters);
  }

  /** Must be called after each change of an account's slots or pinned requests. */
  updateRunnable(state: AccountState, rotation: Rotation): void {
    if (this.#pinned.has(state) && rotation.hasFreeSlot(state)) this.#runnable.add(state);
    else this.#runnable.delete(state);
  }

  /** The next request among those that can run now, with its account. */
  next(rotation: Rotation): { waiter: Waiter; state: AccountState } | null {
    let next: { waiter: Waiter; state: AccountState } | null = null;
    // A request without exclusions can use any available account. If there is none for it, there is none for the others
    // either, except accounts with an exhausted half-open budget.
    if (rotation.pickAccount(null) !== null || (this.#excludingCount > 0 && rotation.hasBudgetExhausted)) {
      for (const fairShare of this.#fairShares.waitingShares) {
        const { head } = fairShare.untargetedWaiters;
        if (head === null || (next !== null && !precedes(head, next.waiter))) continue;
        next = firstRunnable(fairShare, rotation) ?? next;
      }
    }
    for (const state of this.#runnable) {
      for (const waiter of this.#pinned.get(state) ?? []) {
        if (next === null || precedes(waiter, next.waiter)) next = { waiter, state };
      }
    }
    return next;
  }

  /** Waiting requests in order of arrival. */
  list(): Waiter[] {
    return [...this.#fairShares.waitingShares]
      .flatMap(({ waiters }) => [...waiters])
      .sort((a, b) => a.serial - b.serial);
  }
}

/** Whether `first` is served before `second` if both can run. */
function precedes(first: Waiter, second: Waiter): boolean {
  if (first.fairShare === second.fairShare) return first.serial < second.serial;
  const { fairShare: firstShare } = first;
  const { fairShare: secondShare } = second;
  if (firstShare.occupiedSlots !== secondShare.occupiedSlots)
    return firstShare.occupiedSlots < secondShare.occupiedSlots;
  return firstShare.lastServedSerial === secondShare.lastServedSerial
    ? first.serial < second.serial
    : firstShare.lastServedSerial < secondShare.lastServedSerial;
}

/** The caller's oldest request for which an account is available, with that account. */
function firstRunnable(
  fairShare: FairShare,
  rotation: Rotation,
): { waiter: Waiter; state: AccountState } | null {
  for (const waiter of fairShare.untargetedWaiters) {
    const state = rotation.pickAccount(waiter.exclude, waiter.request.wellOnly);
    if (state !== null) return { waiter, state };
  }
  return null;
}
