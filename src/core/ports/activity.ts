import { HOUR_MS } from "../units.ts";
import type { HistogramBuckets, Percentiles } from "./histograms.ts";

/**
 * Requests that ended within one minute with the same outcome; the source of the overview. Finer in time than
 * `UsageDelta`, but without key, model and account, to keep the number of rows small.
 */
export interface ActivityDelta {
  /** Beginning of the minute, Unix milliseconds. */
  readonly minute: number;
  /** As in `UsageDimensions`. */
  readonly outcome: string;
  /** The HTTP status that the caller got, or would have got if the answer had not begun. */
  readonly status: number;
  /** The error's code; empty on success. */
  readonly code: string;
  readonly requests: number;
  readonly prompt_tokens: number;
  /** Part of `prompt_tokens`. An isolate of an older version does not send it. */
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly cost_nano: number;
  /** Milliseconds of this minute that requests held slots, and waited for slots, regardless of when they ended. */
  readonly busy_ms: number;
  readonly waited_ms: number;
  readonly first_token: HistogramBuckets;
  readonly duration: HistogramBuckets;
}

/** Selects activity. */
export interface ActivityQuery {
  /** Unix milliseconds, aligned to steps; `to` is not included. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds: whole minutes for periods up to {@link MINUTE_RESOLUTION_MAX_MS}, otherwise whole quarters of an hour. */
  readonly step: number;
}

/** The longest period with a resolution of one minute. */
export const MINUTE_RESOLUTION_MAX_MS = 6 * HOUR_MS;

/** Totals of one step, or of the whole period. */
export interface ActivityPoint {
  /** Beginning of the step, Unix milliseconds. */
  readonly at: number;
  readonly requests: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly refused: number;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly cost_nano: number;
  readonly busy_ms: number;
  readonly waited_ms: number;
  readonly first_token: Percentiles | null;
  readonly duration: Percentiles | null;
}

/** Number of requests that ended with one error. */
export interface ActivityError {
  readonly outcome: string;
  readonly status: number;
  readonly code: string;
  readonly requests: number;
}

/** Activity: a point for each step with requests, the totals, and the errors, most frequent first. */
export interface ActivityReport {
  readonly points: readonly ActivityPoint[];
  readonly totals: ActivityPoint;
  readonly errors: readonly ActivityError[];
}
