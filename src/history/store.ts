/** Where a generation stands. */
export type HistoryStatus = "streaming" | "success" | "error" | "cancelled";

/** One archived generation: what was asked and what the upstream answered, before translation or trimming. */
export interface HistoryRecord {
  readonly id: string;
  /** Milliseconds since the epoch at which the request was created; the list is ordered by it, newest first. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Milliseconds since the epoch; 0 while streaming. */
  readonly completedAt: number;
  readonly requestId: string;
  readonly dialect: string;
  /** The model name as the caller wrote it, and the canonical model. */
  readonly requestedModel: string;
  readonly model: string;
  /** The account's identifier; empty in pass-through mode. */
  readonly account: string;
  /** `X-Gateway-Source` of the caller. */
  readonly source: string;
  readonly stream: boolean;
  readonly thinking: boolean;
  readonly status: HistoryStatus;
  readonly statusCode: number;
  readonly error: string;
  /** The conversation's messages, as JSON text. */
  readonly messages: string;
  /** The text that the provider was sent. */
  readonly prompt: string;
  /** The upstream's reasoning and text as they came. */
  readonly reasoning: string;
  readonly content: string;
  readonly finishReason: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  readonly elapsedMs: number;
}

/** A record without its long texts, for lists. */
export type HistorySummary = Omit<HistoryRecord, "messages" | "prompt" | "reasoning" | "content"> & {
  readonly preview: string;
};

/** The server-side history (contract, general rule 9). */
export interface HistoryStore {
  /** Inserts or replaces records by id. Older ones beyond the retention count are dropped. */
  put(records: readonly HistoryRecord[]): Promise<void>;
  list(): Promise<{ items: HistorySummary[]; limit: number }>;
  get(id: string): Promise<HistoryRecord | null>;
  delete(id: string): Promise<boolean>;
  clear(): Promise<number>;
  /** How many records are kept; 0 switches the history off. */
  setLimit(limit: number): Promise<void>;
}
