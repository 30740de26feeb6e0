import type { AcquireRequest } from "../../core/ports/accounts.ts";
import type { AccountState } from "../accounts/account-state.ts";
import type { Rotation } from "../selection/rotation.ts";
import { LinkedList } from "../structures/linked-list.ts";
import type { FairShare } from "./fair-share.ts";
import type { FairShares } from "./fair-shares.ts";
import type { Waiter } from "./waiter.ts";

/** Selects an account for a request; null: none is available. `exclude`: ids of accounts that it must not get. */
export type SelectAccount = (
  request: AcquireRequest,
  exclude: ReadonlySet<string> | null,
) => AccountState | null;

/**
 * All requests that wait for accounts of one provider, with fair queuing between callers. The next request belongs to the
 * caller that holds the fewest slots; among equals, to the caller that was served longest ago. The requests of one caller
 * are served in order of arrival, but a request that awaits a busy account does not block the ones behind it.
 */
export class FairQueue {
  size = 0;
  /** Number of waiting requests that exclude accounts after a failure. */
  #excludingCount = 0;
  readonly #fairShares: FairShares;
  readonly #select: SelectAccount;
  /** Requests that await one account, in order of arrival. Accounts without such requests are absent. */
  readonly #awaiting = new Map<AccountState, LinkedList<Waiter>>();
  /** Accounts that have both a free slot and a request that awaits them. */
  readonly #runnable = new Set<AccountState>();

  /** @param select selects an account for a request that can use any */
  constructor(fairShares: FairShares, select: SelectAccount) {
    this.#fairShares = fairShares;
    this.#select = select;
  }

  /** Adds a request in its order of arrival. */
  add(waiter: Waiter, rotation: Rotation): void {
    const { fairShare, awaited } = waiter;
    this.size += 1;
    if (waiter.exclude !== null) this.#excludingCount += 1;
    fairShare.waiters.add(waiter);
    this.#fairShares.waitingShares.add(fairShare);
    if (awaited === null) {
      insertByArrival(fairShare.untargetedWaiters, waiter);
      return;
    }
    const waiters = this.#awaiting.get(awaited) ?? new LinkedList<Waiter>();
    insertByArrival(waiters, waiter);
    this.#awaiting.set(awaited, waiters);
    this.updateRunnable(awaited, rotation);
  }

  remove(waiter: Waiter, rotation: Rotation): void {
    if (waiter.list === null) return;
    const { fairShare, awaited } = waiter;
    waiter.list.remove(waiter);
    this.size -= 1;
    if (waiter.exclude !== null) this.#excludingCount -= 1;
    fairShare.waiters.delete(waiter);
    if (fairShare.waiters.size === 0) this.#fairShares.waitingShares.delete(fairShare);
    if (awaited === null) return;
    if (this.#awaiting.get(awaited)?.size === 0) this.#awaiting.delete(awaited);
    this.updateRunnable(awaited, rotation);
  }

  /** The requests that await an account, in order of arrival. */
  listAwaiting(state: AccountState): readonly Waiter[] {
    return [...(this.#awaiting.get(state) ?? [])];
  }

  /** Must be called after each change of an account's slots or of the requests that await it. */
  updateRunnable(state: AccountState, rotation: Rotation): void {
    if (this.#awaiting.has(state) && rotation.hasFreeSlot(state)) this.#runnable.add(state);
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
        next = this.#firstRunnable(fairShare) ?? next;
      }
    }
    for (const state of this.#runnable) {
      for (const waiter of this.#awaiting.get(state) ?? []) {
        // A request that merely prefers the account uses it only while it is healthy.
        if (waiter.target === null && !rotation.isReady(state)) continue;
        if (next === null || precedes(waiter, next.waiter)) next = { waiter, state };
      }
    }
    return next;
  }

  /** The caller's oldest request for which an account is available, with that account. */
  #firstRunnable(fairShare: FairShare<Waiter>): { waiter: Waiter; state: AccountState } | null {
    for (const waiter of fairShare.untargetedWaiters) {
      const state = this.#select(waiter.request, waiter.exclude);
      if (state !== null) return { waiter, state };
    }
    return null;
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

/** Inserts a request into a list in order of arrival. Most arrive last. */
function insertByArrival(waiters: LinkedList<Waiter>, waiter: Waiter): void {
  let later: Waiter | null = null;
  for (let node = waiters.tail; node !== null && node.serial > waiter.serial; node = node.previous)
    later = node;
  if (later === null) waiters.push(waiter);
  else waiters.insertBefore(waiter, later);
}
