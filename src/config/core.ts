import { BUILD } from "../version.ts";
import { type Config, configSchema } from "./schema.ts";
import type { ConfigSnapshot } from "./snapshot.ts";
import { type ConfigOrigin, initialConfig } from "./source.ts";

/** What {@link ConfigurationCore} keeps. */
export interface StoredConfig {
  readonly version: number;
  readonly config: unknown;
  /** The `GATEWAY_CONFIG_JSON` that the edits were made on; empty for a stored configuration. */
  readonly source: string;
  /** The build by whose schemas it is as it is; absent: it is not known. */
  readonly build?: string;
}

/** One durable slot. */
export interface ConfigStorage {
  load(): StoredConfig | null;
  /** Replaces what is stored. `also` stores what goes with it: both happen, or neither. */
  save(stored: StoredConfig, also?: () => void): void;
}

/** Outcome of {@link ConfigurationCore.replace}: `stored` false means that another edit came first. */
export interface ReplaceOutcome {
  readonly stored: boolean;
  readonly snapshot: ConfigSnapshot;
}

/**
 * The rules by which the configuration is kept: versions only grow, an edit counts only if it was made on the newest
 * version, an environment-backed configuration is read-only unless write-back is enabled, and a changed environment
 * wins over edits of the old one. Runs in one place a deployment.
 */
export class ConfigurationCore {
  readonly #storage: ConfigStorage;
  readonly #origin: ConfigOrigin;
  readonly #build: string | null;
  #snapshot: ConfigSnapshot;

  /** `build`: see `BUILD`. */
  constructor(storage: ConfigStorage, origin: ConfigOrigin, build = BUILD) {
    this.#storage = storage;
    this.#origin = origin;
    this.#build = build;
    this.#snapshot = this.#load();
  }

  get snapshot(): ConfigSnapshot {
    return this.#snapshot;
  }

  /**
   * Stores a configuration that was made from version `base`. Throws when it is invalid or read-only, or when the storage fails: then
   * nothing has changed.
   *
   * @param record stores what goes with the edit that led from a configuration to that version
   */
  replace(
    base: number,
    config: unknown,
    record?: (before: ConfigSnapshot, version: number) => void,
  ): ReplaceOutcome {
    if (base !== this.#snapshot.version) return { stored: false, snapshot: this.#snapshot };
    if (!this.#snapshot.writable) throw new Error("the configuration is read-only");
    const parsed: Config = configSchema.parse(config);
    const version = base + 1;
    const before = this.#snapshot;
    this.#save({ version, config: parsed, source: this.#origin.configJson ?? "" }, () =>
      record?.(before, version),
    );
    this.#snapshot = { ...this.#snapshot, version, config: parsed };
    return { stored: true, snapshot: this.#snapshot };
  }

  #save(stored: StoredConfig, also?: () => void): void {
    this.#storage.save(this.#build === null ? stored : { ...stored, build: this.#build }, also);
  }

  /** What is stored. What this very build has checked before it takes as it is: new objects start sooner without the schemas. */
  #checked(stored: StoredConfig): Config {
    if (isOwn(stored, this.#build)) return stored.config;
    const config = configSchema.parse(stored.config);
    // One that an earlier build would read otherwise stays as it is until it is edited.
    if (this.#build !== null && JSON.stringify(config) === JSON.stringify(stored.config)) this.#save(stored);
    return config;
  }

  #load(): ConfigSnapshot {
    const { configJson, configWriteback } = this.#origin;
    const envBacked = configJson !== null;
    const writable = !envBacked || configWriteback;
    const stored = this.#storage.load();
    const usable = stored !== null && stored.source === (configJson ?? "") && writable;
    if (usable) {
      return { version: stored.version, config: this.#checked(stored), envBacked, writable };
    }
    // A version above every stored one, so that nobody takes what it knows for newer.
    return {
      version: (stored?.version ?? 0) + 1,
      config: initialConfig(this.#origin),
      envBacked,
      writable,
    };
  }
}

function isOwn(stored: StoredConfig, build: string | null): stored is StoredConfig & { config: Config } {
  return build !== null && stored.build === build;
}
