import { DAY_MS, HOUR_MS } from "../../../../core/units.ts";
import { DIMENSIONS, type Dimension, type UsageItem } from "../../api/usage.ts";
import { formatPercent } from "../../ui/count.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

/**
 * Charts of ranges that begin earlier have days. The gateway stores hours for 35 days and refuses older ones; one day less
 * allows for a browser's clock that is wrong.
 */
const MAX_HOURLY_AGE_MS = 34 * DAY_MS;
/** Ranges up to this length are shown by hours. */
const MAX_HOURLY_DAYS = 8;
/** The longest range that the gateway sums up, in days. */
const MAX_DAYS = 731;

/** Time ranges until now: days, label and step. */
export const RANGES = [
  [1, texts.hours, "hour"],
  [7, texts.days, "hour"],
  [30, words.days30, "day"],
  [90, texts.days90, "day"],
] as const;

/** A range of whole days (UTC, such as 2026-01-31), both included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** The orders of the groups, each with the largest first. */
export const SORTS = ["requests", "cost", "tokens", "errors"] as const;
export type Sort = (typeof SORTS)[number];

/** Options of the page; the URL stores them. */
export interface UsageView {
  /** The last days until now, or chosen days. */
  readonly range: (typeof RANGES)[number][0] | DayRange;
  readonly by: Dimension;
  readonly sort: Sort;
  readonly filters: Readonly<Partial<Record<Dimension, string>>>;
}

/** A period with its step; times are Unix milliseconds. */
export interface Period {
  readonly from: number;
  /** The end, which is not included. */
  readonly to: number;
  readonly unit: "hour" | "day";
}

const toDay = (text: string | null): number =>
  /^\d{4}-\d\d-\d\d$/.test(text ?? "") ? Date.parse(text ?? "") : Number.NaN;

/** Formats the day (UTC) of a time, such as 2026-01-31. */
export const formatDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

function parseDays(params: URLSearchParams): DayRange | null {
  const from = toDay(params.get("from"));
  const to = toDay(params.get("to"));
  if (!(from <= to)) return null;
  return { from: formatDay(Math.max(from, to - (MAX_DAYS - 1) * DAY_MS)), to: formatDay(to) };
}

/** Parses the options from a query string. */
export function parseView(query: string): UsageView {
  const params = new URLSearchParams(query);
  const [days] = RANGES.find(([choice]) => String(choice) === params.get("days")) ?? RANGES[1];
  return {
    range: parseDays(params) ?? days,
    by: DIMENSIONS.find((name) => name === params.get("by")) ?? "key",
    sort: SORTS.find((name) => name === params.get("sort")) ?? "requests",
    filters: Object.fromEntries(
      DIMENSIONS.flatMap((name) => {
        const value = params.get(name);
        return value === null ? [] : [[name, value]];
      }),
    ),
  };
}

/** Formats the options as a query string, with `changes`. A null filter is removed. The list returns to its first page. */
export function formatView(
  { range, by, sort, filters }: UsageView,
  changes: {
    readonly range?: UsageView["range"];
    readonly by?: Dimension;
    readonly sort?: Sort;
    readonly filters?: Readonly<Partial<Record<Dimension, string | null>>>;
  } = {},
): string {
  const chosen = changes.range ?? range;
  const time = typeof chosen === "number" ? { days: String(chosen) } : { from: chosen.from, to: chosen.to };
  const params = new URLSearchParams({ ...time, by: changes.by ?? by });
  const order = changes.sort ?? sort;
  if (order !== "requests") params.set("sort", order);
  for (const [name, value] of Object.entries({ ...filters, ...changes.filters })) {
    if (typeof value === "string") params.set(name, value);
  }
  return params.toString();
}

const AMOUNTS: Readonly<Record<Sort, (item: UsageItem) => number>> = {
  requests: ({ requests }) => requests,
  cost: ({ cost }) => cost,
  tokens: ({ prompt_tokens, completion_tokens }) => prompt_tokens + completion_tokens,
  errors: ({ failed, refused }) => failed + refused,
};

/** Sorts groups by an amount, the largest first. */
export const sortGroups = (groups: readonly UsageItem[], sort: Sort): UsageItem[] =>
  groups.toSorted((a, b) => AMOUNTS[sort](b) - AMOUNTS[sort](a));

const STEP_MS = { hour: HOUR_MS, day: DAY_MS } as const;

/** The period that is shown. The last days include the current hour or day; chosen days end now at the latest. */
export function findPeriod({ range }: UsageView, now: number): Period {
  if (typeof range === "number") {
    const unit = RANGES.find(([days]) => days === range)?.[2] ?? "day";
    const step = STEP_MS[unit];
    return { from: Math.floor(now / step) * step + step - range * DAY_MS, to: now, unit };
  }
  const from = toDay(range.from);
  const end = toDay(range.to) + DAY_MS;
  const to = from < now ? Math.min(end, now) : end;
  const isHourly = end - from <= MAX_HOURLY_DAYS * DAY_MS && from >= now - MAX_HOURLY_AGE_MS;
  return { from, to, unit: isHourly ? "hour" : "day" };
}

/** The period of the same length before. */
export function findPeriodBefore({ range }: UsageView, { from, to, unit }: Period): Period {
  const days =
    typeof range === "number" ? range : Math.round((toDay(range.to) - toDay(range.from)) / DAY_MS) + 1;
  const before = from - days * DAY_MS;
  return { from: before, to: before + (to - from), unit };
}

/** Values over time without gaps. `emptyValue` is the value for steps without usage. */
export interface Series {
  /** Unix seconds. */
  readonly times: readonly number[];
  pick(value: (item: UsageItem) => number | null): (number | null)[];
  /** The same for counts, which are 0 without usage. */
  count(value: (item: UsageItem) => number): number[];
}

/** Builds the series of a period. */
export function buildSeries(items: readonly UsageItem[], { from, to, unit }: Period): Series {
  const step = STEP_MS[unit];
  const byTime = new Map(items.map((item) => [item.at, item]));
  const moments: number[] = [];
  for (let at = from; at < to; at += step) moments.push(at);
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

/** Formats how much a number has changed: "+12%", "−40%", "±0%"; empty if there was nothing before. */
export function formatChange(now: number, before: number): string {
  if (before === 0) return "";
  const percent = Math.round((now / before - 1) * 100);
  const sign = percent === 0 ? "±" : percent > 0 ? "+" : "−";
  return sign + formatPercent(Math.abs(percent));
}
