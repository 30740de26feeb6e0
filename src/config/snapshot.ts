import type { Config } from "./schema.ts";

/** Makes a configuration of the present one. */
export type Change = (config: Config, version: number) => Config | Promise<Config>;
/** Tells what is recorded of a change. */
export type Note = (before: Config, after: Config) => EditNote | null | Promise<EditNote | null>;

/** A configuration together with the number of its edit. Versions only grow. */
export interface ConfigSnapshot {
  readonly version: number;
  readonly config: Config;
  /** The configuration came from `GATEWAY_CONFIG_JSON`. */
  readonly envBacked: boolean;
  /** Edits are kept: false for an environment-backed configuration without write-back. */
  readonly writable: boolean;
}

/** One field that an edit has changed; secrets are masked. Values are JSON; null: there was none, or is none any more. */
export interface FieldChange {
  /** `accounts[one@example.com].name`: entries of lists go by what they are called. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** What is recorded of an administrator's change. */
export interface ChangeNote {
  /** Unix milliseconds. */
  readonly at: number;
  /** `token:<id>`, `key` for the admin key or password, or `schedule` for what nobody's request did. */
  readonly who: string;
  /** The client's address. */
  readonly address: string;
  /** `PUT /admin/settings`. */
  readonly action: string;
  readonly changes: readonly FieldChange[];
  /** Changes beyond the listed ones. */
  readonly more: number;
}

/** The same of an edit of the configuration. */
export interface EditNote extends ChangeNote {
  /** The configuration before it is kept, so that it can be restored. */
  readonly keep: boolean;
  /** Configurations that were kept hold secrets which must not be kept any more. */
  readonly forget: boolean;
}

/**
 * Where the configuration is kept. `read` is cheap and at most a few seconds old; `update` serialises edits: it hands
 * the newest configuration to nobody else until `version` has been compared.
 */
export interface ConfigurationStore {
  /** The configuration, at most a few seconds old; what this isolate wrote itself is visible at once. */
  read(): Promise<ConfigSnapshot>;
  /**
   * What this place has of it, however old, or a copy that is near: for requests that learn of a newer version before they
   * do anything, and for what need not be exact. Never asks the object that serialises edits if there is such a copy.
   */
  readCopy(): Promise<ConfigSnapshot>;
  /** The configuration of that version or a newer one; an older one only when the newest cannot be had. */
  atLeast(version: number): Promise<ConfigSnapshot>;
  /** The newest configuration, straight from the object that serialises edits. */
  readFresh(): Promise<ConfigSnapshot>;
  /**
   * Applies `change` to the newest configuration and stores what it returns. When another edit came in between,
   * `change` runs again on that edit's outcome, so that neither is lost. What `change` throws is thrown here and
   * nothing is stored.
   *
   * @param note what is recorded of it; it is asked as often as `change`. Null: nothing.
   */
  update(change: Change, note?: Note): Promise<ConfigSnapshot>;
}
