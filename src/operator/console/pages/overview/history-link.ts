import { MINUTE_MS } from "../../../../core/units.ts";
import type { Activity } from "../../api/activity.ts";
import { formatHref } from "../../routing.ts";

/** Formats a time for the history's filter, in the user's time zone. */
function localTime(at: number): string {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19);
}

/**
 * Returns a link to the history of a time range, with other filters. Requests that ended in the range may have begun before
 * it; `maxDuration` is the longest duration of a request in milliseconds.
 */
export function historyLink(
  from: number,
  until: number,
  maxDuration: number,
  filters: Readonly<Record<string, string>> = {},
): string {
  const begin = Math.floor((from - maxDuration) / MINUTE_MS) * MINUTE_MS;
  const query = new URLSearchParams({ ...filters, from: localTime(begin), to: localTime(until) });
  return formatHref("history", "", query.toString());
}

/** Returns a link to the history of one step of a chart. */
export function historyLinkOfStep({ from, step_ms, series }: Activity, index: number): string {
  const start = from + index * step_ms;
  return historyLink(start, start + step_ms, series.duration_ms.p99[index] ?? 0);
}
