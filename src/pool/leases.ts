import type { AcquireRequest, TokenAnswer } from "../platform/accounts.ts";
import type { AccountState } from "./account-state.ts";
import { LinkedList, ListNode } from "./linked-list.ts";
import type { Share } from "./shares.ts";

/** What whoever asks for the token of a lease hears that has ended. */
export const SLOT_RECLAIMED: TokenAnswer = {
  failed: {
    kind: "unreachable",
    message: "the account's slot was reclaimed",
    status: 0,
    fault: null,
    retryAfter: null,
  },
};

/** What is known of the request that holds a lease. */
export interface Holder {
  readonly requestId: string;
  /** See `AcquireRequest.identity`. */
  readonly identity?: string;
  readonly model: string;
  readonly dialect: string;
  /** See `AcquireRequest.key`. */
  readonly key?: string;
  /** See `AcquireRequest.caller`; shown to nobody. */
  readonly caller: string;
  /** The name of the request, if its key has limits. */
  readonly use?: string;
}

/** Who holds the slot that a request is granted. */
export function holderOf(request: AcquireRequest): Holder {
  const { requestId, identity, model, dialect = "", key, caller = "", use } = request;
  return {
    requestId,
    ...(identity === undefined ? {} : { identity }),
    model,
    dialect,
    caller,
    ...(key === undefined ? {} : { key }),
    ...(use === undefined ? {} : { use: use.id }),
  };
}

/** One slot in use. As a list node it stands in the order of expiry. */
export class LeaseRecord extends ListNode<LeaseRecord> {
  readonly token: string;
  readonly serial: number;
  readonly state: AccountState;
  readonly holder: Holder;
  /** Whose slot it is. */
  readonly share: Share;
  readonly grantedAt: number;
  /** Somebody has told how its use ended. */
  told = false;
  expiresAt: number;
  /** See `Trust.tried`; 0: nothing is learnt from it, it was granted before a restart. */
  trial = 0;
  /** Name of the isolate that holds it, once the lease has lived for a while. */
  isolate = "";

  constructor(
    token: string,
    serial: number,
    state: AccountState,
    holder: Holder,
    share: Share,
    now: number,
    ttlMs: number,
  ) {
    super();
    this.token = token;
    this.serial = serial;
    this.state = state;
    this.holder = holder;
    this.share = share;
    this.grantedAt = now;
    this.expiresAt = now + ttlMs;
  }
}

/** The live leases, by token and by expiry; all live equally long, so that renewal is a move to the end. */
export class Leases {
  readonly #byToken = new Map<string, LeaseRecord>();
  readonly #byExpiry = new LinkedList<LeaseRecord>();
  readonly #ttlMs: number;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  get size(): number {
    return this.#byToken.size;
  }

  /** When the first lease expires, Unix milliseconds; `Infinity` when there is none. */
  get nextExpiry(): number {
    return this.#byExpiry.head?.expiresAt ?? Number.POSITIVE_INFINITY;
  }

  /** The lease that expires first. */
  get first(): LeaseRecord | null {
    return this.#byExpiry.head;
  }

  add(
    token: string,
    serial: number,
    state: AccountState,
    holder: Holder,
    share: Share,
    now: number,
  ): LeaseRecord {
    const lease = new LeaseRecord(token, serial, state, holder, share, now, this.#ttlMs);
    this.#byToken.set(token, lease);
    this.#byExpiry.push(lease);
    return lease;
  }

  get(token: string): LeaseRecord | undefined {
    return this.#byToken.get(token);
  }

  renew(lease: LeaseRecord, now: number): void {
    lease.expiresAt = now + this.#ttlMs;
    this.#byExpiry.push(lease);
  }

  /** Gives every lease its whole life anew: the clock was set. */
  renewAll(now: number): void {
    for (const lease of this.#byExpiry) lease.expiresAt = now + this.#ttlMs;
  }

  remove(lease: LeaseRecord): void {
    this.#byToken.delete(lease.token);
    this.#byExpiry.remove(lease);
  }

  [Symbol.iterator](): IterableIterator<LeaseRecord> {
    return this.#byToken.values();
  }
}
