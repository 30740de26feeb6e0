import type {
  AcquireRefusal,
  AcquireRequest,
  LeasedAccount,
  SharedLimitNames,
} from "../core/ports/accounts.ts";
import type { RemainingLimits } from "../core/ports/subject-limits.ts";
import type { AccountState } from "./account-state.ts";
import { LinkedList, ListNode } from "./linked-list.ts";

/** A granted slot. */
export interface Grant {
  /** Name of the lease; a secret of its holder. */
  readonly lease: string;
  readonly account: LeasedAccount;
  /** The account's token, or null when the holder must request it. */
  readonly token: string | null;
  /** Whether a success must be reported, because the account or the provider has failed recently. */
  readonly failing: boolean;
  /** Remaining limits of the request's subjects, if they have any. */
  readonly limits?: RemainingLimits;
  /** See `AcquireGrant.configVersion`. */
  readonly configVersion?: number;
  /** See `AcquireGrant.isBranch`. */
  readonly isBranch?: boolean;
  /** See `AcquireGrant.shared`. */
  readonly shared?: SharedLimitNames;
}

export type AcquireOutcome = { readonly granted: Grant } | AcquireRefusal;

/** A waiting request. */
export class Waiter extends ListNode<Waiter> {
  readonly serial: number;
  readonly request: AcquireRequest;
  /** The provider that it waits for. */
  readonly provider: string;
  /** The fair share of its caller. */
  fairShare: FairShare;
  /** The account that it is pinned to. */
  readonly target: AccountState | null;
  readonly exclude: ReadonlySet<string> | null;
  readonly since: number;
  /** The only account that it waits for at present: its target, or for a while the account of its conversation. */
  awaited: AccountState | null;
  /** Whether it has waited for the account of its conversation. */
  hasAwaited = false;
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
    provider: string,
    fairShare: FairShare,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
    since: number,
    cancel: (waiter: Waiter) => void,
  ) {
    super();
    this.serial = serial;
    this.request = request;
    this.provider = provider;
    this.fairShare = fairShare;
    this.target = target;
    this.awaited = target;
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

/** The collection that contains a fair share. */
export interface FairShareOwner {
  /** Deletes a share that has become empty. */
  deleteIfEmpty(share: FairShare): void;
}

/** The slots and waiting requests of one caller. */
export class FairShare {
  readonly caller: string;
  readonly owner: FairShareOwner;
  /** Slots that the caller occupies. */
  occupiedSlots = 0;
  /** Serial number of the newest lease; 0: none since the caller last held or requested a slot. */
  lastServedSerial = 0;
  /** All its waiting requests, in order of arrival. */
  readonly waiters = new Set<Waiter>();
  /** Its waiting requests that can use any account, in order of arrival. */
  readonly untargetedWaiters = new LinkedList<Waiter>();

  constructor(caller: string, owner: FairShareOwner) {
    this.caller = caller;
    this.owner = owner;
  }
}
