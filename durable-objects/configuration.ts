import { DurableObject } from "cloudflare:workers";
import { poolConfiguration } from "../src/accounts/configuration.ts";
import { POOL_NAME } from "../src/accounts/pool-name.ts";
import { SqlJournal } from "../src/audit/sql-journal.ts";
import { ConfigurationCore, type ReplaceOutcome, type StoredConfig } from "../src/config/core.ts";
import type { Config } from "../src/config/schema.ts";
import type { ChangeNote, ConfigSnapshot, EditNote } from "../src/config/snapshot.ts";
import type { Env } from "../src/platform/cloudflare/env.ts";
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import { variablesOf } from "../src/platform/cloudflare/variables.ts";
import type { AuditEntry, AuditQuery, KeptVersion } from "../src/platform/journal.ts";
import { StoredJson } from "./pieces.ts";

const KEY = "config";

/** Keeps the configuration and serialises its edits; the rules are in `src/config/core.ts`. */
export class Configuration extends DurableObject<Env> {
  readonly #core: ConfigurationCore;
  readonly #journal: SqlJournal;

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
    const { queueTimeoutMs } = variablesOf(this.env);
    const pool = this.env.ACCOUNT_POOL.getByName(POOL_NAME);
    await pool.configure(await poolConfiguration(outcome.snapshot.config, queueTimeoutMs));
    // The copy serves reads while this object cannot be reached; the edit itself is already safe.
    this.ctx.waitUntil(
      this.env.CONFIG_KV?.put(KEY, JSON.stringify(outcome.snapshot)).catch(() => undefined) ??
        Promise.resolve(),
    );
    return outcome;
  }
}
