import { DurableObject, RpcTarget } from "cloudflare:workers";
import { poolConfiguration } from "../src/accounts/configuration.ts";
import type { Pulse } from "../src/accounts/heartbeat.ts";
import type { Holder } from "../src/accounts/leases.ts";
import { AccountPool as PoolRules } from "../src/accounts/pool.ts";
import { POOL_NAME } from "../src/accounts/pool-name.ts";
import { SqlPoolStore } from "../src/accounts/sql-pool-store.ts";
import { type Grant, Waiter } from "../src/accounts/waiting-queue.ts";
import { GatheredUseStore } from "../src/limits/gathered-store.ts";
import { SqlUseStore } from "../src/limits/sql-store.ts";
import type {
  AccountFailure,
  AccountHealth,
  AcquireRequest,
  CountAnswer,
  PoolConfiguration,
  QueueStatus,
  Refused,
  SignedIn,
  TokenAnswer,
} from "../src/platform/accounts.ts";
import type { Env } from "../src/platform/cloudflare/env.ts";
import type { Settled } from "../src/platform/cloudflare/settlements.ts";
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import { variablesOf } from "../src/platform/cloudflare/variables.ts";
import type { KeyUse, LimitedUse, Spent } from "../src/platform/limits.ts";
import { nameOfProcess } from "./process-name.ts";

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
  readonly #uses: GatheredUseStore;

  constructor(pool: PoolRules, waiter: Waiter, uses: GatheredUseStore) {
    super();
    this.#pool = pool;
    this.#waiter = waiter;
    this.#uses = uses;
  }

  async wait(): Promise<GrantReply | Refused> {
    const outcome = await this.#waiter.settled;
    await this.#uses.kept();
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

function grantReply(pool: PoolRules, granted: Grant): GrantReply {
  return { granted, lease: new SlotLease(pool, granted.lease, granted.account.id) };
}

/** The one object that hands out account slots: storage, alarm and RPC around the rules in `src/accounts/`. */
export class AccountPool extends DurableObject<Env> {
  readonly #pool: PoolRules;
  readonly #uses: GatheredUseStore;
  #configured = false;
  #configuring: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const sql = durableSql(ctx.storage);
    this.#uses = new GatheredUseStore(new SqlUseStore(sql), (work) => sql.transaction(work));
    this.#pool = new PoolRules({
      store: new SqlPoolStore(sql),
      uses: this.#uses,
      boot: nameOfProcess(env),
      now: Date.now,
      setTimer: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      wakeAt: (at) => {
        ctx.waitUntil(ctx.storage.setAlarm(at));
      },
    });
  }

  /** One call grants a slot; only a request that has to wait needs a second one, `pending.wait()`. */
  async acquire(request: AcquireRequest, settled: Settled = []): Promise<GrantReply | Refused | QueuedReply> {
    if (!this.#configured) await this.#fetchConfiguration();
    for (const [use, spent] of settled) this.#pool.settle(use, spent);
    const outcome = this.#pool.acquire(request);
    const kept = this.#uses.kept();
    if (kept !== null) await kept;
    if (outcome instanceof Waiter) {
      return { place: new QueuePlace(outcome), pending: new PendingSlot(this.#pool, outcome, this.#uses) };
    }
    return "granted" in outcome ? grantReply(this.#pool, outcome.granted) : outcome;
  }

  /** Renews the leases of an isolate that have lived for a while. */
  beat(isolate: string, leases: readonly string[], known?: number): Pulse {
    return this.#pool.beat(isolate, leases, known);
  }

  /** Takes over a lease that was granted before this object was restarted. Null when it has been reclaimed. */
  resume(lease: string, account: string, holder: Holder, isolate = ""): ResumedReply | null {
    const name = this.#pool.resume(lease, account, holder, isolate);
    return name === null ? null : { name, lease: new SlotLease(this.#pool, name, account) };
  }

  async count(use: LimitedUse): Promise<CountAnswer> {
    const answer = this.#pool.count(use);
    await this.#uses.kept();
    return answer;
  }

  /** For isolates of an earlier version. */
  settle(use: string, spent: Spent): Promise<void> {
    return this.settleAll([[use, spent]]);
  }

  async settleAll(settled: Settled): Promise<void> {
    for (const [use, spent] of settled) this.#pool.settle(use, spent);
    await this.#uses.kept();
  }

  keyUses(): KeyUse[] {
    return this.#pool.keyUses();
  }

  async status(most?: number): Promise<QueueStatus> {
    if (!this.#configured) await this.#fetchConfiguration();
    return this.#pool.status(most);
  }

  async health(ids?: readonly string[]): Promise<AccountHealth[]> {
    if (!this.#configured) await this.#fetchConfiguration();
    return this.#pool.health(ids);
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    if (!this.#configured) await this.#fetchConfiguration();
    this.#pool.setTestStatus(id, status);
  }

  async tokensDueForRefresh(): Promise<string[]> {
    if (!this.#configured) await this.#fetchConfiguration();
    return this.#pool.tokensDueForRefresh();
  }

  /** To be called after every edit of the configuration. */
  configure(configuration: PoolConfiguration): void {
    this.#pool.configure(configuration);
    this.#configured = true;
  }

  override async alarm(): Promise<void> {
    const next = this.#pool.sweep();
    if (next !== null) await this.ctx.storage.setAlarm(next);
  }

  #fetchConfiguration(): Promise<void> {
    this.#configuring ??= this.#configureOnce().finally(() => {
      this.#configuring = null;
    });
    return this.#configuring;
  }

  async #configureOnce(): Promise<void> {
    const { config, version } = await this.env.CONFIGURATION.getByName(POOL_NAME).get();
    const configuration = await poolConfiguration(config, variablesOf(this.env).queueTimeoutMs, version);
    // An edit may have come in meanwhile; it is the newer one.
    if (!this.#configured) this.configure(configuration);
  }
}
