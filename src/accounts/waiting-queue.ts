import type { AcquireRequest, LeasedAccount, RefusalReason } from "../platform/accounts.ts";
import type { AccountState } from "./account-state.ts";
import { Heap } from "./heap.ts";
import { LinkedList, ListNode } from "./linked-list.ts";
import type { Rotation } from "./rotation.ts";

/** A slot, as the pool grants it. */
export interface Grant {
  /** Names the lease; known to its holder alone. */
  readonly lease: string;
  readonly account: LeasedAccount;
  /** The account's token, or null when the holder must ask for it. */
  readonly token: string | null;
  /** The account has failed lately: a success must be reported. */
  readonly failing: boolean;
}

export type Outcome = { readonly granted: Grant } | { readonly refused: RefusalReason };

/** A request that waits. */
export class Waiter extends ListNode<Waiter> {
  readonly serial: number;
  readonly request: AcquireRequest;
  /** The account that it is pinned to. */
  readonly target: AccountState | null;
  readonly exclude: ReadonlySet<string> | null;
  readonly since: number;
  /** How the wait ended; null while it lasts. */
  outcome: Outcome | null = null;
  /** Resolves with the outcome. */
  readonly settled: Promise<Outcome>;
  /** Stops the timer of the queue time limit. */
  stopTimer: () => void = () => {};
  readonly #resolve: (outcome: Outcome) => void;
  readonly #cancel: (waiter: Waiter) => void;

  constructor(
    serial: number,
    request: AcquireRequest,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
    since: number,
    cancel: (waiter: Waiter) => void,
  ) {
    super();
    this.serial = serial;
    this.request = request;
    this.target = target;
    this.exclude = exclude;
    this.since = since;
    this.#cancel = cancel;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.settled = promise;
    this.#resolve = resolve;
  }

  /** Ends the wait. Only the first call counts. */
  settle(outcome: Outcome): void {
    if (this.outcome !== null) return;
    this.outcome = outcome;
    this.stopTimer();
    this.#resolve(outcome);
  }

  /**
   * Leaves the queue; a slot that was granted already goes back to the pool, so that the next request gets it. May be
   * called at any time, also twice.
   */
  cancel(): void {
    this.#cancel(this);
  }
}

/**
 * All waiting requests. One order of arrival, kept in several lists: requests for any account in one, requests pinned to
 * an account in a list of that account, so that a request pinned to a busy account holds up nobody behind it.
 */
export class WaitingQueue {
  size = 0;
  readonly #any = new LinkedList<Waiter>();
  /** Accounts that have both a free slot and a pinned request, ordered by that request's arrival. */
  readonly #runnable = new Heap<AccountState>();

  add(waiter: Waiter, rotation: Rotation): void {
    this.size += 1;
    (waiter.target?.waiters ?? this.#any).push(waiter);
    if (waiter.target !== null) this.place(waiter.target, rotation);
  }

  remove(waiter: Waiter, rotation: Rotation): void {
    if (waiter.list === null) return;
    waiter.list.remove(waiter);
    this.size -= 1;
    if (waiter.target !== null) this.place(waiter.target, rotation);
  }

  /** To be called after each change of an account's slots or pinned requests. */
  place(state: AccountState, rotation: Rotation): void {
    const head = state.waiters.head;
    if (head !== null && rotation.hasSlot(state)) this.#runnable.set(state, head.serial);
    else this.#runnable.delete(state);
  }

  /** The request that has waited longest among those that can run now, with its account. */
  next(rotation: Rotation): { waiter: Waiter; state: AccountState } | null {
    const pinned = this.#runnable.first;
    const pinnedSerial = this.#runnable.firstKey;
    for (let waiter = this.#any.head; waiter !== null && waiter.serial < pinnedSerial; waiter = waiter.next) {
      const state = rotation.pick(waiter.exclude);
      if (state !== null) return { waiter, state };
      // Whoever excludes nothing can take any account; if there is none for that request, there is none for others.
      if (waiter.exclude === null) break;
    }
    const head = pinned?.waiters.head ?? null;
    return pinned === undefined || head === null ? null : { waiter: head, state: pinned };
  }

  /** Waiting requests in order of arrival. `states` are all accounts. */
  list(states: Iterable<AccountState>): Waiter[] {
    const all = [...this.#any];
    for (const state of states) all.push(...state.waiters);
    return all.sort((a, b) => a.serial - b.serial);
  }
}
