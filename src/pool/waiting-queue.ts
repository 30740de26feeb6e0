import type { AcquireRequest, LeasedAccount, Refused } from "../platform/accounts.ts";
import type { LimitState } from "../platform/limits.ts";
import type { AccountState } from "./account-state.ts";
import type { Lane } from "./lane.ts";
import { ListNode } from "./linked-list.ts";
import type { Rotation } from "./rotation.ts";
import type { Share, Shares } from "./shares.ts";

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
  readonly limits?: LimitState;
  /** See `Granted.configVersion`. */
  readonly configVersion?: number;
}

export type Outcome = { readonly granted: Grant } | Refused;

/** A waiting request. */
export class Waiter extends ListNode<Waiter> {
  readonly serial: number;
  readonly request: AcquireRequest;
  /** The pool of the provider that it waits for. */
  readonly lane: Lane;
  /** The fair share of its caller. */
  share: Share;
  /** The account that it is pinned to. */
  readonly target: AccountState | null;
  readonly exclude: ReadonlySet<string> | null;
  readonly since: number;
  /** The outcome of the wait; null while it lasts. */
  outcome: Outcome | null = null;
  /** Resolves with the outcome; rejects when the pool's storage fails. */
  readonly settled: Promise<Outcome>;
  /** Stops the timer of the queue time limit. */
  stopTimer: () => void = () => {};
  readonly #resolve: (outcome: Outcome) => void;
  readonly #reject: (error: unknown) => void;
  readonly #cancel: (waiter: Waiter) => void;

  constructor(
    serial: number,
    request: AcquireRequest,
    lane: Lane,
    share: Share,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
    since: number,
    cancel: (waiter: Waiter) => void,
  ) {
    super();
    this.serial = serial;
    this.request = request;
    this.lane = lane;
    this.share = share;
    this.target = target;
    this.exclude = exclude;
    this.since = since;
    this.#cancel = cancel;
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.settled = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Ends the wait. Only the first call has an effect. */
  settle(outcome: Outcome): void {
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
export class WaitingQueue {
  size = 0;
  /** Number of waiting requests that exclude accounts after a failure. */
  #excluding = 0;
  readonly #shares: Shares;
  /** Accounts that have both a free slot and a pinned request. */
  readonly #runnable = new Set<AccountState>();

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  add(waiter: Waiter, rotation: Rotation): void {
    const { share, target } = waiter;
    this.size += 1;
    if (waiter.exclude !== null) this.#excluding += 1;
    share.waiters.add(waiter);
    this.#shares.waiting.add(share);
    (target?.waiters ?? share.any).push(waiter);
    if (target !== null) this.place(target, rotation);
  }

  remove(waiter: Waiter, rotation: Rotation): void {
    if (waiter.list === null) return;
    const { share, target } = waiter;
    waiter.list.remove(waiter);
    this.size -= 1;
    if (waiter.exclude !== null) this.#excluding -= 1;
    share.waiters.delete(waiter);
    if (share.waiters.size === 0) this.#shares.waiting.delete(share);
    if (target !== null) this.place(target, rotation);
  }

  /** Must be called after each change of an account's slots or pinned requests. */
  place(state: AccountState, rotation: Rotation): void {
    if (state.waiters.size > 0 && rotation.hasSlot(state)) this.#runnable.add(state);
    else this.#runnable.delete(state);
  }

  /** The next request among those that can run now, with its account. */
  next(rotation: Rotation): { waiter: Waiter; state: AccountState } | null {
    let next: { waiter: Waiter; state: AccountState } | null = null;
    // A request without exclusions can use any available account. If there is none for it, there is none for the others
    // either, except accounts with an exhausted half-open budget.
    if (rotation.pick(null) !== null || (this.#excluding > 0 && rotation.holdsBack)) {
      for (const share of this.#shares.waiting) {
        const { head } = share.any;
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
    return [...this.#shares.waiting]
      .flatMap(({ waiters }) => [...waiters])
      .sort((a, b) => a.serial - b.serial);
  }
}

/** Whether `one` is served before `other` if both can run. */
function precedes(one: Waiter, other: Waiter): boolean {
  if (one.share === other.share) return one.serial < other.serial;
  const { share: mine } = one;
  const { share: theirs } = other;
  if (mine.held !== theirs.held) return mine.held < theirs.held;
  return mine.served === theirs.served ? one.serial < other.serial : mine.served < theirs.served;
}

/** The caller's oldest request for which an account is available, with that account. */
function firstRunnable(share: Share, rotation: Rotation): { waiter: Waiter; state: AccountState } | null {
  for (const waiter of share.any) {
    const state = rotation.pick(waiter.exclude, waiter.request.wellOnly);
    if (state !== null) return { waiter, state };
  }
  return null;
}
