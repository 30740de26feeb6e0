import type { Awaitable } from "./awaitable.ts";
import type { Capture, CaptureArchive } from "./captures.ts";

/** Where a generation stands. */
export type HistoryStatus = "streaming" | "success" | "error" | "cancelled";

/** A token of an account was waited for. */
export interface SignInWait {
  readonly account: string;
  /** Since when, Unix milliseconds. */
  readonly at: number;
  /** For how many milliseconds. */
  readonly ms: number;
}

/** An account that failed, and was left if there was another one. */
export interface TriedAccount {
  readonly account: string;
  /** A `ProviderErrorKind`, or the code of the program's own error. */
  readonly reason: string;
  /** The same for people; holds no secret. */
  readonly message: string;
  /** When it failed, Unix milliseconds; 0 in records of older versions. */
  readonly at: number;
  /** Whose account it is, and the model that was asked for, where several providers could be asked. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** One archived generation without its long texts, as lists show it. Times are Unix milliseconds. */
export interface HistorySummary {
  readonly id: string;
  /** When the request came in; lists are ordered by it, newest first. */
  readonly created_at: number;
  readonly updated_at: number;
  /** 0 while streaming. */
  readonly completed_at: number;
  readonly request_id: string;
  /** Id of the caller's key, never the key; empty for one without. */
  readonly key: string;
  readonly dialect: string;
  /** The model name as the caller wrote it, and the canonical model. */
  readonly requested_model: string;
  readonly model: string;
  /** The provider that answered, or was asked last; empty where there was no choice. */
  readonly provider: string;
  /** The account's identifier, the last one when there were several; empty in pass-through mode. */
  readonly account: string;
  /** When the last account was leased; 0: never, or in a record of an older version. */
  readonly leased_at: number;
  /** Milliseconds from the request to the first words of the answer; 0: there were none yet. */
  readonly first_token_ms: number;
  /** Accounts that were tried. */
  readonly attempts: number;
  /** Those of them that failed, the first 20, in the order in which they were tried. */
  readonly tried: readonly TriedAccount[];
  /** The times that a token was waited for, the first 20: by a sign-in, of this request or of another one. */
  readonly sign_ins: readonly SignInWait[];
  /** `X-Gateway-Source` of the caller. */
  readonly source: string;
  readonly stream: boolean;
  readonly thinking: boolean;
  readonly status: HistoryStatus;
  /** HTTP status that the caller got, or would have got; 0 while streaming. */
  readonly status_code: number;
  readonly error: string;
  readonly finish_reason: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly reasoning_tokens: number;
  readonly elapsed_ms: number;
  /** The beginning of the last user message, and of the answer. */
  readonly request_preview: string;
  readonly response_preview: string;
}

/** One archived generation: what was asked and what the upstream answered, before translation or trimming. */
export interface HistoryRecord extends HistorySummary {
  /** The conversation's messages, as JSON text. */
  readonly messages: string;
  /** The text that the provider was sent. */
  readonly prompt: string;
  /** The upstream's reasoning and text as they came. */
  readonly reasoning: string;
  readonly content: string;
}

/** A record on its way to the store. `request` is null once the store has been told. */
export interface HistoryWrite {
  readonly summary: HistorySummary;
  readonly request: { readonly messages: string; readonly prompt: string } | null;
  readonly reasoning: string;
  readonly content: string;
}

/** How much is kept. Of two settings the one of the higher configuration version counts. */
export interface Retention {
  readonly version: number;
  /** Records in the history; 0 switches it off. */
  readonly records: number;
  readonly captures: number;
}

/** What one isolate has to tell, in one message. */
export interface ArchiveBatch {
  readonly retention: Retention;
  readonly records: readonly HistoryWrite[];
  readonly captures: readonly Capture[];
  readonly metrics: MetricDeltas;
  /**
   * When it was sent, by the clock that the times of records and captures are from, Unix milliseconds; absent: that is the archive's own.
   * It says how long ago they began: what is older than a clearing is not taken.
   */
  readonly sentAt?: number;
}

/** Of a batch all was taken but the records that have ended: those are to be told again. */
export class EndedRecordsLost extends Error {
  override readonly name = "EndedRecordsLost";
}

/** What a list of records is narrowed to; what is absent, or empty, is not asked for. Of several values any one will do. */
export interface HistoryFilter {
  /** When the request came in, Unix milliseconds: not before `from`, and before `to`. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly status?: readonly HistoryStatus[] | undefined;
  /** HTTP statuses, or classes of them such as `4xx`. */
  readonly code?: readonly string[] | undefined;
  /** Ids of keys. */
  readonly key?: readonly string[] | undefined;
  /** As it was asked for, or as it was used. */
  readonly model?: readonly string[] | undefined;
  /** Accounts that answered, or that were tried and failed. */
  readonly account?: readonly string[] | undefined;
  readonly dialect?: readonly string[] | undefined;
  readonly source?: readonly string[] | undefined;
  /** Bounds of the time that it took, in milliseconds, and of the tokens of prompt and answer together. */
  readonly minMs?: number | undefined;
  readonly maxMs?: number | undefined;
  readonly minTokens?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** Which records a list shows. */
export interface HistoryQuery {
  readonly filter?: HistoryFilter;
  readonly offset: number;
  readonly count: number;
  /** Text that a summary contains; empty: any. */
  readonly q: string;
  /** Nobody wants to know how many there are: then nothing but the page is looked for. */
  readonly uncounted?: boolean;
}

/** The server-side history (contract, general rule 9). */
export interface HistoryArchive {
  /** Newest first. `total` counts all that the query finds; of one that is `uncounted` it is 0. */
  listHistory(
    query: HistoryQuery,
  ): Awaitable<{ readonly items: readonly HistorySummary[]; readonly total: number }>;
  readHistory(id: string): Awaitable<HistoryRecord | null>;
  /** False when there is no such record. */
  deleteHistory(id: string): Awaitable<boolean>;
  /**
   * Removes all records, and those to come of generations that began before: whether they are under way, or wait to be told of.
   * Returns how many records there were.
   */
  clearHistory(): Awaitable<number>;
}

/** Everything that is archived: history, captures, samples and metrics. One place a deployment. */
export interface Archive extends HistoryArchive, CaptureArchive {
  /** Records that have ended are to be told whole, also what of them has been told before. */
  readonly wantsWhole?: boolean;
  /** Takes what an isolate has gathered. Rejects with {@link EndedRecordsLost} where it took a part of it, otherwise it took nothing. */
  write(batch: ArchiveBatch): Awaitable<void>;
  /** Drops what is beyond a new retention. */
  retain(retention: Retention): Awaitable<void>;
  /** All counts since the beginning. */
  metrics(): Awaitable<MetricDeltas>;
}

/** Counts by series: a metric's name with its labels in Prometheus form, such as `requests_total{status="200"}`. */
export type MetricDeltas = Readonly<Record<string, number>>;
