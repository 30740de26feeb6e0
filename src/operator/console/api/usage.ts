import { callApi, sendTo } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

/** Dimensions by which usage can be grouped. */
export const DIMENSIONS = [
  "key",
  "team",
  "user",
  "tag",
  "model",
  "requested_model",
  "account",
  "provider",
  "dialect",
  "operation",
  "outcome",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

type Usage = AnswerOf<"GET /admin/usage">;
/** Total usage. Times are milliseconds. */
export type UsageTotals = Usage["totals"];
/** Usage of one group, or of one time step (Unix milliseconds). */
export type UsageItem = Usage["items"][number];

/** Query of the usage page. */
export interface UsageQuery {
  /** Unix milliseconds. */
  readonly from: number;
  /** The end, which is not included; absent: now. */
  readonly to?: number;
  readonly granularity: "hour" | "day" | "total";
  readonly groupBy: readonly Dimension[];
  readonly filters: Readonly<Partial<Record<Dimension, string>>>;
  readonly limit: number;
}

const toSearch = (
  { from, to, granularity, groupBy, filters }: Omit<UsageQuery, "limit">,
  format: "json" | "csv",
) => ({
  from: String(from),
  ...(to !== undefined && { to: String(to) }),
  granularity,
  group_by: groupBy.join(","),
  format,
  ...filters,
});

export const readUsage = (query: UsageQuery, signal?: AbortSignal) =>
  callApi("GET /admin/usage", {
    query: { ...toSearch(query, "json"), limit: String(query.limit) },
    signal,
  });

/** Returns the data of all groups as CSV. Rejects if there are too many for one file. */
export const readUsageCsv = async (query: Omit<UsageQuery, "limit">): Promise<string> =>
  (await sendTo("GET /admin/usage", { query: toSearch(query, "csv") })).text();
