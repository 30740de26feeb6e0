import * as z from "zod/mini";
import { callApi, sendRequest } from "./client.ts";
import { booleanField, numberField } from "./fields.ts";

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

const times = z._default(
  z.nullable(z.object({ p50: numberField, p95: numberField, p99: numberField })),
  null,
);

const sums = {
  requests: numberField,
  succeeded: numberField,
  failed: numberField,
  cancelled: numberField,
  refused: numberField,
  prompt_tokens: numberField,
  cached_tokens: numberField,
  completion_tokens: numberField,
  reasoning_tokens: numberField,
  cache_write_5m_tokens: numberField,
  cache_write_1h_tokens: numberField,
  audio_input_tokens: numberField,
  audio_output_tokens: numberField,
  web_searches: numberField,
  web_fetches: numberField,
  cost: numberField,
  first_token_ms: times,
  duration_ms: times,
  queue_ms: times,
};

const values = Object.fromEntries(DIMENSIONS.map((name) => [name, z.optional(z.string())]));
const item = z.object({ at: numberField, ...sums, ...values });
const totals = z.object(sums);

/** Total usage. Times are milliseconds. */
export type UsageTotals = z.output<typeof totals>;
/** Usage of one group, or of one time step (Unix milliseconds). */
export type UsageItem = UsageTotals & { readonly at: number } & {
  readonly [D in Dimension]?: string | undefined;
};

const answer = z.object({
  from: numberField,
  to: numberField,
  truncated: booleanField,
  items: z.array(item),
  totals,
});

/** Query of the usage page. */
export interface UsageQuery {
  /** Unix milliseconds; the range ends now. */
  readonly from: number;
  readonly granularity: "hour" | "day" | "total";
  readonly groupBy: readonly Dimension[];
  readonly filters: Readonly<Partial<Record<Dimension, string>>>;
  readonly limit: number;
}

function usagePath(
  { from, granularity, groupBy, filters, limit }: UsageQuery,
  format: "json" | "csv",
): string {
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
  callApi(answer, usagePath(query, "json"), signal === undefined ? {} : { signal });

/** Returns the same data as CSV. */
export const readUsageCsv = async (query: UsageQuery): Promise<string> =>
  (await sendRequest(usagePath(query, "csv"))).text();
