import * as z from "zod";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import type { ActivityPoint, ActivityReport } from "../../../core/ports/activity.ts";
import type { Percentiles } from "../../../core/ports/histograms.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { HOUR_MS, MINUTE_MS } from "../../../core/units.ts";
import { clampedSum, fromNano } from "../../../records/usage/prices.ts";

/** The ranges: total length and length of one step, in milliseconds. */
const RANGES = {
  "15m": { length: 15 * MINUTE_MS, step: MINUTE_MS },
  "1h": { length: HOUR_MS, step: MINUTE_MS },
  "6h": { length: 6 * HOUR_MS, step: 5 * MINUTE_MS },
  "24h": { length: 24 * HOUR_MS, step: 15 * MINUTE_MS },
  "7d": { length: 168 * HOUR_MS, step: 2 * HOUR_MS },
} as const;

const activityQuerySchema = lazyObject(() => ({
  range: z.enum(["15m", "1h", "6h", "24h", "7d"]).default("1h"),
}));

const percentilesSchema = () => z.object({ p50: z.int(), p95: z.int(), p99: z.int() }).nullable();
const countSeriesSchema = () => z.array(z.int());
/** null: nothing was measured in this step. */
const percentileSeriesSchema = () => {
  const each = z.array(z.int().nullable());
  return z.object({ p50: each, p95: each, p99: each });
};

/** Each list of `series` has one value per step. The first step begins at `from`. Times are Unix milliseconds. */
const activitySchema = () =>
  z.object({
    from: z.int(),
    to: z.int(),
    /** Time of this response. The last step is not complete. */
    now: z.int(),
    step_ms: z.int(),
    series: z.object({
      requests: countSeriesSchema(),
      failed: countSeriesSchema(),
      cancelled: countSeriesSchema(),
      refused: countSeriesSchema(),
      prompt_tokens: countSeriesSchema(),
      /** Part of `prompt_tokens`: read from the provider's cache. */
      cached_tokens: countSeriesSchema(),
      completion_tokens: countSeriesSchema(),
      cost: z.array(z.number()),
      /** Average number of occupied slots and of waiting requests. */
      slots: z.array(z.number()),
      waiting: z.array(z.number()),
      first_token_ms: percentileSeriesSchema(),
      duration_ms: percentileSeriesSchema(),
    }),
    totals: z.object({
      requests: z.int(),
      succeeded: z.int(),
      failed: z.int(),
      cancelled: z.int(),
      refused: z.int(),
      prompt_tokens: z.int(),
      cached_tokens: z.int(),
      completion_tokens: z.int(),
      cost: z.number(),
      first_token_ms: percentilesSchema(),
      duration_ms: percentilesSchema(),
    }),
    /**
     * The most frequent errors. `status` is the HTTP status of the response. If the response had already started, it is the
     * status that the error maps to.
     */
    errors: z.array(z.object({ outcome: z.string(), status: z.int(), code: z.string(), requests: z.int() })),
  });

type Activity = z.output<ReturnType<typeof activitySchema>>;

/** Sends one list per value, not one object per step: the response is seven times smaller. */
function activityView(
  { points, totals, errors }: ActivityReport,
  from: number,
  to: number,
  step: number,
  now: number,
) {
  const byTime = new Map(points.map((point) => [point.at, point]));
  const steps = Array.from({ length: Math.round((to - from) / step) }, (_, index) => from + index * step);
  const list = (pick: (point: ActivityPoint) => number) =>
    steps.map((at) => {
      const point = byTime.get(at);
      return point === undefined ? 0 : pick(point);
    });
  const mean = (pick: (point: ActivityPoint) => number) =>
    list((point) => {
      // The current step is not complete: divide by its length so far.
      const elapsed = Math.min(step, Math.max(now - point.at, 1_000));
      return Number((pick(point) / elapsed).toPrecision(3));
    });
  const percentiles = (pick: (point: ActivityPoint) => Percentiles | null) => {
    const series = (name: keyof Percentiles) =>
      steps.map((at) => {
        const point = byTime.get(at);
        return point === undefined ? null : (pick(point)?.[name] ?? null);
      });
    return { p50: series("p50"), p95: series("p95"), p99: series("p99") };
  };
  return {
    from,
    to,
    now,
    step_ms: step,
    series: {
      requests: list(({ requests }) => requests),
      failed: list(({ failed }) => failed),
      cancelled: list(({ cancelled }) => cancelled),
      refused: list(({ refused }) => refused),
      prompt_tokens: list(({ prompt_tokens }) => clampedSum(prompt_tokens)),
      cached_tokens: list(({ cached_tokens }) => clampedSum(cached_tokens)),
      completion_tokens: list(({ completion_tokens }) => clampedSum(completion_tokens)),
      cost: list(({ cost_nano }) => Number(fromNano(cost_nano).toPrecision(6))),
      slots: mean(({ busy_ms }) => busy_ms),
      waiting: mean(({ waited_ms }) => waited_ms),
      first_token_ms: percentiles(({ first_token }) => first_token),
      duration_ms: percentiles(({ duration }) => duration),
    },
    totals: {
      requests: totals.requests,
      succeeded: totals.succeeded,
      failed: totals.failed,
      cancelled: totals.cancelled,
      refused: totals.refused,
      prompt_tokens: clampedSum(totals.prompt_tokens),
      cached_tokens: clampedSum(totals.cached_tokens),
      completion_tokens: clampedSum(totals.completion_tokens),
      cost: fromNano(totals.cost_nano),
      first_token_ms: totals.first_token,
      duration_ms: totals.duration,
    },
    errors: [...errors],
  } satisfies Activity;
}

export const ACTIVITY_ENDPOINTS = [
  /** `GET /admin/activity`: activity of the last minutes, hours or days. Some kilobytes; data is a few seconds old. */
  adminEndpoint({
    method: "GET",
    path: "/admin/activity",
    summary: "Recent load, errors and latency of the gateway",
    query: activityQuerySchema,
    answers: jsonResponse(activitySchema),
    handler: async ({ platform }, { query: { range } }) => {
      const now = platform.now();
      const { length, step } = RANGES[range];
      const to = Math.floor(now / step) * step + step;
      const from = to - length;
      return Response.json(
        activityView(await platform.usage.readActivity({ from, to, step }), from, to, step, now),
      );
    },
  }),
] satisfies readonly Endpoint[];
