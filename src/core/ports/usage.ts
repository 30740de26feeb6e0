import type { UsageDetails } from "../conversation/usage-details.ts";
import type { ActivityDelta, ActivityQuery, ActivityReport } from "./activity.ts";
import type { Awaitable } from "./awaitable.ts";
import type { HistogramBuckets, Percentiles } from "./histograms.ts";

/** The dimensions of usage. All are texts, empty if not applicable. */
export interface UsageDimensions {
  /** Id of the caller's key, never the key itself; empty for a pass-through caller. */
  readonly key: string;
  /** The model as the caller wrote it. */
  readonly requested_model: string;
  /** The model that was used. */
  readonly model: string;
  /**
   * Id of the provider, `default` for the default one. Empty: no provider was chosen. Earlier versions stored the default
   * provider by the name of its driver.
   */
  readonly provider: string;
  /** The account, the last one when there were several. */
  readonly account: string;
  readonly dialect: string;
  /** `chat`, `embeddings` or `files`. */
  readonly operation: string;
  /** `success`, `error`, `cancelled` (the client disconnected), or `refused` (no account was tried). */
  readonly outcome: string;
  /** Ids of the key's team and user. */
  readonly team: string;
  readonly user: string;
  /** The request's tags, sorted, with commas between them. A report has a group for each of them. */
  readonly tag: string;
}

export type UsageDimension = keyof UsageDimensions;

/** The dimensions, in display order. */
export const USAGE_DIMENSIONS = [
  "key",
  "requested_model",
  "model",
  "provider",
  "account",
  "dialect",
  "operation",
  "outcome",
  "team",
  "user",
  "tag",
] as const satisfies readonly UsageDimension[];

/** The total that counts the requests with an outcome. */
export const OUTCOME_TOTALS = {
  success: "succeeded",
  error: "failed",
  cancelled: "cancelled",
  refused: "refused",
} as const;

/** Replaces the values of a dimension beyond the maximum number of distinct values. */
export const OTHER_VALUES = "other";

/** The model of requests for unknown models: callers may invent any number of names. */
export const UNKNOWN_MODEL = "unknown";

/** Totals. Times are milliseconds. */
export interface UsageSums {
  readonly requests: number;
  /** Part of `requests`: answered from the response cache, without tokens and cost. */
  readonly cache_hits: number;
  /** Part of `attempts`: the provider failed, not the caller or the gateway. */
  readonly provider_errors: number;
  readonly prompt_tokens: number;
  /** Part of `prompt_tokens`: read from the provider's cache. */
  readonly cached_tokens: number;
  /** Parts of `prompt_tokens`: written to the provider's cache. */
  readonly cache_write_5m_tokens: number;
  readonly cache_write_1h_tokens: number;
  /** Parts of `prompt_tokens`. */
  readonly audio_input_tokens: number;
  readonly image_input_tokens: number;
  readonly completion_tokens: number;
  /** Parts of `completion_tokens`. */
  readonly reasoning_tokens: number;
  readonly audio_output_tokens: number;
  readonly image_output_tokens: number;
  /** Number of requests that the provider's own tools made. */
  readonly web_searches: number;
  readonly web_fetches: number;
  /** Seconds of audio, and searches for rankings, where the provider counts these. */
  readonly audio_seconds: number;
  readonly search_units: number;
  /**
   * Billionths of the currency unit of the prices: whole numbers, so sums are exact up to 2^53 and to 15 digits beyond.
   */
  readonly cost_nano: number;
  /** Number of accounts tried. */
  readonly attempts: number;
  readonly first_token_ms: number;
  readonly duration_ms: number;
  readonly queue_ms: number;
}

/** The totals, in storage order. */
export const USAGE_SUMS = [
  "requests",
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "reasoning_tokens",
  "cost_nano",
  "attempts",
  "first_token_ms",
  "duration_ms",
  "queue_ms",
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
  "audio_input_tokens",
  "audio_output_tokens",
  "web_searches",
  "web_fetches",
  "cache_hits",
  "image_input_tokens",
  "image_output_tokens",
  "audio_seconds",
  "search_units",
  "provider_errors",
] as const satisfies readonly (keyof UsageSums)[];

/** The name of the total of each detail of a usage. */
export const DETAIL_SUMS = {
  cachedTokens: "cached_tokens",
  cacheWrite5mTokens: "cache_write_5m_tokens",
  cacheWrite1hTokens: "cache_write_1h_tokens",
  audioInputTokens: "audio_input_tokens",
  audioOutputTokens: "audio_output_tokens",
  imageInputTokens: "image_input_tokens",
  imageOutputTokens: "image_output_tokens",
  webSearches: "web_searches",
  webFetches: "web_fetches",
  audioSeconds: "audio_seconds",
  searchUnits: "search_units",
} as const satisfies Record<keyof UsageDetails, keyof UsageSums>;

/** The totals of a request without details. */
export const NO_USAGE_DETAILS: Readonly<Record<(typeof DETAIL_SUMS)[keyof UsageDetails], number>> = {
  cached_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  audio_input_tokens: 0,
  audio_output_tokens: 0,
  image_input_tokens: 0,
  image_output_tokens: 0,
  web_searches: 0,
  web_fetches: 0,
  audio_seconds: 0,
  search_units: 0,
};

/** Distributions of durations. */
export interface UsageTimes {
  readonly first_token: HistogramBuckets;
  readonly duration: HistogramBuckets;
  readonly queue: HistogramBuckets;
}

/** The distributions, in storage order. */
export const USAGE_TIMES = [
  "first_token",
  "duration",
  "queue",
] as const satisfies readonly (keyof UsageTimes)[];

/** Usage within one hour for one combination of dimension values. An isolate of an older version sends fewer totals. */
export interface UsageDelta extends UsageSums, UsageTimes {
  /** Beginning of the hour (UTC), Unix milliseconds. */
  readonly hour: number;
  /** When the last of the requests ended, Unix milliseconds. */
  readonly last: number;
  readonly dimensions: UsageDimensions;
}

/** The part of an ended request that activity needs. Times are milliseconds. */
export interface RequestActivity
  extends Pick<UsageDimensions, "account" | "model" | "requested_model" | "outcome">,
    UsageDetails {
  /** The HTTP status that the caller got, or would have got. */
  readonly status: number;
  /** The error's code; empty on success. */
  readonly code: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  readonly durationMs: number;
  /** Absent if no part of an answer arrived. */
  readonly firstTokenMs?: number | undefined;
  /** Absent if the request did not reach the queue. */
  readonly queueMs?: number | undefined;
}

/** The usage record of one ended request: what it used, and its dimensions. Times are milliseconds. */
export interface RequestUsage extends UsageDimensions, RequestActivity {
  readonly attempts: number;
  /** The answer came from the response cache. Absent: no. */
  readonly isCacheHit?: boolean;
  /** The provider failed at the last attempt, which is not in `failedAttempts`. Absent: no. */
  readonly isProviderError?: boolean;
  /** The attempts at which a provider failed. Absent: none. */
  readonly failedAttempts?: readonly Pick<UsageDimensions, "provider" | "account" | "model">[];
}

/** Everything that one isolate has counted since its last acknowledged message. */
export interface UsageMessage {
  /** The isolate's id. */
  readonly sender: string;
  /** Number of the message per sender. A retry has the same number and content. */
  readonly sequence: number;
  /** When the message was created, Unix milliseconds. */
  readonly made: number;
  readonly deltas: readonly UsageDelta[];
  /** Absent in messages of an older version. */
  readonly activity?: readonly ActivityDelta[];
  /**
   * The message counts every request whose note has this number or a lower one (see `OutcomeStore`); absent if requests
   * have no notes.
   */
  readonly noted?: number;
}

/** Selects usage. */
export interface UsageQuery {
  /** Unix milliseconds, aligned to hours or days; `to` is not included. */
  readonly from: number;
  readonly to: number;
  readonly granularity: "hour" | "day" | "total";
  readonly groupBy: readonly UsageDimension[];
  /** Allowed values of each dimension. */
  readonly filters: Readonly<Partial<Record<UsageDimension, readonly string[]>>>;
  /** Names of drivers that mean the default provider in rows of earlier versions. Absent: none. */
  readonly defaultProviderNames?: readonly string[] | undefined;
  /** Maximum number of groups: the newest periods first, and within a period the groups with the most requests. */
  readonly limit: number;
}

/** Usage of one group within a period. */
export interface UsageGroup extends UsageSums {
  /** Beginning of the hour or day, or of the whole period if it is not divided. */
  readonly at: number;
  /** The values of the grouped dimensions. */
  readonly dimensions: Readonly<Partial<UsageDimensions>>;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly refused: number;
  readonly times: { readonly [T in keyof UsageTimes]: Percentiles | null };
}

/** Usage by group, and in total. */
export interface UsageReport {
  /** Sorted by time, then by usage, highest first. */
  readonly groups: readonly UsageGroup[];
  readonly totals: UsageGroup;
  /** True if there are more groups than requested. */
  readonly truncated: boolean;
}

/** Usage of one key. */
export interface KeyUsage extends UsageSums {
  readonly key: string;
  /** Unix milliseconds. */
  readonly last_used: number;
  /** Since the beginning of the day (UTC). */
  readonly today: UsageSums;
}

/** The store of aggregated usage. Each deployment has one. */
export interface UsageStore {
  /** Adds an isolate's counts. The message is stored when this resolves; a repeated message has no effect. */
  write(message: UsageMessage): Awaitable<void>;
  read(query: UsageQuery): Awaitable<UsageReport>;
  /** Recent activity, of the last eight days at most. */
  readActivity(query: ActivityQuery): Awaitable<ActivityReport>;
  /** Usage of each key since the beginning, in the order of first use. */
  listKeyUsage(): Awaitable<readonly KeyUsage[]>;
}
