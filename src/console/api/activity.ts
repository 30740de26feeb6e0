import * as z from "zod/mini";
import { call } from "./client.ts";
import { number, text } from "./fields.ts";

/** Time ranges of the overview: API value and label. */
export const ACTIVITY_RANGES = [
  ["15m", "15 min"],
  ["1h", "1 hour"],
  ["6h", "6 hours"],
  ["24h", "24 hours"],
  ["7d", "7 days"],
] as const;
export type ActivityRange = (typeof ACTIVITY_RANGES)[number][0];

const numbers = z._default(z.array(z.number()), []);
const unsure = z._default(z.array(z.nullable(z.number())), []);
const shares = z.object({ p50: unsure, p95: unsure, p99: unsure });
const percentiles = z._default(z.nullable(z.object({ p50: number, p95: number, p99: number })), null);

const activity = z.object({
  from: number,
  to: number,
  now: number,
  step_ms: z.number(),
  series: z.object({
    requests: numbers,
    failed: numbers,
    cancelled: numbers,
    refused: numbers,
    prompt_tokens: numbers,
    completion_tokens: numbers,
    cost: numbers,
    slots: numbers,
    waiting: numbers,
    first_token_ms: shares,
    duration_ms: shares,
  }),
  totals: z.object({
    requests: number,
    succeeded: number,
    failed: number,
    cancelled: number,
    refused: number,
    prompt_tokens: number,
    completion_tokens: number,
    cost: number,
    first_token_ms: percentiles,
    duration_ms: percentiles,
  }),
  errors: z._default(z.array(z.object({ outcome: text, status: number, code: text, requests: number })), []),
});

/** Activity of the gateway. Each list has one value per step. Times are Unix milliseconds, durations milliseconds. */
export type Activity = z.output<typeof activity>;

export const readActivity = (range: ActivityRange, signal?: AbortSignal) =>
  call(activity, `/admin/activity?range=${range}`, signal === undefined ? {} : { signal });
