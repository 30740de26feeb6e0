import * as z from "zod/mini";
import { words } from "../ui/words.ts";
import { callApi } from "./client.ts";
import { numberField, textField } from "./fields.ts";

const HOUR_MS = 3_600_000;

/** Time ranges of the overview: API value, label and length in milliseconds. */
export const ACTIVITY_RANGES = [
  ["15m", words.minutes15, HOUR_MS / 4],
  ["1h", words.hour1, HOUR_MS],
  ["6h", words.hours6, 6 * HOUR_MS],
  ["24h", words.hours24, 24 * HOUR_MS],
  ["7d", words.days7, 168 * HOUR_MS],
] as const;
export type ActivityRange = (typeof ACTIVITY_RANGES)[number][0];

const numbers = z._default(z.array(z.number()), []);
const nullableNumbers = z._default(z.array(z.nullable(z.number())), []);
const percentileSeries = z.object({ p50: nullableNumbers, p95: nullableNumbers, p99: nullableNumbers });
const percentiles = z._default(
  z.nullable(z.object({ p50: numberField, p95: numberField, p99: numberField })),
  null,
);

const activity = z.object({
  from: numberField,
  to: numberField,
  now: numberField,
  step_ms: z.number(),
  series: z.object({
    requests: numbers,
    failed: numbers,
    cancelled: numbers,
    refused: numbers,
    prompt_tokens: numbers,
    cached_tokens: numbers,
    completion_tokens: numbers,
    cost: numbers,
    slots: numbers,
    waiting: numbers,
    first_token_ms: percentileSeries,
    duration_ms: percentileSeries,
  }),
  totals: z.object({
    requests: numberField,
    succeeded: numberField,
    failed: numberField,
    cancelled: numberField,
    refused: numberField,
    prompt_tokens: numberField,
    cached_tokens: numberField,
    completion_tokens: numberField,
    cost: numberField,
    first_token_ms: percentiles,
    duration_ms: percentiles,
  }),
  errors: z._default(
    z.array(z.object({ outcome: textField, status: numberField, code: textField, requests: numberField })),
    [],
  ),
});

/** Activity of the gateway. Each list has one value per step. Times are Unix milliseconds, durations milliseconds. */
export type Activity = z.output<typeof activity>;

export const readActivity = (range: ActivityRange, signal?: AbortSignal) =>
  callApi(activity, `/admin/activity?range=${range}`, signal === undefined ? {} : { signal });
