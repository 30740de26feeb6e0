/**
 * What the gateway stores about an uploaded file: its owner, its account, and the data that the provider does not
 * return again. Plain data: it can be stored and sent over RPC.
 */
export interface FileRecord {
  /** The provider's id. */
  readonly id: string;
  /** The identifier of the account that received it (contract, File object). */
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
  /** The caller deleted the file: the API hides it, although the provider still has it. */
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
