import { DurableObject } from "cloudflare:workers";
import type { AccountHealth, QueueStatus } from "../src/core/ports/account-status.ts";
import type { AcquireRefusal, AcquireRequest, CountResult } from "../src/core/ports/accounts.ts";
import { monotonicNow, WALL_CLOCK, withTimeout } from "../src/core/ports/clock.ts";
import type { PoolConfiguration } from "../src/core/ports/pool-configuration.ts";
import type { LimitedUse, SpentAmounts, SubjectUsage } from "../src/core/ports/subject-limits.ts";
import { MAX_SHARDS } from "../src/core/variables/variables.ts";
import { createPoolDeployment } from "../src/gateway/providers/pool-deployment.ts";
import { buildPoolConfiguration } from "../src/pool/configuration.ts";
import type { IsolateReport, IsolateReportAnswer } from "../src/pool/isolate-reports.ts";
import type { HeartbeatAnswer, LeaseHolder } from "../src/pool/leases/leases.ts";
import { BatchedUseStore } from "../src/pool/limits/batched-use-store.ts";
import { SqlUseStore } from "../src/pool/limits/sql-use-store.ts";
import { AccountPool as PoolRules } from "../src/pool/pool.ts";
import { Waiter } from "../src/pool/queue/waiter.ts";
import type { OccupiedSlots } from "../src/pool/shards/account-handover.ts";
import { shardNames } from "../src/pool/shards/layout.ts";
import { POOL_NAME } from "../src/pool/shards/pool-name.ts";
import { SHARD_TIMEOUT_MS } from "../src/pool/shards/shard-access.ts";
import { ShardMigration } from "../src/pool/shards/shard-migration.ts";
import type { ShardStatus } from "../src/pool/shards/shard-status.ts";
import { SqlPoolStore } from "../src/pool/storage/sql-pool-store.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";
import type { SettledUses } from "../src/runtime/cloudflare/pool-client/settlement-queue.ts";
import { durableSql } from "../src/runtime/cloudflare/sql.ts";
import { getVariables } from "../src/runtime/cloudflare/variables.ts";
import { getProcessName } from "./process-name.ts";
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
export function shardNameOf(id: DurableObjectId, pools: Pick<DurableObjectNamespace, "idFromName">): string {
  const name = id.name ?? shardNames(MAX_SHARDS).find((candidate) => pools.idFromName(candidate).equals(id));
  if (name === undefined) throw new Error("this object has the name of no pool");
  return name;
}

/**
 * How long a status request waits for the other pools' answers, milliseconds: less than its reader waits for this pool
 * before it counts the pool as silent.
 */
const STATUS_WAIT_MS = (2 * SHARD_TIMEOUT_MS) / 3;

/**
 * Hands out account slots: storage, alarm and RPC around the rules in `src/pool/`. There is one object, or several that
 * each own a part of the accounts.
 */
export class AccountPool extends DurableObject<Env> {
  readonly #name: string;
  readonly #pool: PoolRules;
  readonly #migration: ShardMigration;
  #isConfigured = false;
  #configuring: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#name = shardNameOf(ctx.id, env.ACCOUNT_POOL);
    const sql = durableSql(ctx.storage);
    const uses = new BatchedUseStore(new SqlUseStore(sql), (work) => sql.transaction(work));
    this.#pool = new PoolRules({
      store: new SqlPoolStore(sql),
      uses,
      boot: getProcessName(env),
      ...WALL_CLOCK,
      monotonicNow,
      wakeAt: (at) => {
        ctx.waitUntil(ctx.storage.setAlarm(at).catch(() => this.#pool.onAlarmFailed()));
      },
    });
    const pools = env.ACCOUNT_POOL;
    const configuration = () => env.CONFIGURATION.getByName(POOL_NAME);
    this.#migration = new ShardMigration({
      pool: this.#pool.moves,
      setTimer: WALL_CLOCK.setTimer,
      askOccupied: (shard, generation, withStored) =>
        pools.getByName(shard).countOccupiedSlotsFor(this.#name, generation, withStored),
      onNewerLayout: () => this.#fetchShardConfiguration(),
      onSettled: (generation) => configuration().poolSettled(this.#name, generation),
    });
  }

  /** Grants a slot in one call; only a request that must wait needs a second call, `pending.wait()`. */
  async acquire(
    request: AcquireRequest,
    settled: SettledUses = [],
  ): Promise<GrantReply | AcquireRefusal | QueuedReply> {
    if (!this.#isConfigured) await this.#fetchConfiguration();
    for (const [use, spent] of settled) this.#pool.limitedRequests.settle(use, spent);
    const outcome = this.#pool.acquire(request);
    const stored = this.#pool.confirmStored(request, outcome, settled.length > 0);
    if (stored !== null) await stored;
    if (outcome instanceof Waiter) {
      return { place: new QueuePlace(outcome), pending: new PendingSlot(this.#pool, outcome) };
    }
    return "granted" in outcome ? grantReply(this.#pool, outcome.granted) : outcome;
  }

  /** Renews the long-lived leases of an isolate. */
  beat(isolate: string, leases: readonly string[], known?: number): HeartbeatAnswer {
    return this.#pool.beat(isolate, leases, known);
  }

  /** Resumes a lease that was granted before this object was restarted. Null when it has been reclaimed. */
  resume(lease: string, account: string, holder: LeaseHolder, isolate = ""): ResumedReply | null {
    const name = this.#pool.resumeLease(lease, account, holder, isolate);
    return name === null ? null : { name, lease: new SlotLease(this.#pool, name, account) };
  }

  /** See `AccountPool.report` in `src/pool/pool.ts`. */
  async report(report: IsolateReport): Promise<IsolateReportAnswer> {
    if (!this.#isConfigured) await this.#fetchConfiguration();
    return this.#pool.report(report);
  }

  async count(use: LimitedUse): Promise<CountResult> {
    const result = this.#pool.limitedRequests.count(use);
    await this.#pool.limitedRequests.whenStored();
    return result;
  }

  /** For isolates of an earlier version. */
  settle(use: string, spent: SpentAmounts): Promise<void> {
    return this.settleUses([[use, spent]]);
  }

  async settleUses(settled: SettledUses): Promise<void> {
    for (const [use, spent] of settled) this.#pool.limitedRequests.settle(use, spent);
    await this.#pool.limitedRequests.whenStored();
  }

  /** See the methods of `LimitedRequests` for requests that get their slot from another shard. */
  async reserveUse(use: LimitedUse, settled: SettledUses): Promise<CountResult> {
    for (const [id, spent] of settled) this.#pool.limitedRequests.settle(id, spent);
    const result = this.#pool.limitedRequests.reserveRemote(use);
    await this.#pool.limitedRequests.whenStored();
    return result;
  }

  async startUse(use: LimitedUse): Promise<CountResult> {
    const result = this.#pool.limitedRequests.beginRemote(use);
    await this.#pool.limitedRequests.whenStored();
    return result;
  }

  async renewUse(use: string): Promise<void> {
    this.#pool.limitedRequests.keepAlive(use);
    await this.#pool.limitedRequests.whenStored();
  }

  async cancelUse(use: string, isNew?: boolean): Promise<void> {
    this.#pool.limitedRequests.releaseUnserved(use, isNew);
    await this.#pool.limitedRequests.whenStored();
  }

  async hasHealthyAccount(provider?: string): Promise<boolean> {
    if (!this.#isConfigured) await this.#fetchConfiguration();
    return this.#pool.hasHealthyAccount(provider);
  }

  async shardStatus(maxEntries?: number): Promise<ShardStatus> {
    await this.#whenReady();
    return this.#pool.shardStatus(maxEntries);
  }

  /**
   * The slots that this shard still occupies of accounts that `shard` owns in a layout. It applies that layout first, so
   * that the numbers can only fall afterwards.
   */
  async countOccupiedSlotsFor(
    shard: string,
    generation: number,
    includeStored: boolean,
  ): Promise<OccupiedSlots> {
    if (!this.#isConfigured) await this.#fetchConfiguration();
    if (this.#pool.moves.generation < generation) await this.#fetchShardConfiguration();
    return this.#pool.moves.occupiedSlotsFor(shard, includeStored);
  }

  /** For shards of an earlier version, which traded parts of limits: this one has none to give. */
  partsAsked(): string {
    return "{}";
  }

  listSubjectUsage(key?: string): SubjectUsage[] {
    return this.#pool.limitedRequests.listSubjectUses(key);
  }

  async status(maxEntries?: number): Promise<QueueStatus> {
    await this.#whenReady();
    return this.#pool.status(maxEntries);
  }

  async health(ids?: readonly string[]): Promise<AccountHealth[]> {
    if (!this.#isConfigured) await this.#fetchConfiguration();
    return this.#pool.health(ids);
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    if (!this.#isConfigured) await this.#fetchConfiguration();
    this.#pool.setTestStatus(id, status);
  }

  async tokensDueForRefresh(): Promise<string[]> {
    if (!this.#isConfigured) await this.#fetchConfiguration();
    return this.#pool.tokensDueForRefresh();
  }

  /** Must be called after every edit of the configuration. */
  async configure(configuration: PoolConfiguration): Promise<void> {
    // With several pools, each starts with the configuration that it fetches: a message meant for an earlier start may be
    // outdated.
    const hasSeveralPools = configuration.shard !== undefined || getVariables(this.env).poolShards > 1;
    if (!this.#isConfigured && hasSeveralPools) await this.#fetchConfiguration();
    this.#applyConfiguration(configuration);
  }

  override async alarm(): Promise<void> {
    const next = this.#pool.sweep();
    if (next !== null) await this.ctx.storage.setAlarm(next);
  }

  /**
   * Waits until the pool is configured and knows which slots of its moved accounts other pools still occupy. Without that,
   * a status shortly after a start would show almost no available accounts.
   */
  async #whenReady(): Promise<void> {
    const deadline = Date.now() + STATUS_WAIT_MS;
    if (!this.#isConfigured) await this.#fetchConfiguration();
    const { allAnswered } = this.#migration;
    if (allAnswered !== null) await withTimeout(allAnswered, Math.max(0, deadline - Date.now()), WALL_CLOCK);
  }

  #fetchConfiguration(): Promise<void> {
    this.#configuring ??= this.#configureOnce().finally(() => {
      this.#configuring = null;
    });
    return this.#configuring;
  }

  async #configureOnce(): Promise<void> {
    if (this.#name !== POOL_NAME) {
      await this.#fetchShardConfiguration();
      return;
    }
    const { config, version, layout } = await this.env.CONFIGURATION.getByName(POOL_NAME).get();
    if (layout !== undefined) {
      await this.#fetchShardConfiguration();
      return;
    }
    const configuration = await buildPoolConfiguration(
      config,
      createPoolDeployment(getVariables(this.env)),
      version,
    );
    // An edit may have arrived meanwhile; it is newer.
    if (!this.#isConfigured) this.#applyConfiguration(configuration);
  }

  /** Applies this shard's part of the newest configuration. */
  async #fetchShardConfiguration(): Promise<void> {
    const configuration = await this.env.CONFIGURATION.getByName(POOL_NAME).poolPart(this.#name);
    // This object is not one of several pools: it has no accounts to grant.
    if (configuration === null && this.#name !== POOL_NAME) this.#isConfigured = true;
    if (configuration !== null) this.#applyConfiguration(configuration);
  }

  #applyConfiguration(configuration: PoolConfiguration): void {
    this.#pool.configure(configuration);
    this.#isConfigured = true;
    this.#migration.onConfigured();
  }
}
