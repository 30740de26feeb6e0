import { DurableObject } from "cloudflare:workers";
import { poolConfiguration } from "../src/accounts/configuration.ts";
import { POOL_NAME } from "../src/accounts/pool-name.ts";
import { SqlJournal } from "../src/audit/sql-journal.ts";
import { ConfigurationCore, type ReplaceOutcome, type StoredConfig } from "../src/config/core.ts";
import type { Config } from "../src/config/schema.ts";
import type { ChangeNote, ConfigSnapshot, EditNote } from "../src/config/snapshot.ts";
import { COPY_KEY, type ConfigCopy, sourceOf } from "../src/platform/cloudflare/configuration.ts";
import type { Env } from "../src/platform/cloudflare/env.ts";
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import { variablesOf } from "../src/platform/cloudflare/variables.ts";
import type { AuditEntry, AuditQuery, KeptVersion } from "../src/platform/journal.ts";
import { StoredJson } from "./pieces.ts";

const KEY = COPY_KEY;

/** After so long the pool is told of an edit again, milliseconds. */
const TELL_AGAIN_MS = 2_000;

/** Keeps the configuration and serialises its edits; the rules are in `src/config/core.ts`. */
export class Configuration extends DurableObject<Env> {
  readonly #core: ConfigurationCore;
  readonly #journal: SqlJournal;
  /** The version in KV, if this object knows it. */
  #copied = 0;
  #copying: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const storage = new StoredJson<StoredConfig>(ctx.storage, KEY);
    this.#journal = new SqlJournal(durableSql(ctx.storage));
    this.#core = new ConfigurationCore(storage, variablesOf(env));
  }

  /** The newest configuration. */
  get(): ConfigSnapshot {
    return this.#core.snapshot;
  }

  /** The newest configuration, or null when `known` is its version. */
  newerThan(known: number): ConfigSnapshot | null {
    // What this object was started with may be new to KV.
    if (this.#copied === 0) this.#leaveCopy();
    const { snapshot } = this.#core;
    return snapshot.version === known ? null : snapshot;
  }

  /** See `Journal.list`. */
  audit(query: AuditQuery): { items: AuditEntry[]; total: number } {
    return this.#journal.list(query);
  }

  /** See `Journal.record`. */
  record(note: ChangeNote): void {
    this.#journal.record(note);
  }

  /** See `Journal.versions`. */
  versions(): KeptVersion[] {
    return this.#journal.versions();
  }

  /** A configuration that was kept, as JSON; null: there is none of that version. */
  versionText(version: number): string | null {
    const config = this.#journal.readVersion(version);
    return config === null ? null : JSON.stringify(config);
  }

  /** Stores an edit made on version `base` and its record, tells the account pool and leaves a copy in KV. */
  async replace(base: number, config: Config, note: EditNote | null): Promise<ReplaceOutcome> {
    const before = this.#core.snapshot;
    const outcome = this.#core.replace(base, config);
    if (!outcome.stored) return outcome;
    if (note !== null) this.#journal.edited(before, outcome.snapshot.version, note);
    // Should this object end before the pool knows of it, the alarm tells it.
    await this.ctx.storage.setAlarm(Date.now() + TELL_AGAIN_MS);
    this.#leaveCopy();
    await this.#tellPool();
    await this.ctx.storage.deleteAlarm();
    return outcome;
  }

  override async alarm(): Promise<void> {
    await this.#tellPool();
  }

  /** Once it knows, every grant tells the version: nobody goes on with an older configuration. */
  async #tellPool(): Promise<void> {
    const { version, config } = this.#core.snapshot;
    const { queueTimeoutMs } = variablesOf(this.env);
    const pool = this.env.ACCOUNT_POOL.getByName(POOL_NAME);
    await pool.configure(await poolConfiguration(config, queueTimeoutMs, version));
  }

  /** New isolates begin with the copy in KV. It need not be the newest: the pool tells them. */
  #leaveCopy(): void {
    this.#copying = this.#copying.then(() => this.#copy()).catch(() => undefined);
    this.ctx.waitUntil(this.#copying);
  }

  async #copy(): Promise<void> {
    const { CONFIG_KV: kv } = this.env;
    const source = await sourceOf(variablesOf(this.env));
    // One value may be written once a second.
    for (let tries = 3; kv !== undefined && tries > 0; tries -= 1) {
      const { snapshot } = this.#core;
      if (this.#copied === snapshot.version) return;
      try {
        await kv.put(KEY, JSON.stringify({ ...snapshot, source } satisfies ConfigCopy));
        this.#copied = snapshot.version;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1_100));
      }
    }
  }
}
