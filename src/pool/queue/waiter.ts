import type { AcquireRequest } from "../../core/ports/accounts.ts";
import type { AccountState } from "../accounts/account-state.ts";
import { ListNode } from "../structures/linked-list.ts";
import type { FairShare } from "./fair-share.ts";
import type { AcquireOutcome } from "./grant.ts";

/** A waiting request. */
export class Waiter extends ListNode<Waiter> {
  readonly serial: number;
  readonly request: AcquireRequest;
  /** The provider that it waits for. */
  readonly provider: string;
  /** The fair share of its caller. */
  fairShare: FairShare<Waiter>;
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
    fairShare: FairShare<Waiter>,
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
