import type { Config } from "./schema.ts";

/** A configuration together with the number of its edit. Versions only grow. */
export interface ConfigSnapshot {
  readonly version: number;
  readonly config: Config;
  /** The configuration came from `GATEWAY_CONFIG_JSON`. */
  readonly envBacked: boolean;
  /** Edits are kept: false for an environment-backed configuration without write-back. */
  readonly writable: boolean;
}

/**
 * Where the configuration is kept. `read` is cheap and at most a few seconds old; `update` serialises edits: it hands
 * the newest configuration to nobody else until `version` has been compared.
 */
export interface ConfigurationStore {
  /** The configuration, at most a few seconds old; what this isolate wrote itself is visible at once. */
  read(): Promise<ConfigSnapshot>;
  /** The newest configuration, straight from the object that serialises edits. */
  readFresh(): Promise<ConfigSnapshot>;
  /**
   * Applies `change` to the newest configuration and stores what it returns. When another edit came in between,
   * `change` runs again on that edit's outcome, so that neither is lost. What `change` throws is thrown here and
   * nothing is stored.
   */
  update(change: (config: Config) => Config | Promise<Config>): Promise<ConfigSnapshot>;
}
