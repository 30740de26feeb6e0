import type { Config } from "./schema.ts";

/** Creates a new configuration from the current one. */
export type ConfigChange = (config: Config, version: number) => Config | Promise<Config>;
/** Creates the audit note of a change. */
export type CreateEditNote = (before: Config, after: Config) => EditNote | null | Promise<EditNote | null>;

/** A configuration and its version. Versions only grow. */
export interface ConfigSnapshot {
  readonly version: number;
  readonly config: Config;
  /** The configuration came from `GATEWAY_CONFIG_JSON`. */
  readonly envBacked: boolean;
  /** Whether edits are stored: false for an environment-backed configuration without write-back. */
  readonly writable: boolean;
}

/** One changed field, secrets masked. Values are JSON; null: the field was absent before or after. */
export interface FieldChange {
  /** `accounts[one@example.com].name`: list entries are named, not numbered. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The audit record of an administrator's change. */
export interface ChangeNote {
  /** Unix milliseconds. */
  readonly at: number;
  /** `token:<id>`, `key` for the admin key or password, or `schedule` for automatic changes. */
  readonly who: string;
  /** The client's address. */
  readonly address: string;
  /** `PUT /admin/settings`. */
  readonly action: string;
  readonly changes: readonly FieldChange[];
  /** Number of changes that are not listed. */
  readonly more: number;
}

/** The audit record of an edit of the configuration. */
export interface EditNote extends ChangeNote {
  /** Whether to store the previous configuration, so that it can be restored. */
  readonly keep: boolean;
  /** Whether to delete stored previous configurations, because they hold secrets that must no longer be stored. */
  readonly forget: boolean;
}

/**
 * An isolate's cache of the configuration, at most two seconds old. `update` serialises edits by compare-and-set on
 * `version`.
 */
export interface ConfigurationStore {
  /**
   * The configuration, at most two seconds old; older only while the store is unreachable. This isolate's own writes are
   * visible at once.
   *
   * @param waitUntil keeps the request's context alive for a refresh in the background
   */
  read(waitUntil?: (refresh: Promise<unknown>) => void): Promise<ConfigSnapshot>;
  /**
   * The newest configuration, for a key or model name that the cache does not have. A name that was looked up in the last
   * two seconds is not looked up again, and the number of lookups is limited: then the answer is that of `read`.
   */
  lookUp(name: string): Promise<ConfigSnapshot>;
  /**
   * The configuration in this version or newer; an older one only if the newest is not available. `version` is the newest
   * at this moment, so a cache that has it counts as just read.
   */
  atLeast(version: number): Promise<ConfigSnapshot>;
  /** The newest configuration, read from the object that serialises edits. */
  readFresh(): Promise<ConfigSnapshot>;
  /**
   * Applies `change` to the newest configuration and stores the result. If another edit came first, `change` runs again on
   * the new state, so that no edit is lost. An error of `change` is rethrown, and nothing is stored.
   *
   * @param note creates the audit record; runs as often as `change`. Null: records nothing.
   */
  update(change: ConfigChange, note?: CreateEditNote): Promise<ConfigSnapshot>;
}
