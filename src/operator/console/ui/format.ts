import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/units.ts";
import { language } from "../language.ts";
import { formatPercent } from "./count.ts";
import { words } from "./words.ts";

const compactNumber = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });

/** 12345 → "12.3K". */
export const formatCompact = (value: number): string => compactNumber.format(value);

/** Formats a duration in milliseconds: "850 ms", "12.3 s", "4 min", "3 h". */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < HOUR_MS) return words.minutes(Math.round(ms / MINUTE_MS));
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : words.days(Math.round(ms / DAY_MS));
}

const locale = language === "en" ? "en-GB" : language;

// Created once, because creation costs more than use and lists have hundreds of times.
const DAY = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const DAY_AND_YEAR = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
const ZONE = new Intl.DateTimeFormat(locale, { timeZoneName: "shortOffset" });

/** Formats Unix milliseconds in the user's time zone, with the day. The year appears only if it is not the current one. */
export function formatTime(at: number, now = Date.now()): string {
  if (at === 0) return words.never;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return words.atNoTime;
  const day = date.getFullYear() === new Date(now).getFullYear() ? DAY : DAY_AND_YEAR;
  return `${day.format(date)} ${CLOCK.format(date)}`;
}

/** Formats with year and time zone: "22 Nov 2026 10:55:36 GMT+1". */
export function formatFullTime(at: number): string {
  if (at === 0 || Number.isNaN(new Date(at).getTime())) return formatTime(at);
  return `${formatTime(at, 0)} ${getTimeZone(at)}`;
}

/** Returns the user's time zone at a time, as offset from GMT: "GMT+1". */
function getTimeZone(at: number): string {
  return ZONE.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** Formats a share in percent: "12%", "0.4%". */
export function formatShare(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (part / whole) * 100;
  return formatPercent(percent < 10 ? percent : Math.round(percent));
}

/** Never in the form 5e-7, which few people read. */
const SMALL_COST = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, useGrouping: false });

/** Formats the cost of so many tokens: a dash if they cost nothing, since most likely their models have no price. */
export const formatCostOf = (cost: number, tokens: number): string =>
  cost === 0 && tokens > 0 ? "–" : formatCost(cost);

/** Formats a cost: two decimals, or three significant digits for small amounts. */
export function formatCost(value: number): string {
  if (value === 0) return "0";
  return value >= 1 || value <= -1 ? value.toFixed(2) : SMALL_COST.format(value);
}
