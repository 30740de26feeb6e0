import type { Awaitable } from "./awaitable.ts";

/** What usage is told apart by. All are texts, empty where there is nothing to say. */
export interface UsageDimensions {
  /** Id of the caller's key, never the key; empty for a caller who brought a token of the provider. */
  readonly key: string;
  /** The model as the caller wrote it. */
  readonly requested_model: string;
  /** The model that was used. */
  readonly model: string;
  /** The driver of the provider. */
  readonly provider: string;
  /** The account, the last one when there were several. */
  readonly account: string;
  readonly dialect: string;
  /** `chat`, `embeddings` or `files`. */
  readonly operation: string;
  /** `success`, `error`, `cancelled` (the client left), or `refused` (no account was asked). */
  readonly outcome: string;
}

export type UsageDimension = keyof UsageDimensions;

/** The dimensions, in the order in which they are listed. */
export const USAGE_DIMENSIONS = [
  "key",
  "requested_model",
  "model",
  "provider",
  "account",
  "dialect",
  "operation",
  "outcome",
] as const satisfies readonly UsageDimension[];

/** Stands for values of a dimension beyond those that are told apart. */
export const OTHER = "other";

/** Sums. Times are milliseconds. */
export interface UsageSums {
  readonly requests: number;
  readonly prompt_tokens: number;
  /** Part of `prompt_tokens`. */
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  /** Part of `completion_tokens`. */
  readonly reasoning_tokens: number;
  /** In billionths of the unit that prices are given in: whole, so that sums are exact up to 2^53 and to 15 digits beyond. */
  readonly cost_nano: number;
  /** Accounts that were asked. */
  readonly attempts: number;
  readonly first_token_ms: number;
  readonly duration_ms: number;
  readonly queue_ms: number;
}

/** The sums, in the order in which they are stored. */
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
] as const satisfies readonly (keyof UsageSums)[];

/** How many observations each bucket of `src/usage/histogram.ts` has, by its number. */
export type Buckets = Readonly<Record<string, number>>;

/** The distributions of times. */
export interface UsageTimes {
  readonly first_token: Buckets;
  readonly duration: Buckets;
  readonly queue: Buckets;
}

/** The distributions, in the order in which they are stored. */
export const USAGE_TIMES = [
  "first_token",
  "duration",
  "queue",
] as const satisfies readonly (keyof UsageTimes)[];

/** What was used within one hour by what the dimensions say. */
export interface UsageDelta extends UsageSums, UsageTimes {
  /** Beginning of the hour (UTC), Unix milliseconds. */
  readonly hour: number;
  /** When the last of the requests ended, Unix milliseconds. */
  readonly last: number;
  readonly dimensions: UsageDimensions;
}

/**
 * Requests that ended within one minute in one way: what the overview is made of. Finer in time than {@link UsageDelta}, and
 * without whose they were, so that there are few.
 */
export interface ActivityDelta {
  /** Beginning of the minute, Unix milliseconds. */
  readonly minute: number;
  /** As of {@link UsageDimensions}. */
  readonly outcome: string;
  /** The HTTP status that the caller got, or would have got had the answer not begun. */
  readonly status: number;
  /** The error's code; empty on success. */
  readonly code: string;
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_nano: number;
  /** Milliseconds of this minute that requests held slots, and that they waited for one, whenever they ended. */
  readonly busy_ms: number;
  readonly waited_ms: number;
  readonly first_token: Buckets;
  readonly duration: Buckets;
}

/** Which activity is asked for. */
export interface ActivityQuery {
  /** Unix milliseconds, beginnings of steps; `to` is not included. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds: whole minutes within {@link MINUTES_ASKED_MS}, else whole quarters of an hour. */
  readonly step: number;
}

/** Up to so long a time is told by the minute. */
export const MINUTES_ASKED_MS = 6 * 3_600_000;

/** What ended within one step, or within the whole time. */
export interface ActivityPoint {
  /** Beginning of the step, Unix milliseconds. */
  readonly at: number;
  readonly requests: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly refused: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_nano: number;
  readonly busy_ms: number;
  readonly waited_ms: number;
  readonly first_token: Percentiles | null;
  readonly duration: Percentiles | null;
}

/** How many requests ended with an error. */
export interface ActivityError {
  readonly outcome: string;
  readonly status: number;
  readonly code: string;
  readonly requests: number;
}

/** What has happened: a point for each step in which something has, what it comes to, and the errors, the most frequent first. */
export interface ActivityAnswer {
  readonly points: readonly ActivityPoint[];
  readonly totals: ActivityPoint;
  readonly errors: readonly ActivityError[];
}

/** What of a request that has ended makes activity. Times are milliseconds. */
export interface EndedRequest
  extends Pick<UsageDimensions, "account" | "model" | "requested_model" | "outcome"> {
  /** The HTTP status that the caller got, or would have got. */
  readonly status: number;
  /** The error's code; empty on success. */
  readonly code: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly durationMs: number;
  /** Absent: nothing of an answer came. */
  readonly firstTokenMs?: number | undefined;
  /** Absent: it did not come to waiting for an account. */
  readonly queueMs?: number | undefined;
}

/** One request that has ended, as far as usage knows it. Times are milliseconds. */
export interface UsedRequest extends UsageDimensions, EndedRequest {
  readonly reasoningTokens: number;
  readonly attempts: number;
}

/** What one isolate has counted since the last message that was acknowledged. */
export interface UsageMessage {
  /** Names the isolate. */
  readonly sender: string;
  /** Counts the sender's messages. A message that is repeated keeps its number and says the same. */
  readonly sequence: number;
  /** When the message was made, Unix milliseconds. */
  readonly made: number;
  readonly deltas: readonly UsageDelta[];
  /** Absent in messages of an older version. */
  readonly activity?: readonly ActivityDelta[];
  /** The message counts every request whose note has this number or a lower one (see `AnswerStore`); absent: no request has a note. */
  readonly noted?: number;
}

/** Which usage is asked for. */
export interface UsageQuery {
  /** Unix milliseconds, beginnings of hours or days; `to` is not included. */
  readonly from: number;
  readonly to: number;
  readonly granularity: "hour" | "day" | "total";
  readonly groupBy: readonly UsageDimension[];
  /** What a dimension must be one of. */
  readonly filters: Readonly<Partial<Record<UsageDimension, readonly string[]>>>;
  /** Most groups that are answered, the busiest of all. */
  readonly limit: number;
}

/** Milliseconds that half of the observations, 95 and 99 of a hundred stay below, to 5 %; null: there are none. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** What was used within a time by one group. */
export interface UsageGroup extends UsageSums {
  /** Beginning of the hour or day; that of the whole time when it is not divided. */
  readonly at: number;
  /** The values of the dimensions that it is grouped by. */
  readonly dimensions: Readonly<Partial<UsageDimensions>>;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly refused: number;
  readonly times: { readonly [T in keyof UsageTimes]: Percentiles | null };
}

/** What was used: by group, and in all. */
export interface UsageAnswer {
  /** By time, the busiest first within each. */
  readonly groups: readonly UsageGroup[];
  readonly totals: UsageGroup;
  /** There are more groups than were asked for. */
  readonly truncated: boolean;
}

/** What one key has used. */
export interface KeyUse extends UsageSums {
  readonly key: string;
  /** Unix milliseconds. */
  readonly last_used: number;
  /** Since the beginning of the day (UTC). */
  readonly today: UsageSums;
}

/** Where usage is added up. One place a deployment. */
export interface UsageStore {
  /** Takes what an isolate has counted. When it resolves the message is stored; one that was taken before changes nothing. */
  write(message: UsageMessage): Awaitable<void>;
  read(query: UsageQuery): Awaitable<UsageAnswer>;
  /** What has happened lately, of the last eight days at most. */
  activity(query: ActivityQuery): Awaitable<ActivityAnswer>;
  /** What each key has used since the beginning, in the order in which they came. */
  keys(): Awaitable<readonly KeyUse[]>;
}
