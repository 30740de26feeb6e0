import { RpcTarget } from "cloudflare:workers";
import type {
  AccountFailure,
  AcquireRefusal,
  QuotaWindow,
  SignInResult,
  TokenResult,
} from "../src/core/ports/accounts.ts";
import type { AccountPool as PoolRules } from "../src/pool/pool.ts";
import type { Grant } from "../src/pool/queue/grant.ts";
import type { Waiter } from "../src/pool/queue/waiter.ts";

/**
 * A slot, held as long as a stub of this object exists. The runtime disposes the stub when the request that holds it
 * ends, for whatever reason; that alone releases the slot.
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

  /** For holders of an earlier version: current ones send heartbeats. */
  renew(): boolean {
    return this.#pool.renew(this.#lease);
  }

  token(stale?: string): TokenResult | Promise<TokenResult> {
    return this.#pool.token(this.#lease, stale);
  }

  signedIn(ticket: string, result: SignInResult): void {
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

  quota(windows: readonly QuotaWindow[]): void {
    this.#pool.recordQuota(this.#lease, windows);
  }

  [Symbol.dispose](): void {
    this.#pool.release(this.#lease);
  }
}

/** A place in the waiting queue, released when its last stub is disposed. */
export class QueuePlace extends RpcTarget {
  readonly #waiter: Waiter;

  constructor(waiter: Waiter) {
    super();
    this.#waiter = waiter;
  }

  [Symbol.dispose](): void {
    // After the wait the lease is released on its own.
    if (this.#waiter.outcome === null) this.#waiter.cancel();
  }
}

/**
 * The object that a waiting request calls. It is separate from {@link QueuePlace}, because a call in progress keeps its
 * target alive: the place would never be disposed during the wait.
 */
export class PendingSlot extends RpcTarget {
  readonly #pool: PoolRules;
  readonly #waiter: Waiter;

  constructor(pool: PoolRules, waiter: Waiter) {
    super();
    this.#pool = pool;
    this.#waiter = waiter;
  }

  async wait(): Promise<GrantReply | AcquireRefusal> {
    const outcome = await this.#waiter.settled;
    await this.#pool.confirmStored(this.#waiter.request, outcome);
    return "granted" in outcome ? grantReply(this.#pool, outcome.granted) : outcome;
  }
}

export interface GrantReply {
  readonly granted: Grant;
  readonly lease: SlotLease;
}

export interface ResumedReply {
  /** The new name of the lease. */
  readonly name: string;
  readonly lease: SlotLease;
}

export interface QueuedReply {
  readonly place: QueuePlace;
  readonly pending: PendingSlot;
}

/** Creates the reply for a granted slot, with the lease object that releases it. */
export function grantReply(pool: PoolRules, granted: Grant): GrantReply {
  return { granted, lease: new SlotLease(pool, granted.lease, granted.account.id) };
}
