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
  /** A copy that is quick to read but may be old; null: there is none. Absent: the store itself is quick to read. */
  readCopy?(): Promise<ConfigSnapshot | null>;
}

/** Older snapshots than this are refreshed in the background. */
const REFRESH_AFTER_MS = 2_000;
/** Older snapshots than this are refreshed before use: the bound on how long an edit takes to arrive. */
const MAX_AGE_MS = 5_000;
const MAX_TRIES = 100;

/**
 * An isolate's view of the configuration. Reading a recent snapshot needs no call. Edits of other isolates are visible after
 * at most five seconds, own edits at once.
 */
export class ConfigurationClient implements ConfigurationStore {
  readonly #backend: ConfigurationBackend;
  readonly #now: () => number;
  #snapshot: ConfigSnapshot | null = null;
  #checkedAt = 0;
  #edits: Promise<unknown> = Promise.resolve();

  constructor(backend: ConfigurationBackend, now: () => number) {
    this.#backend = backend;
    this.#now = now;
  }

  async read(): Promise<ConfigSnapshot> {
    const age = this.#now() - this.#checkedAt;
    if (this.#snapshot === null || age >= MAX_AGE_MS) return this.readFresh();
    if (age >= REFRESH_AFTER_MS) {
      this.#checkedAt = this.#now();
      this.readFresh().catch(() => undefined);
    }
    return this.#snapshot;
  }

  async readCopy(): Promise<ConfigSnapshot> {
    if (this.#backend.readCopy === undefined) return this.read();
    if (this.#snapshot !== null) return this.#snapshot;
    const copy = await this.#backend.readCopy().catch(() => null);
    // The copy's age is unknown: `#checkedAt` stays, so that the next `read` refreshes.
    return copy === null ? this.readFresh() : this.#adoptNewer(copy);
  }

  async atLeast(version: number): Promise<ConfigSnapshot> {
    const current = this.#snapshot;
    if (current === null || current.version < version) return this.readFresh();
    this.#checkedAt = this.#now();
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
    return this.#adoptNewer(snapshot);
  }

  #adoptNewer(snapshot: ConfigSnapshot | null): ConfigSnapshot {
    if (snapshot !== null && (this.#snapshot === null || snapshot.version > this.#snapshot.version)) {
      this.#snapshot = snapshot;
    }
    if (this.#snapshot === null) throw new Error("the configuration object answered nothing");
    return this.#snapshot;
  }
}
