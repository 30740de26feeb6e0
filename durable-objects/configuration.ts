import { DurableObject } from "cloudflare:workers";
import { buildSeal } from "../src/core/config/build-seal.ts";
import {
  ConfigurationCore,
  type ReplaceOutcome,
  type StoredConfig,
} from "../src/core/config/configuration-core.ts";
import type { Config } from "../src/core/config/schema.ts";
import type { ChangeNote, ConfigSnapshot, EditNote } from "../src/core/config/snapshot.ts";
import { once } from "../src/core/encoding/once.ts";
import type { AuditEntry, AuditQuery, ConfigBackup } from "../src/core/ports/audit-log.ts";
import { WALL_CLOCK } from "../src/core/ports/clock.ts";
import type { PoolConfiguration, PoolLayout } from "../src/core/ports/pool-configuration.ts";
import { claimDataVersion } from "../src/core/storage/data-version.ts";
import { createPoolDeployment } from "../src/gateway/providers/pool-deployment.ts";
import { SqlAuditLog } from "../src/operator/audit/sql-audit-log.ts";
import { ConfigBroadcaster } from "../src/pool/config-broadcaster.ts";
import { buildPoolConfiguration } from "../src/pool/configuration.ts";
import {
  buildShardConfiguration,
  listAllShards,
  nextLayout,
  settledLayout,
} from "../src/pool/shards/layout.ts";
import { POOL_NAME } from "../src/pool/shards/pool-name.ts";
import { COPY_KEY, type ConfigCopy, hashConfigOrigin } from "../src/runtime/cloudflare/configuration.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";
import { durableSql } from "../src/runtime/cloudflare/sql.ts";
import { getVariables } from "../src/runtime/cloudflare/variables.ts";
import { StoredJson } from "./stored-json.ts";

const KEY = COPY_KEY;

/**
 * Storage keys: the pool layout, the shards that have reported the end of a migration, and the number of starts of this
 * object.
 */
const LAYOUT_KEY = "pool layout";
const SETTLED_KEY = "pool settled";
const STARTS_KEY = "pool starts";
/** Maximum of order numbers that one start of this object uses. */
const MAX_ORDERS_PER_START = 2 ** 24;

/** The configuration as the first pool reads it. */
export interface PoolSource extends ConfigSnapshot {
  /** Set if there are, or were, several pools. */
  readonly layout?: PoolLayout;
}

/** The shards that have reported, for one layout, that no slots are occupied elsewhere any more. */
interface SettledShards {
  readonly generation: number;
  readonly shards: readonly string[];
}

/** Stores the configuration and serializes its edits; the rules are in `src/core/config/configuration-core.ts`. */
export class Configuration extends DurableObject<Env> {
  readonly #core: ConfigurationCore;
  readonly #auditLog: SqlAuditLog;
  /** The version of the copy in KV, if known; 0: unknown. */
  #copiedVersion = 0;
  #copying: Promise<void> = Promise.resolve();
  /** Null: there is one pool, and there has never been another. */
  #layout: PoolLayout | null;
  /** See `PoolShard.order`. */
  #order = 0;
  /** Sends the configuration to the pools and tracks their acknowledgements. */
  readonly #broadcaster = new ConfigBroadcaster(WALL_CLOCK);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const storage = new StoredJson<StoredConfig>(ctx.storage, KEY);
    const sql = durableSql(ctx.storage);
    // The first thing that each request needs: a newer build's data stops all of them here.
    claimDataVersion(sql);
    this.#auditLog = new SqlAuditLog(sql);
    this.#core = new ConfigurationCore(storage, getVariables(env));
    const { kv } = ctx.storage;
    const storedLayout = kv.get<PoolLayout>(LAYOUT_KEY) ?? null;
    this.#layout = nextLayout(getVariables(env).poolShards, storedLayout);
    if (this.#layout === null) return;
    const starts = (kv.get<number>(STARTS_KEY) ?? 0) + 1;
    kv.put(STARTS_KEY, starts);
    this.#order = starts * MAX_ORDERS_PER_START;
    if (this.#layout === storedLayout) return;
    kv.put(LAYOUT_KEY, this.#layout);
    ctx.waitUntil(ctx.storage.setAlarm(Date.now()));
  }

  get(): PoolSource {
    const { snapshot } = this.#core;
    return this.#layout === null ? snapshot : { ...snapshot, layout: this.#layout };
  }

  /** The configuration of one of several pools; null: there is one pool. */
  async poolPart(name: string): Promise<PoolConfiguration | null> {
    const layout = this.#layout;
    if (layout === null) return null;
    const order = this.#nextOrder();
    return buildShardConfiguration(await this.#poolConfiguration(), layout, name, order);
  }

  /** A pool reports that no slots of the accounts that it received are occupied elsewhere any more. */
  async poolSettled(name: string, generation: number): Promise<void> {
    const layout = this.#layout;
    if (layout?.generation !== generation || layout.earlier.length === 0) return;
    const { kv } = this.ctx.storage;
    const stored = kv.get<SettledShards>(SETTLED_KEY);
    const shards = new Set(stored?.generation === generation ? stored.shards : []);
    shards.add(name);
    kv.put(SETTLED_KEY, { generation, shards: [...shards] } satisfies SettledShards);
    if (!layout.shards.every((shard) => shards.has(shard))) return;
    this.#layout = settledLayout(layout);
    kv.put(LAYOUT_KEY, this.#layout);
    this.#broadcaster.markChanged();
    await this.ctx.storage.setAlarm(Date.now());
  }

  /** The newest configuration, or null when `known` is its version. */
  newerThan(known: number): ConfigSnapshot | null {
    // The configuration at the start of this object may not be in KV yet.
    if (this.#copiedVersion === 0) this.#scheduleCopy();
    const { snapshot } = this.#core;
    return snapshot.version === known ? null : snapshot;
  }

  /** See `AuditLog.listEntries`. */
  audit(query: AuditQuery): { items: AuditEntry[]; total: number } {
    return this.#auditLog.listEntries(query);
  }

  /** See `AuditLog.recordEntry`. */
  record(note: ChangeNote): void {
    this.#auditLog.recordEntry(note);
  }

  /** See `AuditLog.listBackups`. */
  versions(): ConfigBackup[] {
    return this.#auditLog.listBackups();
  }

  /** A stored earlier configuration as JSON; null: that version is not stored. */
  versionText(version: number): string | null {
    const config = this.#auditLog.readBackup(version);
    return config === null ? null : JSON.stringify(config);
  }

  /**
   * Stores an edit made on version `base` and its record, informs the account pools and leaves a copy in KV. A pool that
   * does not answer is informed later: the edit is stored and does not fail.
   */
  async replace(base: number, config: Config, note: EditNote | null): Promise<ReplaceOutcome> {
    const outcome = this.#core.replace(base, config, (previous, version) => {
      if (note !== null) this.#auditLog.recordEdit(previous, version, note);
    });
    if (!outcome.stored) return outcome;
    this.#broadcaster.markChanged();
    // If this object ends before all pools know the edit, the alarm informs them.
    await this.ctx.storage.setAlarm(Date.now() + this.#broadcaster.nextRetryMs());
    this.#scheduleCopy();
    await this.#broadcastToPools();
    if (this.#broadcaster.isAcknowledgedBy(this.#allPools)) await this.ctx.storage.deleteAlarm();
    return outcome;
  }

  override async alarm(): Promise<void> {
    await this.#broadcastToPools();
    if (!this.#broadcaster.isAcknowledgedBy(this.#allPools))
      await this.ctx.storage.setAlarm(Date.now() + this.#broadcaster.nextRetryMs());
  }

  /** Names of all pools that exist or may still hold something. */
  get #allPools(): readonly string[] {
    return this.#layout === null ? [POOL_NAME] : listAllShards(this.#layout);
  }

  /**
   * Once a pool knows the version, it reports it with every grant, so that no isolate continues with an older
   * configuration.
   */
  async #broadcastToPools(): Promise<void> {
    const layout = this.#layout;
    const order = layout === null ? 0 : this.#nextOrder();
    const loadConfiguration = once(() => this.#poolConfiguration());
    await this.#broadcaster.broadcast(this.#allPools, async (name) => {
      const configuration = await loadConfiguration();
      await this.env.ACCOUNT_POOL.getByName(name).configure(
        layout === null ? configuration : buildShardConfiguration(configuration, layout, name, order),
      );
    });
  }

  /** Must be called at the moment when the message's content is fixed. */
  #nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }

  #poolConfiguration(): Promise<PoolConfiguration> {
    const { version, config } = this.#core.snapshot;
    return buildPoolConfiguration(config, createPoolDeployment(getVariables(this.env)), version);
  }

  /** Leaves a copy in KV for isolates that cannot reach this object. */
  #scheduleCopy(): void {
    this.#copying = this.#copying.then(() => this.#copy()).catch(() => undefined);
    this.ctx.waitUntil(this.#copying);
  }

  async #copy(): Promise<void> {
    const { CONFIG_KV: kv } = this.env;
    const source = await hashConfigOrigin(getVariables(this.env));
    // KV accepts one write per key and second.
    for (let attempts = 3; kv !== undefined && attempts > 0; attempts -= 1) {
      const { snapshot } = this.#core;
      if (this.#copiedVersion === snapshot.version) return;
      try {
        const seal = await buildSeal(snapshot.config);
        await kv.put(KEY, JSON.stringify({ ...snapshot, source, seal } satisfies ConfigCopy));
        this.#copiedVersion = snapshot.version;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1_100));
      }
    }
  }
}
