import type { UsageQuery } from "../../core/ports/usage.ts";
import { DAY_MS, HOUR_MS } from "../../core/units.ts";

/** How long hourly and daily rows are stored. */
export const HOURS_KEPT_MS = 35 * DAY_MS;
export const DAYS_KEPT_MS = 731 * DAY_MS;

/** Ranges up to this length are hourly by default. */
const MAX_HOURLY_MS = 3 * DAY_MS;
/** Totals of ranges up to this length are exact to the hour. */
const MAX_HOURLY_TOTAL_MS = 8 * DAY_MS;
/** The default range. */
const DEFAULT_RANGE_MS = 7 * DAY_MS;

/** The parts of a query that select a time range. */
export type UsageRange = Pick<UsageQuery, "from" | "to" | "granularity">;

/** The table of rollups that answers a query. */
export function selectTable({ from, to, granularity }: UsageRange): "hour" | "day" {
  if (granularity !== "total") return granularity;
  return from % DAY_MS === 0 && to % DAY_MS === 0 ? "day" : "hour";
}

/**
 * Normalizes a time range to whole hours or days (UTC), including partial ones. Default: the last seven days until `now`;
 * hourly up to three days, else daily. A total is exact to the hour up to eight days. All times are Unix milliseconds.
 *
 * @returns an error message if the range is invalid
 */
export function normalizeRange(
  range: { readonly from?: number; readonly to?: number; readonly granularity?: UsageQuery["granularity"] },
  now: number,
): UsageRange | string {
  const to = range.to ?? now;
  const from = range.from ?? to - DEFAULT_RANGE_MS;
  if (from >= to) return "from must be before to";
  if (to - from > DAYS_KEPT_MS) return "a range may be two years long";
  const isOld = from < now - HOURS_KEPT_MS;
  const granularity = range.granularity ?? (to - from > MAX_HOURLY_MS || isOld ? "day" : "hour");
  if (granularity === "hour" && isOld) return "hours are kept for 35 days: ask for days";
  const byDay =
    granularity === "day" || (granularity === "total" && (to - from > MAX_HOURLY_TOTAL_MS || isOld));
  const unit = byDay ? DAY_MS : HOUR_MS;
  return { from: Math.floor(from / unit) * unit, to: Math.ceil(to / unit) * unit, granularity };
}
