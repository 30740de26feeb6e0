/** The tokens of a batch. */
export interface BatchTokens {
  readonly prompt: number;
  readonly completion: number;
}

/** The tokens of a batch that states none. */
export const NO_TOKENS: BatchTokens = { prompt: 0, completion: 0 };

/** What the gateway stores about a batch of requests at a provider. Plain data: it can be stored and sent over RPC. */
export interface BatchRecord {
  /** The id that callers know. */
  readonly id: string;
  /** The configured provider that has the batch. Absent: the default provider. */
  readonly provider?: string;
  /** The provider's own id of the batch. */
  readonly upstreamId: string;
  /** The identifier of the account that created it; empty for a caller's own token. */
  readonly account: string;
  /** The id by which the caller named the input file. */
  readonly inputFileId: string;
  /** The JSON text of the batch as the caller saw it last. */
  readonly lastSeen: string;
  /** Its tokens that were counted. Absent: none. */
  readonly counted?: BatchTokens;
  /** Its usage was counted: a record of an earlier version, which counted what the provider stated first. */
  readonly isCounted?: true;
  /** Milliseconds since the epoch, after which the batch is unknown. */
  readonly expiresAt: number;
}

/** The batches of one caller, without expired ones. */
export interface BatchStore {
  get(id: string): Promise<BatchRecord | null>;
  /** All batches, the oldest first. */
  list(): Promise<readonly BatchRecord[]>;
  /** Stores a batch. Returns its tokens that were counted before, also by a request that read it at the same time. */
  put(batch: BatchRecord): Promise<BatchTokens>;
}

/** Keeps the tokens that another request has counted since this one read the batch. `stored`: what is stored now. */
export function mergeCountedTokens(
  batch: BatchRecord,
  stored: BatchRecord | null,
): { readonly merged: BatchRecord; readonly countedBefore: BatchTokens } {
  const { counted = NO_TOKENS } = batch;
  const countedBefore = stored?.counted ?? NO_TOKENS;
  const prompt = Math.max(counted.prompt, countedBefore.prompt);
  const completion = Math.max(counted.completion, countedBefore.completion);
  return { merged: { ...batch, counted: { prompt, completion } }, countedBefore };
}
