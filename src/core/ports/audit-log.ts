import type { ChangeNote } from "../config/snapshot.ts";
import type { Awaitable } from "./awaitable.ts";

/** A sign-in with the admin key or the password. */
export interface SignIn {
  /** Unix milliseconds. */
  readonly at: number;
  readonly address: string;
}

/** A recorded change. */
export interface AuditEntry extends ChangeNote {
  /** Increases with each entry. */
  readonly id: number;
  /** Version of the resulting configuration; 0 if the change was no edit of the configuration. */
  readonly version: number;
  /** The sign-in that began the session of `token:<id>`. null: `who` is another, or the sign-in is no longer stored. */
  readonly session: SignIn | null;
}

/** Selects audit entries. An empty text, or 0, matches everything. */
export interface AuditQuery {
  /** Counted from 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly who: string;
  /** A part of the action. */
  readonly action: string;
  /** A part of any field. */
  readonly q: string;
  /** Unix milliseconds; `since` is included, `until` is not. */
  readonly since: number;
  readonly until: number;
}

/** A configuration saved before a large change. */
export interface ConfigBackup {
  readonly version: number;
  /** When (Unix milliseconds), by whom and by which action it was replaced. */
  readonly at: number;
  readonly who: string;
  readonly action: string;
  readonly keys: number;
  readonly accounts: number;
}

/** The audit log of administrators' changes, with backups of earlier configurations. */
export interface AuditLog {
  /** Newest first. */
  listEntries(query: AuditQuery): Awaitable<{ items: AuditEntry[]; total: number }>;
  /** Records a change that is no edit of the configuration. */
  recordEntry(note: ChangeNote): Awaitable<void>;
  /** Newest first. */
  listBackups(): Awaitable<ConfigBackup[]>;
  /** A saved configuration; null if that version does not exist. */
  readBackup(version: number): Awaitable<unknown>;
}
