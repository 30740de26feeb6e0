import { GatewayError } from "../errors/gateway-error.ts";
import type { ReplaceOutcome } from "./configuration-core.ts";
import type { Config } from "./schema.ts";
import type {
  ConfigChange,
  ConfigSnapshot,
  ConfigurationStore,
  CreateEditNote,
  EditNote,
} from "./snapshot.ts";

/** Access to the store of the configuration. */
export interface ConfigurationBackend {
  /** Returns null if nothing is newer than `known`. */
  newerThan(known: number): Promise<ConfigSnapshot | null>;
  /** Records `note` together with the edit; null: records nothing. */
  replace(base: number, config: Config, note: EditNote | null): Promise<ReplaceOutcome>;
}

/** Snapshots of this age are refreshed in the background, so that steady load never waits. */
const REFRESH_AFTER_MS = 1_000;
/** Snapshots of this age are refreshed before use: the bound on how long an edit takes to arrive. */
const MAX_AGE_MS = 2_000;
/** Maximum number of names that are looked up within that time. */
const MAX_LOOKUPS = 100;
const MAX_TRIES = 100;

/**
 * An isolate's cache of the configuration. Reading a recent snapshot needs no call. Edits of other isolates are visible
 * after at most two seconds, own edits at once.
 */
export class ConfigurationClient implements ConfigurationStore {
  readonly #backend: ConfigurationBackend;
  readonly #now: () => number;
  #snapshot: ConfigSnapshot | null = null;
  /** When the snapshot was the newest, milliseconds. */
  #checkedAt = 0;
  #refreshStartedAt = 0;
  /** When each of the last names was looked up, milliseconds, oldest first. */
  readonly #lookups = new Map<string, number>();
  #edits: Promise<unknown> = Promise.resolve();

  constructor(backend: ConfigurationBackend, now: () => number) {
    this.#backend = backend;
    this.#now = now;
  }

  async read(waitUntil?: (refresh: Promise<unknown>) => void): Promise<ConfigSnapshot> {
    const snapshot = this.#snapshot;
    if (snapshot === null) return this.readFresh();
    const now = this.#now();
    const age = now - this.#checkedAt;
    // Without the store, requests are served with what is known.
    if (age < 0 || age >= MAX_AGE_MS) return this.readFresh().catch(() => snapshot);
    if (age >= REFRESH_AFTER_MS && this.#refreshStartedAt <= this.#checkedAt) {
      this.#refreshStartedAt = now;
      const refresh = this.readFresh().catch(() => undefined);
      waitUntil?.(refresh);
    }
    return snapshot;
  }

  async lookUp(name: string): Promise<ConfigSnapshot> {
    const now = this.#now();
    for (const [lookedUp, at] of this.#lookups) {
      if (now >= at && now - at < MAX_AGE_MS) break;
      this.#lookups.delete(lookedUp);
    }
    if (this.#lookups.has(name) || this.#lookups.size >= MAX_LOOKUPS) return this.read();
    this.#lookups.set(name, now);
    return this.readFresh();
  }

  async atLeast(version: number): Promise<ConfigSnapshot> {
    const current = this.#snapshot;
    if (current === null || current.version < version) return this.readFresh();
    if (current.version === version) this.#checkedAt = this.#now();
    return current;
  }

  async readFresh(): Promise<ConfigSnapshot> {
    const newer = await this.#backend.newerThan(this.#snapshot?.version ?? 0);
    return this.#adoptFresh(newer);
  }

  update(change: ConfigChange, note?: CreateEditNote): Promise<ConfigSnapshot> {
    // Edits of one isolate run one after the other. The compare-and-set orders those of different isolates.
    const edit = this.#edits.then(() => this.#apply(change, note));
    this.#edits = edit.catch(() => undefined);
    return edit;
  }

  async #apply(change: ConfigChange, note?: CreateEditNote): Promise<ConfigSnapshot> {
    for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
      const { version, config, writable } = await this.readFresh();
      if (!writable) {
        throw new GatewayError(
          409,
          "the configuration comes from GATEWAY_CONFIG_JSON and is read-only; set GATEWAY_CONFIG_WRITEBACK=true to keep edits",
          { code: "invalid_request" },
        );
      }
      const changed = await change(config, version);
      const editNote = (await note?.(config, changed)) ?? null;
      const { stored, snapshot } = await this.#backend.replace(version, changed, editNote);
      const current = this.#adoptFresh(snapshot);
      if (stored) return current;
    }
    throw new GatewayError(503, "too many edits at once: try again", { code: "overloaded" });
  }

  #adoptFresh(snapshot: ConfigSnapshot | null): ConfigSnapshot {
    this.#checkedAt = this.#now();
    if (snapshot !== null && (this.#snapshot === null || snapshot.version > this.#snapshot.version)) {
      this.#snapshot = snapshot;
    }
    if (this.#snapshot === null) throw new Error("the configuration object answered nothing");
    return this.#snapshot;
  }
}
