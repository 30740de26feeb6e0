import * as z from "zod/mini";
import { call, send } from "./client.ts";
import { flag, number } from "./fields.ts";

/** Dimensions by which usage can be grouped. */
export const DIMENSIONS = [
  "key",
  "model",
  "requested_model",
  "account",
  "provider",
  "dialect",
  "operation",
  "outcome",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

const times = z._default(z.nullable(z.object({ p50: number, p95: number, p99: number })), null);

const sums = {
  requests: number,
  succeeded: number,
  failed: number,
  cancelled: number,
  refused: number,
  prompt_tokens: number,
  cached_tokens: number,
  completion_tokens: number,
  reasoning_tokens: number,
  cost: number,
  first_token_ms: times,
  duration_ms: times,
  queue_ms: times,
};

const values = Object.fromEntries(DIMENSIONS.map((name) => [name, z.optional(z.string())]));
const item = z.object({ at: number, ...sums, ...values });
const totals = z.object(sums);

/** Total usage. Times are milliseconds. */
export type UsageTotals = z.output<typeof totals>;
/** Usage of one group, or of one time step (Unix milliseconds). */
export type UsageItem = UsageTotals & { readonly at: number } & {
  readonly [D in Dimension]?: string | undefined;
};

const answer = z.object({ from: number, to: number, truncated: flag, items: z.array(item), totals });

/** Query of the usage page. */
export interface UsageQuery {
  /** Unix milliseconds; the range ends now. */
  readonly from: number;
  readonly granularity: "hour" | "day" | "total";
  readonly groupBy: readonly Dimension[];
  readonly filters: Readonly<Partial<Record<Dimension, string>>>;
  readonly limit: number;
}

function pathOf({ from, granularity, groupBy, filters, limit }: UsageQuery, format: "json" | "csv"): string {
  const search = new URLSearchParams({
    from: String(from),
    granularity,
    group_by: groupBy.join(","),
    limit: String(limit),
    format,
    ...filters,
  });
  return `/admin/usage?${search}`;
}

export const readUsage = (query: UsageQuery, signal?: AbortSignal) =>
  call(answer, pathOf(query, "json"), signal === undefined ? {} : { signal });

/** Returns the same data as CSV. */
export const usageAsCsv = async (query: UsageQuery): Promise<string> =>
  (await send(pathOf(query, "csv"))).text();
