import type { AcquireRefusal, AcquireRequest, LeasedAccount } from "../core/ports/accounts.ts";
import type { RemainingLimits } from "../core/ports/key-limits.ts";
import type { AccountState } from "./account-state.ts";
import type { FairShare, FairShares } from "./fair-shares.ts";
import { ListNode } from "./linked-list.ts";
import type { ProviderPool } from "./provider-pool.ts";
import type { Rotation } from "./rotation.ts";

/** A granted slot. */
export interface Grant {
  /** Name of the lease; a secret of its holder. */
  readonly lease: string;
  readonly account: LeasedAccount;
  /** The account's token, or null when the holder must request it. */
  readonly token: string | null;
  /** Whether a success must be reported, because the account or the provider has failed recently. */
  readonly failing: boolean;
  /** Remaining limits of the key, if it has any. */
  readonly limits?: RemainingLimits;
  /** See `Granted.configVersion`. */
  readonly configVersion?: number;
}

export type AcquireOutcome = { readonly granted: Grant } | AcquireRefusal;

/** A waiting request. */
export class Waiter extends ListNode<Waiter> {
  readonly serial: number;
  readonly request: AcquireRequest;
  /** The pool of the provider that it waits for. */
  readonly providerPool: ProviderPool;
  /** The fair share of its caller. */
  fairShare: FairShare;
  /** The account that it is pinned to. */
  readonly target: AccountState | null;
  readonly exclude: ReadonlySet<string> | null;
  readonly since: number;
  /** The outcome of the wait; null while it lasts. */
  outcome: AcquireOutcome | null = null;
  /** Resolves with the outcome; rejects when the pool's storage fails. */
  readonly settled: Promise<AcquireOutcome>;
  /** Stops the timer of the queue time limit. */
  stopTimer: () => void = () => {};
  readonly #resolve: (outcome: AcquireOutcome) => void;
  readonly #reject: (error: unknown) => void;
  readonly #cancel: (waiter: Waiter) => void;

  constructor(
    serial: number,
    request: AcquireRequest,
    providerPool: ProviderPool,
    share: FairShare,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
    since: number,
    cancel: (waiter: Waiter) => void,
  ) {
    super();
    this.serial = serial;
    this.request = request;
    this.providerPool = providerPool;
    this.fairShare = share;
    this.target = target;
    this.exclude = exclude;
    this.since = since;
    this.#cancel = cancel;
    const { promise, resolve, reject } = Promise.withResolvers<AcquireOutcome>();
    this.settled = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Ends the wait. Only the first call has an effect. */
  settle(outcome: AcquireOutcome): void {
    if (this.outcome !== null) return;
    this.outcome = outcome;
    this.stopTimer();
    this.#resolve(outcome);
  }

  /** Ends the wait with an error, unless it has ended. */
  fail(error: unknown): void {
    if (this.outcome !== null) return;
    this.outcome = { refused: "cancelled" };
    this.stopTimer();
    // Prevents an unhandled rejection when the caller has disconnected.
    this.settled.catch(() => undefined);
    this.#reject(error);
  }

  /**
   * Leaves the queue. A slot that was already granted returns to the pool for the next request. May be called at any time,
   * repeatedly too.
   */
  cancel(): void {
    this.#cancel(this);
  }
}

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
  /** Accounts that have both a free slot and a pinned request. */
  readonly #runnable = new Set<AccountState>();

  constructor(shares: FairShares) {
    this.#fairShares = shares;
  }

  add(waiter: Waiter, rotation: Rotation): void {
    const { fairShare, target } = waiter;
    this.size += 1;
    if (waiter.exclude !== null) this.#excludingCount += 1;
    fairShare.waiters.add(waiter);
    this.#fairShares.waitingShares.add(fairShare);
    (target?.waiters ?? fairShare.untargetedWaiters).push(waiter);
    if (target !== null) this.updateRunnable(target, rotation);
  }

  remove(waiter: Waiter, rotation: Rotation): void {
    if (waiter.list === null) return;
    const { fairShare, target } = waiter;
    waiter.list.remove(waiter);
    this.size -= 1;
    if (waiter.exclude !== null) this.#excludingCount -= 1;
    fairShare.waiters.delete(waiter);
    if (fairShare.waiters.size === 0) this.#fairShares.waitingShares.delete(fairShare);
    if (target !== null) this.updateRunnable(target, rotation);
  }

  /** Must be called after each change of an account's slots or pinned requests. */
  updateRunnable(state: AccountState, rotation: Rotation): void {
    if (state.waiters.size > 0 && rotation.hasFreeSlot(state)) this.#runnable.add(state);
    else this.#runnable.delete(state);
  }

  /** The next request among those that can run now, with its account. */
  next(rotation: Rotation): { waiter: Waiter; state: AccountState } | null {
    let next: { waiter: Waiter; state: AccountState } | null = null;
    // A request without exclusions can use any available account. If there is none for it, there is none for the others
    // either, except accounts with an exhausted half-open budget.
    if (rotation.pickAccount(null) !== null || (this.#excludingCount > 0 && rotation.hasBudgetExhausted)) {
      for (const share of this.#fairShares.waitingShares) {
        const { head } = share.untargetedWaiters;
        if (head === null || (next !== null && !precedes(head, next.waiter))) continue;
        next = firstRunnable(share, rotation) ?? next;
      }
    }
    for (const state of this.#runnable) {
      for (const waiter of state.waiters) {
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

/** Whether `one` is served before `other` if both can run. */
function precedes(one: Waiter, other: Waiter): boolean {
  if (one.fairShare === other.fairShare) return one.serial < other.serial;
  const { fairShare: mine } = one;
  const { fairShare: theirs } = other;
  if (mine.occupiedSlots !== theirs.occupiedSlots) return mine.occupiedSlots < theirs.occupiedSlots;
  return mine.lastServedSerial === theirs.lastServedSerial
    ? one.serial < other.serial
    : mine.lastServedSerial < theirs.lastServedSerial;
}

/** The caller's oldest request for which an account is available, with that account. */
function firstRunnable(share: FairShare, rotation: Rotation): { waiter: Waiter; state: AccountState } | null {
  for (const waiter of share.untargetedWaiters) {
    const state = rotation.pickAccount(waiter.exclude, waiter.request.wellOnly);
    if (state !== null) return { waiter, state };
  }
  return null;
}
