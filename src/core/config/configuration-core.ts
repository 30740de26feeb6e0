import { BUILD } from "../version.ts";
import type { ConfigOrigin } from "./config-origin.ts";
import { createInitialConfig } from "./initial-config.ts";
import { adaptSampleAccounts } from "./sample-accounts.ts";
import { type Config, configSchema } from "./schema.ts";
import type { ConfigSnapshot } from "./snapshot.ts";

/** What {@link ConfigurationCore} stores. */
export interface StoredConfig {
  readonly version: number;
  readonly config: unknown;
  /** The `GATEWAY_CONFIG_JSON` on which the edits were made; empty for a stored configuration. */
  readonly source: string;
  /** The build whose schemas have checked it; absent if unknown. */
  readonly build?: string;
  /** See `AdaptedConfig`. Absent: none. */
  readonly unusedSamples?: readonly string[];
}

/** Durable storage of one value. */
export interface ConfigStorage {
  load(): StoredConfig | null;
  /** Replaces the stored value. `also` writes in the same transaction. */
  save(stored: StoredConfig, also?: () => void): void;
}

/** Outcome of {@link ConfigurationCore.replace}. `stored` is false if another edit came first. */
export interface ReplaceOutcome {
  readonly stored: boolean;
  readonly snapshot: ConfigSnapshot;
}

/**
 * The rules of the configuration: versions only grow. An edit counts only if it was made on the newest version. An
 * environment-backed configuration is read-only unless write-back is enabled. A changed environment overrides edits of the
 * old one. Runs in one place per deployment.
 */
export class ConfigurationCore {
  readonly #storage: ConfigStorage;
  readonly #origin: ConfigOrigin;
  readonly #build: string | null;
  #unusedSamples: readonly string[] = [];
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
   * Stores a configuration that was made from version `base`. Throws if it is invalid or read-only, or if the storage fails;
   * then nothing has changed.
   *
   * @param record writes related records in the same transaction; gets the previous configuration and the new version
   */
  replace(
    base: number,
    config: unknown,
    record?: (previous: ConfigSnapshot, version: number) => void,
  ): ReplaceOutcome {
    if (base !== this.#snapshot.version) return { stored: false, snapshot: this.#snapshot };
    if (!this.#snapshot.writable) throw new Error("the configuration is read-only");
    const parsed: Config = configSchema.parse(config);
    const version = base + 1;
    const previous = this.#snapshot;
    const unusedSamples = this.#unusedSamples;
    this.#save(
      {
        version,
        config: parsed,
        source: this.#origin.configJson ?? "",
        ...(unusedSamples.length === 0 ? {} : { unusedSamples }),
      },
      () => record?.(previous, version),
    );
    this.#snapshot = { ...this.#snapshot, version, config: parsed };
    return { stored: true, snapshot: this.#snapshot };
  }

  #save(stored: StoredConfig, also?: () => void): void {
    this.#storage.save(this.#build === null ? stored : { ...stored, build: this.#build }, also);
  }

  /**
   * Validates the stored configuration. If this build has validated it before, skips the schemas: new objects start faster
   * without them.
   */
  #validateStored(stored: StoredConfig): Config {
    if (isValidatedBy(stored, this.#build)) return stored.config;
    const config = configSchema.parse(stored.config);
    // If this build reads it differently from an earlier one, the stored form stays until the next edit.
    if (this.#build !== null && JSON.stringify(config) === JSON.stringify(stored.config)) this.#save(stored);
    return config;
  }

  #load(): ConfigSnapshot {
    const { configJson, configWriteback } = this.#origin;
    const envBacked = configJson !== null;
    const writable = !envBacked || configWriteback;
    const stored = this.#storage.load();
    const usable = stored !== null && stored.source === (configJson ?? "") && writable;
    const current = usable
      ? { config: this.#validateStored(stored), unusedSamples: stored.unusedSamples ?? [] }
      : null;
    const { config, unusedSamples } =
      current === null ? createInitialConfig(this.#origin) : adaptSampleAccounts(current, this.#origin);
    this.#unusedSamples = unusedSamples;
    // Content that is not stored has a version above all stored ones, so that no client considers its own snapshot newer.
    const storedVersion = stored?.version ?? 0;
    const version = config === current?.config ? storedVersion : storedVersion + 1;
    return { version, config, envBacked, writable };
  }
}

function isValidatedBy(
  stored: StoredConfig,
  build: string | null,
): stored is StoredConfig & { config: Config } {
  return build !== null && stored.build === build;
}
