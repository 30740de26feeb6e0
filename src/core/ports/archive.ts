import type { Attempt } from "../retries/retry-budget.ts";
import type { Awaitable } from "./awaitable.ts";
import type { Capture, CaptureArchive } from "./captures.ts";
import type { NO_USAGE_DETAILS } from "./usage.ts";

/** State of a generation. */
export type HistoryStatus = "streaming" | "success" | "error" | "cancelled";

/** A wait for an account's token. */
export interface SignInWait {
  readonly account: string;
  /** Start of the wait, Unix milliseconds. */
  readonly at: number;
  /** Duration, milliseconds. */
  readonly ms: number;
}

/** An account that failed. The generation moved to another account if there was one. */
export interface FailedAttempt {
  readonly account: string;
  /** A `ProviderErrorKind`, or the code of an error of the gateway. */
  readonly reason: string;
  /** The reason as text for people; contains no secret. */
  readonly message: string;
  /** Time of the failure, Unix milliseconds; 0 in records of older versions. */
  readonly at: number;
  /** The account's provider and the requested model, if several providers were possible. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** The details of a usage, by the names of their totals in usage reports. 0 also in records of older versions. */
export type HistoryUsageDetails = typeof NO_USAGE_DETAILS;

/** An attempt of a generation. Records of other versions may have other causes. */
export type RecordedAttempt = Readonly<Omit<Attempt, "cause">> & { readonly cause: string };

/** Ids of the records of refused requests begin with this; those of generations do not. */
export const REFUSAL_ID_PREFIX = "refused_";

/** Whether a record is one of refused requests. */
export function isRefusalId(id: string): boolean {
  return id.startsWith(REFUSAL_ID_PREFIX);
}

/** One archived generation without its long texts, for lists. Times are Unix milliseconds. */
export interface HistorySummary extends HistoryUsageDetails {
  readonly id: string;
  /** When the request arrived. Lists are sorted by this time, newest first. */
  readonly created_at: number;
  readonly updated_at: number;
  /** 0 while streaming. */
  readonly completed_at: number;
  readonly request_id: string;
  /** Id of the caller's key, never the key itself; empty for a caller without one. */
  readonly key: string;
  /** Ids of the key's team and user when the request came. Absent: none, or a record of an older version. */
  readonly team?: string | undefined;
  readonly user?: string | undefined;
  /** The end user that the request names, as its caller wrote it. Absent: none. */
  readonly end_user?: string | undefined;
  /** The request's tags. Absent: none. */
  readonly tags?: readonly string[] | undefined;
  readonly dialect: string;
  /** The kind of work. Absent: a generation, or a record of an older version. */
  readonly operation?: string | undefined;
  /** The model name as the caller wrote it, and the canonical model. */
  readonly requested_model: string;
  readonly model: string;
  /** The provider that answered, or the last one tried; empty if only one was possible. */
  readonly provider: string;
  /** The account's identifier, the last one if there were several; empty in pass-through mode. */
  readonly account: string;
  /** Time of the last lease; 0 if there was none, or in a record of an older version. */
  readonly leased_at: number;
  /** Milliseconds from the request to the first text of the answer; 0 if there is no text yet. */
  readonly first_token_ms: number;
  /** Number of accounts tried. */
  readonly attempts: number;
  /** The first 20 accounts that failed, in the order of the attempts. */
  readonly tried: readonly FailedAttempt[];
  /** The first 40 attempts with their results and the causes of retries. Absent in records of older versions. */
  readonly upstream_attempts?: readonly RecordedAttempt[] | undefined;
  /** The first 20 waits for a token, while this or another request signed the account in. */
  readonly sign_ins: readonly SignInWait[];
  /** The caller's `X-Gateway-Source` header. */
  readonly source: string;
  /** Whether the answer passed through as the provider sent it. Absent in records of older versions. */
  readonly path?: "native" | "translated" | undefined;
  /** Members of the request that were left out because the provider refuses them or never gets them. Absent: none. */
  readonly dropped_params?: readonly string[] | undefined;
  /** The answer came from the response cache. Absent: no. */
  readonly cached?: boolean | undefined;
  readonly stream: boolean;
  readonly thinking: boolean;
  readonly status: HistoryStatus;
  /** HTTP status that the caller got, or would have got; 0 while streaming. */
  readonly status_code: number;
  readonly error: string;
  /** The code of the error. Absent: no error, or a record of an older version. */
  readonly error_code?: string | undefined;
  /**
   * How many requests the record stands for, all refused before a generation began, with the same key, error and model.
   * Absent: a generation.
   */
  readonly refusals?: number | undefined;
  readonly finish_reason: string;
  /** The first 20 functions that the answer calls, each once. Absent: none, or their names are not kept. */
  readonly called_functions?: readonly string[] | undefined;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly reasoning_tokens: number;
  /** In the unit of the prices; null if the model had no price. Absent without a usage, and in records of older versions. */
  readonly cost?: number | null | undefined;
  /** What `cost` leaves out: see `UnpricedPart`. Absent: nothing. */
  readonly unpriced?: readonly string[] | undefined;
  readonly elapsed_ms: number;
  /** The beginning of the last user message, and of the answer. */
  readonly request_preview: string;
  readonly response_preview: string;
}

/** One archived generation: the request and the upstream's answer, before translation or trimming. */
export interface HistoryRecord extends HistorySummary {
  /** The conversation's messages, as JSON text. */
  readonly messages: string;
  /** The text sent to the provider. */
  readonly prompt: string;
  /** The request's tools and parameters, as JSON text; empty in records of older versions. */
  readonly options: string;
  /** The upstream's reasoning and text, unchanged. */
  readonly reasoning: string;
  readonly content: string;
}

/** A record to write to the store. `request` is null once the store has it. */
export interface HistoryWrite {
  readonly summary: HistorySummary;
  readonly request: Pick<HistoryRecord, "messages" | "prompt" | "options"> | null;
  readonly reasoning: string;
  readonly content: string;
}

/** The length of the texts of a record, in characters. */
export function countCharacters({ request, reasoning, content }: HistoryWrite): number {
  const { messages = "", prompt = "", options = "" } = request ?? {};
  return messages.length + prompt.length + options.length + reasoning.length + content.length;
}

/** Retention limits. Of two values, the one with the higher configuration version wins. */
export interface Retention {
  readonly version: number;
  /** Maximum number of history records; 0 disables the history. */
  readonly records: number;
  readonly captures: number;
}

/** One message with everything that one isolate has to archive. */
export interface ArchiveBatch {
  readonly retention: Retention;
  readonly records: readonly HistoryWrite[];
  readonly captures: readonly Capture[];
  readonly metrics: MetricDeltas;
  /**
   * When the batch was sent, Unix milliseconds, by the clock of its records' and captures' times. Absent: the clock is
   * the archive's own.
   * The archive computes the age of each record from it, and drops records that began before the last deletion.
   */
  readonly sentAt?: number;
}

/** The archive stored everything in a batch except the finished records: send those again. */
export class EndedRecordsLost extends Error {
  override readonly name = "EndedRecordsLost";
}

/** Filters for a list of records. An absent or empty filter matches everything; of several values, any may match. */
export interface HistoryFilter {
  /** When the request arrived, Unix milliseconds: `from` is included, `to` is not. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly status?: readonly HistoryStatus[] | undefined;
  /** HTTP statuses, classes of statuses such as `4xx`, or codes of errors such as `rate_limit_exceeded`. */
  readonly code?: readonly string[] | undefined;
  /** Ids of keys. */
  readonly key?: readonly string[] | undefined;
  /** Ids of teams. */
  readonly team?: readonly string[] | undefined;
  /** Ids of providers that answered, or that were tried and failed; `default`: also records that name none. */
  readonly provider?: readonly string[] | undefined;
  /** The requested or the used model. */
  readonly model?: readonly string[] | undefined;
  /** Accounts that answered, or that were tried and failed. */
  readonly account?: readonly string[] | undefined;
  readonly dialect?: readonly string[] | undefined;
  /** `native` or `translated`. */
  readonly path?: readonly string[] | undefined;
  readonly source?: readonly string[] | undefined;
  /** Bounds of the duration in milliseconds, and of prompt and answer tokens together. */
  readonly minMs?: number | undefined;
  readonly maxMs?: number | undefined;
  readonly minTokens?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** Selects the records of a list. */
export interface HistoryQuery {
  readonly filter?: HistoryFilter;
  readonly offset: number;
  readonly count: number;
  /** Text that a summary must contain; empty for any. */
  readonly q: string;
  /** True to skip counting all matches, so that only the page itself is queried. */
  readonly uncounted?: boolean;
}

/** The server-side history (docs/contract.md, general rule 9). */
export interface HistoryArchive {
  /** Newest first. `total` counts all matches; it is 0 if the query is `uncounted`. */
  listHistory(
    query: HistoryQuery,
  ): Awaitable<{ readonly items: readonly HistorySummary[]; readonly total: number }>;
  readHistory(id: string): Awaitable<HistoryRecord | null>;
  /** False when there is no such record. */
  deleteHistory(id: string): Awaitable<boolean>;
  /**
   * Deletes all records. Also drops later writes of generations that began before the deletion, whether still running
   * or waiting to be sent. Returns the number of deleted records.
   */
  clearHistory(): Awaitable<number>;
}

/** Numbers of deleted entries. */
export interface ErasedCounts {
  readonly history: number;
  readonly captures: number;
  readonly samples: number;
}

/** The archive of history, captures, samples and metrics. Each deployment has one. */
export interface Archive extends HistoryArchive, CaptureArchive {
  /** True if finished records must be sent whole, including the parts already sent. */
  readonly requiresWholeRecords?: boolean;
  /**
   * Stores a batch. Rejects with {@link EndedRecordsLost} if only a part was stored; on any other error nothing was
   * stored.
   */
  write(batch: ArchiveBatch): Awaitable<void>;
  /**
   * Deletes the history, the captures and the samples of an API key, and later writes of its requests that began before.
   * Rejects if a part is not deleted yet: call it again.
   */
  eraseKey(key: string): Awaitable<ErasedCounts>;
  /** Deletes everything beyond a new retention limit. */
  applyRetention(retention: Retention): Awaitable<void>;
  /** All metric totals since the beginning. */
  readMetrics(): Awaitable<MetricDeltas>;
}

/** Counts by series: a metric's name with its labels in Prometheus form, such as `requests_total{status="200"}`. */
export type MetricDeltas = Readonly<Record<string, number>>;
