/**
 * What the gateway stores about an uploaded file: its owner, its account, and the data that the provider does not
 * return again. Plain data: it can be stored and sent over RPC.
 */
export interface FileRecord {
  /** The id that callers know. */
  readonly id: string;
  /** The configured provider that stores the file. Absent: the default provider. */
  readonly provider?: string;
  /** The provider's own id of the file. Absent: it is `id`. */
  readonly upstreamId?: string;
  /** The provider's address of the file, for protocols whose requests name files by address. */
  readonly uri?: string;
  /** The identifier of the account that received it (docs/contract/files.md, File object). */
  readonly account: string;
  readonly filename: string;
  /** The caller's display name, for styles that separate it from the file name. */
  readonly displayName?: string;
  readonly mediaType: string;
  readonly purpose: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** The status that the provider reported last; absent if not stored. */
  readonly status?: string;
  /** The API hides the file: the caller deleted it, or the provider no longer has it. */
  readonly deleted?: true;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Milliseconds since the epoch, after which the file is unknown. 0 if it was never stored. */
  readonly expiresAt: number;
}

/** The uploaded files of one caller, without expired ones. */
export interface FileStore {
  get(id: string): Promise<FileRecord | null>;
  /** All files, the oldest first, including deleted ones. */
  list(): Promise<readonly FileRecord[]>;
  put(file: FileRecord): Promise<void>;
}
