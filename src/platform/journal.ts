import type { ChangeNote } from "../config/snapshot.ts";

import type { Awaitable } from "./awaitable.ts";

/** A change as it was recorded. */
export interface AuditEntry extends ChangeNote {
  /** Grows with each entry. */
  readonly id: number;
  /** Version of the configuration that it led to; 0: it was no edit of the configuration. */
  readonly version: number;
}

/** Which entries are wanted. Empty texts, and 0, leave a choice open. */
export interface AuditQuery {
  /** Counted from 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly who: string;
  /** A part of the action. */
  readonly action: string;
  /** A part of anything in it. */
  readonly q: string;
  /** Unix milliseconds: from, and before. */
  readonly since: number;
  readonly until: number;
}

/** A configuration that was kept before a change to much of it. */
export interface KeptVersion {
  readonly version: number;
  /** When it was replaced, in Unix milliseconds, by whom and by what. */
  readonly at: number;
  readonly who: string;
  readonly action: string;
  readonly keys: number;
  readonly accounts: number;
}

/** The record of what administrators did, and configurations of before. */
export interface Journal {
  /** Newest first. */
  list(query: AuditQuery): Awaitable<{ items: AuditEntry[]; total: number }>;
  /** Records a change that was no edit of the configuration. */
  record(note: ChangeNote): Awaitable<void>;
  /** Newest first. */
  versions(): Awaitable<KeptVersion[]>;
  /** A configuration that was kept; null: there is none of that version. */
  readVersion(version: number): Awaitable<unknown>;
}
