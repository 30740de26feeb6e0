import { DurableObject } from "cloudflare:workers";
import { GatheredUseStore } from "../src/limits/gathered-store.ts";
import { SqlUseStore } from "../src/limits/sql-store.ts";
import type { AccountHealth, QueueStatus } from "../src/platform/account-status.ts";
import type { AcquireRequest, CountAnswer, Refused } from "../src/platform/accounts.ts";
import { inTime, WALL_CLOCK } from "../src/platform/clock.ts";
import type { Env } from "../src/platform/cloudflare/env.ts";
import type { Settled } from "../src/platform/cloudflare/settlements.ts";
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import { variablesOf } from "../src/platform/cloudflare/variables.ts";
import type { KeyUse, LimitedUse, Spent } from "../src/platform/limits.ts";
import type { PoolConfiguration } from "../src/platform/pool-configuration.ts";
import { MOST_SHARDS } from "../src/platform/variables.ts";
import { poolConfiguration } from "../src/pool/configuration.ts";
import type { StillHeld } from "../src/pool/handover.ts";
import type { Pulse } from "../src/pool/heartbeat.ts";
import type { Holder } from "../src/pool/leases.ts";
import type { PartAnswers, PartAsks } from "../src/pool/limit-side.ts";
import { PartSeeker } from "../src/pool/part-seeker.ts";
import { PartTrader } from "../src/pool/part-trader.ts";
import { AccountPool as PoolRules } from "../src/pool/pool.ts";
import { SqlPoolStore } from "../src/pool/sql-pool-store.ts";
import { Takeover } from "../src/pool/takeover.ts";
import { Waiter } from "../src/pool/waiting-queue.ts";
import { needsNoAccount } from "../src/provider/drivers.ts";
import { SILENT_MS } from "../src/shards/asked-shard.ts";
import { shardNames } from "../src/shards/layout.ts";
import { POOL_NAME } from "../src/shards/pool-name.ts";
import type { ShardStatus } from "../src/shards/shard-status.ts";
import { nameOfProcess } from "./process-name.ts";
import {
  type GrantReply,
  grantReply,
  PendingSlot,
  type QueuedReply,
  QueuePlace,
  type ResumedReply,
  SlotLease,
} from "./slot-targets.ts";

/**
 * Name of the shard that an object is. Older runtimes do not pass the name to an object started by an alarm, so it is found
 * by id. Throws if no pool has this id: an object with the wrong name would grant another pool's slots.
 */
export function nameOfShard(id: DurableObjectId, pools: Pick<DurableObjectNamespace, "idFromName">): string {
  const name = id.name ?? shardNames(MOST_SHARDS).find((one) => pools.idFromName(one).equals(id));
  if (name === undefined) throw new Error("this object has the name of no pool");
  return name;
}

/**
 * How long a status request waits for the other pools' answers, milliseconds: less than its reader waits for this pool
 * before it counts the pool as silent.
 */
const WORD_MS = (2 * SILENT_MS) / 3;

/** Owners of the limits before there were several pools. */
const FOUNDERS = [POOL_NAME];

/**
 * Hands out account slots: storage, alarm and RPC around the rules in `src/pool/`. There is one object, or several that
 * each own a part of the accounts.
 */
export class AccountPool extends DurableObject<Env> {
  readonly #name: string;
  readonly #pool: PoolRules;
  readonly #takeover: Takeover;
  /** Null: there is one pool. */
  #trader: PartTrader | null = null;
  #seeker: PartSeeker | null = null;
  readonly #newTrader: () => PartTrader;
  #configured = false;
  #configuring: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#name = nameOfShard(ctx.id, env.ACCOUNT_POOL);
    const sql = durableSql(ctx.storage);
    const uses = new GatheredUseStore(new SqlUseStore(sql), (work) => sql.transaction(work));
    const store = new SqlPoolStore(sql);
    this.#pool = new PoolRules({
      store,
      uses,
      boot: nameOfProcess(env),
      ...WALL_CLOCK,
      wakeAt: (at) => {
        ctx.waitUntil(ctx.storage.setAlarm(at).catch(() => this.#pool.sweepLost()));
      },
      short: (limit, turnedAway) => this.#trader?.short(limit, turnedAway),
    });
    const others = env.ACCOUNT_POOL;
    const configuration = () => env.CONFIGURATION.getByName(POOL_NAME);
    this.#newTrader = () =>
      new PartTrader({
        name: this.#name,
        store,
        pool: this.#pool,
        ...WALL_CLOCK,
        send: async (shard, asks) => JSON.parse(await others.getByName(shard).partsAsked(this.#name, asks)),
      });
    this.#takeover = new Takeover({
      pool: this.#pool.moves,
      setTimer: WALL_CLOCK.setTimer,
      ask: (shard, generation, first) => others.getByName(shard).heldFor(this.#name, generation, first),
      behind: () => this.#fetchPart(),
      settled: (generation) => configuration().poolSettled(this.#name, generation),
    });
  }

  /** Grants a slot in one call; only a request that must wait needs a second call, `pending.wait()`. */
  async acquire(request: AcquireRequest, settled: Settled = []): Promise<GrantReply | Refused | QueuedReply> {
    if (!this.#configured) await this.#fetchConfiguration();
    for (const [use, spent] of settled) this.#pool.uses.settle(use, spent);
    const outcome = this.#seeker === null ? this.#pool.acquire(request) : await this.#seeker.acquire(request);
    const keeping = this.#pool.keeping(request, outcome, settled.length > 0);
    if (keeping !== null) await keeping;
    if (outcome instanceof Waiter) {
      return { place: new QueuePlace(outcome), pending: new PendingSlot(this.#pool, outcome) };
    }
    return "granted" in outcome ? grantReply(this.#pool, outcome.granted) : outcome;
  }

  /** Renews the long-lived leases of an isolate. */
  beat(isolate: string, leases: readonly string[], known?: number): Pulse {
    return this.#pool.beat(isolate, leases, known);
  }

  /** Resumes a lease that was granted before this object was restarted. Null when it has been reclaimed. */
  resume(lease: string, account: string, holder: Holder, isolate = ""): ResumedReply | null {
    const name = this.#pool.resume(lease, account, holder, isolate);
    return name === null ? null : { name, lease: new SlotLease(this.#pool, name, account) };
  }

  async count(use: LimitedUse): Promise<CountAnswer> {
    const answer = this.#pool.uses.count(use);
    await this.#pool.uses.keeping();
    return answer;
  }

  /** For isolates of an earlier version. */
  settle(use: string, spent: Spent): Promise<void> {
    return this.settleAll([[use, spent]]);
  }

  async settleAll(settled: Settled): Promise<void> {
    for (const [use, spent] of settled) this.#pool.uses.settle(use, spent);
    await this.#pool.uses.keeping();
  }

  /** See `LimitedRequests.reserveRemote`; the methods below correspond to its other methods. */
  async hold(use: LimitedUse, settled: Settled): Promise<CountAnswer> {
    for (const [ended, spent] of settled) this.#pool.uses.settle(ended, spent);
    const answer = this.#pool.uses.hold(use);
    await this.#pool.uses.keeping();
    return answer;
  }

  async begun(use: LimitedUse): Promise<CountAnswer> {
    const answer = this.#pool.uses.begun(use);
    await this.#pool.uses.keeping();
    return answer;
  }

  async holding(use: string): Promise<void> {
    this.#pool.uses.holding(use);
    await this.#pool.uses.keeping();
  }

  async unserved(use: string, isNew?: boolean): Promise<void> {
    this.#pool.uses.unserved(use, isNew);
    await this.#pool.uses.keeping();
  }

  async isWell(provider?: string): Promise<boolean> {
    if (!this.#configured) await this.#fetchConfiguration();
    return this.#pool.isWell(provider);
  }

  async shardStatus(most?: number): Promise<ShardStatus> {
    await this.#settled();
    return this.#pool.shardStatus(most);
  }

  /**
   * The slots that this shard still occupies of accounts that `shard` owns in a layout. It applies that layout first, so
   * that the numbers can only fall afterwards.
   */
  async heldFor(shard: string, generation: number, andKnown: boolean): Promise<StillHeld> {
    if (!this.#configured) await this.#fetchConfiguration();
    if (this.#pool.moves.generation < generation) await this.#fetchPart();
    return this.#pool.moves.heldFor(shard, andKnown);
  }

  /** Another shard requests parts of the shared limits. The answer is JSON of `ShareAnswers`. */
  async partsAsked(shard: string, asks: PartAsks): Promise<string> {
    if (!this.#configured) await this.#fetchConfiguration();
    const answers: PartAnswers = this.#trader?.asked(shard, asks) ?? {};
    return JSON.stringify(answers);
  }

  keyUses(): KeyUse[] {
    return this.#pool.uses.ofKeys();
  }

  async status(most?: number): Promise<QueueStatus> {
    await this.#settled();
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

  /** Must be called after every edit of the configuration. */
  async configure(configuration: PoolConfiguration): Promise<void> {
    // With several pools, each starts with the configuration that it fetches: a message meant for an earlier start may be
    // outdated.
    const isOneOfSeveral = configuration.shard !== undefined || variablesOf(this.env).poolShards > 1;
    if (!this.#configured && isOneOfSeveral) await this.#fetchConfiguration();
    this.#take(configuration);
  }

  override async alarm(): Promise<void> {
    const next = this.#pool.sweep();
    if (next !== null) await this.ctx.storage.setAlarm(next);
  }

  /**
   * Waits until the pool is configured and knows which slots of its moved accounts other pools still occupy. Until then no
   * such account has a known free slot: shortly after a start, or after pools were added, a status would show almost no
   * available accounts. It does not guess, because another pool may really occupy all slots. Shares of the limits do not
   * matter here: an account's slots belong to its pool alone.
   */
  async #settled(): Promise<void> {
    const end = Date.now() + WORD_MS;
    if (!this.#configured) await this.#fetchConfiguration();
    const { heard } = this.#takeover;
    if (heard !== null) await inTime(heard, Math.max(0, end - Date.now()), WALL_CLOCK);
  }

  #fetchConfiguration(): Promise<void> {
    this.#configuring ??= this.#configureOnce().finally(() => {
      this.#configuring = null;
    });
    return this.#configuring;
  }

  async #configureOnce(): Promise<void> {
    if (this.#name !== POOL_NAME) {
      await this.#fetchPart();
      return;
    }
    const { config, version, layout } = await this.env.CONFIGURATION.getByName(POOL_NAME).get();
    if (layout !== undefined) {
      await this.#fetchPart();
      return;
    }
    const configuration = await poolConfiguration(
      config,
      { queueWaitMs: variablesOf(this.env).queueTimeoutMs, needsNoAccount },
      version,
    );
    // An edit may have arrived meanwhile; it is newer.
    if (!this.#configured) this.#take(configuration);
  }

  /** Applies this shard's part of the newest configuration. */
  async #fetchPart(): Promise<void> {
    const part = await this.env.CONFIGURATION.getByName(POOL_NAME).poolPart(this.#name);
    // This object is not one of several pools: it has no accounts to grant.
    if (part === null && this.#name !== POOL_NAME) this.#configured = true;
    if (part !== null) this.#take(part);
  }

  #take(configuration: PoolConfiguration): void {
    const { shard } = configuration;
    if (shard === undefined) this.#pool.configure(configuration);
    else {
      this.#trader ??= this.#newTrader();
      this.#seeker ??= new PartSeeker(this.#pool, this.#trader, WALL_CLOCK);
      const { shards, former } = shard.layout;
      this.#trader.configure({ shards, former, founders: FOUNDERS }, configuration);
    }
    this.#configured = true;
    this.#takeover.look();
  }
}
