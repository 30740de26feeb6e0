import { RpcTarget } from "cloudflare:workers";
import type { AccountFailure, Refused, SignedIn, TokenAnswer } from "../src/platform/accounts.ts";
import type { AccountPool as PoolRules } from "../src/pool/pool.ts";
import type { Grant, Waiter } from "../src/pool/waiting-queue.ts";

/**
 * A slot, held for as long as somebody holds a stub of it. The runtime disposes the stub when the request that held it
 * ends, for whatever reason; that alone gives the slot back.
 */
export class SlotLease extends RpcTarget {
  readonly #pool: PoolRules;
  readonly #lease: string;
  readonly #account: string;

  constructor(pool: PoolRules, lease: string, account: string) {
    super();
    this.#pool = pool;
    this.#lease = lease;
    this.#account = account;
  }

  /** For holders of an earlier version: those of this one beat. */
  renew(): boolean {
    return this.#pool.renew(this.#lease);
  }

  token(stale?: string): TokenAnswer | Promise<TokenAnswer> {
    return this.#pool.token(this.#lease, stale);
  }

  signedIn(ticket: string, result: SignedIn): void {
    this.#pool.signedIn(this.#account, ticket, result);
  }

  signInFailed(ticket: string, failure: AccountFailure): void {
    this.#pool.signInFailed(this.#account, ticket, failure);
  }

  succeeded(): void {
    this.#pool.succeeded(this.#lease);
  }

  failed(failure: AccountFailure): boolean {
    return this.#pool.failed(this.#lease, failure);
  }

  [Symbol.dispose](): void {
    this.#pool.release(this.#lease);
  }
}

/** A place in the waiting queue, given up when the last stub of it is disposed. */
export class QueuePlace extends RpcTarget {
  readonly #waiter: Waiter;

  constructor(waiter: Waiter) {
    super();
    this.#waiter = waiter;
  }

  [Symbol.dispose](): void {
    // Once the wait is over the lease looks after itself.
    if (this.#waiter.outcome === null) this.#waiter.cancel();
  }
}

/**
 * What a waiting request waits on. It is not the {@link QueuePlace}, because a call in progress keeps its target alive:
 * the place would never be disposed of while somebody waits on it.
 */
export class PendingSlot extends RpcTarget {
  readonly #pool: PoolRules;
  readonly #waiter: Waiter;

  constructor(pool: PoolRules, waiter: Waiter) {
    super();
    this.#pool = pool;
    this.#waiter = waiter;
  }

  async wait(): Promise<GrantReply | Refused> {
    const outcome = await this.#waiter.settled;
    await this.#pool.keeping(this.#waiter.request, outcome);
    return "granted" in outcome ? grantReply(this.#pool, outcome.granted) : outcome;
  }
}

export interface GrantReply {
  readonly granted: Grant;
  readonly lease: SlotLease;
}

export interface ResumedReply {
  /** What the lease is called from now on. */
  readonly name: string;
  readonly lease: SlotLease;
}

export interface QueuedReply {
  readonly place: QueuePlace;
  readonly pending: PendingSlot;
}

/** What goes out with a slot: the lease with which it is given back. */
export function grantReply(pool: PoolRules, granted: Grant): GrantReply {
  return { granted, lease: new SlotLease(pool, granted.lease, granted.account.id) };
}
