import type { AcquireRequest, TokenResult } from "../../core/ports/accounts.ts";
import type { AccountState } from "../accounts/account-state.ts";
import type { FairShare } from "../queue/fair-share.ts";
import type { Waiter } from "../queue/waiter.ts";
import { LinkedList, ListNode } from "../structures/linked-list.ts";

/** The pool's answer to a heartbeat. */
export interface HeartbeatAnswer {
  /** Number of the pool's current start: the isolate must resume leases whose name has an earlier number. */
  readonly start: number;
  /** Names of leases that have ended. */
  readonly lost: readonly string[];
}

/** The answer to a token request of a lease that has ended. */
export const SLOT_RECLAIMED: TokenResult = {
  failed: {
    kind: "unreachable",
    message: "the account's slot was reclaimed",
    status: 0,
    fault: null,
    retryAfter: null,
  },
};

/** The request that holds a lease. */
export interface LeaseHolder {
  readonly requestId: string;
  /** See `AcquireRequest.identity`. */
  readonly identity?: string;
  readonly model: string;
  readonly dialect: string;
  /** See `AcquireRequest.key`. */
  readonly key?: string;
  /** See `AcquireRequest.caller`; never shown. */
  readonly caller: string;
  /** Id of the request's use, if one of its subjects has limits. */
  readonly use?: string;
  /** The first pool shard counts the slot: the holder has a shared slot there, too. */
  readonly isShared?: boolean;
}

/**
 * Extracts the holder of a slot from its request.
 *
 * @param isShared see `LeaseHolder.isShared`
 */
export function leaseHolderOf(request: AcquireRequest, isShared = false): LeaseHolder {
  const { requestId, identity, model, dialect = "", key, caller = "", use } = request;
  return {
    requestId,
    ...(identity === undefined ? {} : { identity }),
    model,
    dialect,
    caller,
    ...(key === undefined ? {} : { key }),
    ...(use === undefined ? {} : { use: use.id }),
    ...(isShared ? { isShared } : {}),
  };
}

/** One slot in use. It is a list node because leases are kept in order of expiry. */
export class LeaseRecord extends ListNode<LeaseRecord> {
  readonly token: string;
  readonly serial: number;
  readonly state: AccountState;
  readonly holder: LeaseHolder;
  /** The fair share of the caller that holds the slot. */
  readonly fairShare: FairShare<Waiter>;
  /** Unix milliseconds. */
  readonly grantedAt: number;
  /** Whether the holder has reported how its use ended, or will not: see `AcquireRequest.releaseIsSuccess`. */
  outcomeReported = false;
  /** Monotonic milliseconds. */
  expiresAt: number;
  /** See `CircuitBreaker.startProbe`; 0: the lease was granted before a restart, so its result is ignored. */
  probePeriod = 0;
  /** The conversation of its request; empty: none, or the lease was granted before a restart. */
  conversation = "";
  /** Name of the isolate that holds it, once the lease has lived for a while. */
  isolate = "";

  constructor(
    token: string,
    serial: number,
    state: AccountState,
    holder: LeaseHolder,
    fairShare: FairShare<Waiter>,
    now: number,
    expiresAt: number,
  ) {
    super();
    this.token = token;
    this.serial = serial;
    this.state = state;
    this.holder = holder;
    this.fairShare = fairShare;
    this.grantedAt = now;
    this.expiresAt = expiresAt;
  }
}

/**
 * The live leases, by token and by expiry. All have the same lifetime, so a renewal moves a
 * lease to the end of the list.
 */
export class Leases {
  readonly #byToken = new Map<string, LeaseRecord>();
  readonly #byExpiry = new LinkedList<LeaseRecord>();
  readonly #ttlMs: number;
  /** Number of leases whose slots the first pool shard counts. */
  sharedCount = 0;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  get size(): number {
    return this.#byToken.size;
  }

  /** When the first lease expires, monotonic milliseconds; `Infinity` when there is none. */
  get nextExpiry(): number {
    return this.#byExpiry.head?.expiresAt ?? Number.POSITIVE_INFINITY;
  }

  /** The lease that expires first. */
  get firstToExpire(): LeaseRecord | null {
    return this.#byExpiry.head;
  }

  /** @param now Unix milliseconds */
  add(
    token: string,
    serial: number,
    state: AccountState,
    holder: LeaseHolder,
    fairShare: FairShare<Waiter>,
    now: number,
    monotonicNow: number,
  ): LeaseRecord {
    const expiresAt = monotonicNow + this.#ttlMs;
    const lease = new LeaseRecord(token, serial, state, holder, fairShare, now, expiresAt);
    this.#byToken.set(token, lease);
    if (holder.isShared === true) this.sharedCount += 1;
    this.#byExpiry.push(lease);
    return lease;
  }

  get(token: string): LeaseRecord | undefined {
    return this.#byToken.get(token);
  }

  renew(lease: LeaseRecord, monotonicNow: number): void {
    lease.expiresAt = monotonicNow + this.#ttlMs;
    this.#byExpiry.push(lease);
  }

  remove(lease: LeaseRecord): void {
    this.#byToken.delete(lease.token);
    if (lease.holder.isShared === true) this.sharedCount -= 1;
    this.#byExpiry.remove(lease);
  }

  [Symbol.iterator](): IterableIterator<LeaseRecord> {
    return this.#byToken.values();
  }
}
