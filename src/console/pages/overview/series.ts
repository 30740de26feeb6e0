import type { Activity } from "../../api/activity.ts";

const MINUTE_MS = 60_000;
/** A step that has only begun says nothing of a rate yet. */
const SHORTEST_MS = 10_000;

/** When each value of a series was: the end of its step, of the last one until now. Unix seconds. */
export function timesOf({ from, now, step_ms, series }: Activity): number[] {
  return series.requests.map((_, place) => Math.min(from + (place + 1) * step_ms, now) / 1_000);
}

/** Counts of steps as what they come to in a minute; the last step has not lasted as long as the others. */
export function perMinute({ from, now, step_ms }: Activity, counts: readonly number[]): (number | null)[] {
  return counts.map((count, place) => {
    const lasted = Math.min(step_ms, now - (from + place * step_ms));
    return lasted < SHORTEST_MS ? null : (count * MINUTE_MS) / lasted;
  });
}

/** Sums of two series, value by value. */
export const added = (one: readonly number[], other: readonly number[]): number[] =>
  one.map((value, place) => value + (other[place] ?? 0));

/** Whether a number needs a look (`warn`), or an operator (`bad`), by two thresholds. */
export function toneOf(value: number, warn: number, bad: number): "warn" | "bad" | undefined {
  return value >= bad ? "bad" : value >= warn ? "warn" : undefined;
}
