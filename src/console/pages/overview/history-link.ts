import type { Activity } from "../../api/activity.ts";
import { href } from "../../routing.ts";

const MINUTE_MS = 60_000;

/** A moment as the history's filter has it: in the reader's own clock. */
function localTime(at: number): string {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19);
}

/**
 * The history of a time, with other filters. What has ended in that time may have begun before: `longest` is how long requests
 * took at the most, in milliseconds.
 */
export function historyOf(
  from: number,
  until: number,
  longest: number,
  filters: Readonly<Record<string, string>> = {},
): string {
  const begin = Math.floor((from - longest) / MINUTE_MS) * MINUTE_MS;
  const query = new URLSearchParams({ ...filters, from: localTime(begin), to: localTime(until) });
  return href("history", "", query.toString());
}

/** Where a click on a chart leads: the history of the step that was pointed at. */
export function historyOfStep({ from, step_ms, series }: Activity, place: number): string {
  const at = from + place * step_ms;
  return historyOf(at, at + step_ms, series.duration_ms.p99[place] ?? 0);
}
