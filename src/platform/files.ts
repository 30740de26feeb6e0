/**
 * What is remembered of an uploaded file: whose it is, which account has it, and what the provider does not tell again.
 * Plain data: it can be stored and sent over RPC.
 */
export interface KeptFile {
  /** The provider's id. */
  readonly id: string;
  /** The identifier of the account that received it (contract, File object). */
  readonly account: string;
  readonly filename: string;
  /** What its caller calls it, where the style keeps that apart from the name of the file. */
  readonly displayName?: string;
  readonly mediaType: string;
  readonly purpose: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** What the provider last said of it; absent: not remembered. */
  readonly status?: string;
  /** The caller has deleted it: to them it is unknown, although the provider still has it. */
  readonly deleted?: true;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; afterwards the file is unknown. 0: it was never remembered. */
  readonly expiresAt: number;
}

/** The uploaded files of one caller. What has expired is not returned. */
export interface FileStore {
  get(id: string): Promise<KeptFile | null>;
  /** All of them, the oldest first, also those that were deleted. */
  list(): Promise<readonly KeptFile[]>;
  put(file: KeptFile): Promise<void>;
}
