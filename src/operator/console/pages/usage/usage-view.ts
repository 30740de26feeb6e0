import { DIMENSIONS, type Dimension, type UsageItem } from "../../api/usage.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Time ranges: days, label and step. */
export const RANGES = [
  [1, texts.hours, "hour"],
  [7, texts.days, "hour"],
  [30, words.days30, "day"],
  [90, texts.days90, "day"],
] as const;

/** Options of the page; the URL stores them. */
export interface UsageView {
  readonly days: (typeof RANGES)[number][0];
  readonly unit: "hour" | "day";
  readonly by: Dimension;
  readonly filters: Readonly<Partial<Record<Dimension, string>>>;
}

/** Parses the options from a query string. */
export function parseView(query: string): UsageView {
  const params = new URLSearchParams(query);
  const [days, , unit] = RANGES.find(([choice]) => String(choice) === params.get("days")) ?? RANGES[1];
  return {
    days,
    unit,
    by: DIMENSIONS.find((name) => name === params.get("by")) ?? "key",
    filters: Object.fromEntries(
      DIMENSIONS.flatMap((name) => {
        const value = params.get(name);
        return value === null ? [] : [[name, value]];
      }),
    ),
  };
}

/** Formats the options as a query string, with `changes`. A null filter is removed. */
export function formatView(
  { days, by, filters }: UsageView,
  changes: {
    readonly days?: number;
    readonly by?: Dimension;
    readonly filters?: Readonly<Partial<Record<Dimension, string | null>>>;
  } = {},
): string {
  const params = new URLSearchParams({ days: String(changes.days ?? days), by: changes.by ?? by });
  for (const [name, value] of Object.entries({ ...filters, ...changes.filters })) {
    if (typeof value === "string") params.set(name, value);
  }
  return params.toString();
}

/** Start of the range in Unix milliseconds. The range includes the current hour or day. */
export function rangeStart({ days, unit }: UsageView, now: number): number {
  const step = unit === "hour" ? HOUR_MS : DAY_MS;
  const end = Math.floor(now / step) * step + step;
  return end - days * DAY_MS;
}

/** Values over time without gaps. `emptyValue` is the value for steps without usage. */
export interface Series {
  /** Unix seconds. */
  readonly times: readonly number[];
  pick(value: (item: UsageItem) => number | null): (number | null)[];
  /** The same for counts, which are 0 without usage. */
  count(value: (item: UsageItem) => number): number[];
}

/** Builds the series from `from` (Unix milliseconds) until now. */
export function buildSeries(
  items: readonly UsageItem[],
  from: number,
  unit: "hour" | "day",
  now: number,
): Series {
  const step = unit === "hour" ? HOUR_MS : DAY_MS;
  const byTime = new Map(items.map((item) => [item.at, item]));
  const moments: number[] = [];
  for (let at = from; at <= now; at += step) moments.push(at);
  const mapMoments = <T>(value: (item: UsageItem) => T, emptyValue: T) =>
    moments.map((moment) => {
      const item = byTime.get(moment);
      return item === undefined ? emptyValue : value(item);
    });
  return {
    times: moments.map((moment) => moment / 1_000),
    pick: (value) => mapMoments<number | null>(value, null),
    count: (value) => mapMoments(value, 0),
  };
}

/** Returns the label of a dimension's value. */
export function displayName(dimension: Dimension, value: string, keys: ReadonlyMap<string, string>): string {
  if (value === "") return dimension === "key" ? texts.noKeyTokenProvider : words.none;
  return dimension === "key" ? keys.get(value) || value : value;
}

/** Formats a share in percent: "12%", "0.4%". */
export function formatShare(part: number, whole: number): string {
  if (whole === 0 || part === 0) return "0%";
  const percent = (part / whole) * 100;
  return `${percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)}%`;
}

/** Never in the form 5e-7, which few people read. */
const SMALL_COST = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, useGrouping: false });

/** Formats a cost: two decimals, or three significant digits for small amounts. */
export function formatCost(value: number): string {
  if (value === 0) return "0";
  return value >= 1 || value <= -1 ? value.toFixed(2) : SMALL_COST.format(value);
}
