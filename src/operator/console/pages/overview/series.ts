import type { Activity } from "../../api/activity.ts";

const MINUTE_MS = 60_000;
/** Minimum age of a step before its rate is meaningful. */
const MIN_RATE_MS = 10_000;

/** Returns the time of each value in Unix seconds: the end of its step, or now for the last step. */
export function toTimes({ from, now, step_ms, series }: Activity): number[] {
  return series.requests.map((_, place) => Math.min(from + (place + 1) * step_ms, now) / 1_000);
}

/** Converts counts per step to counts per minute. The last step is shorter than the others. */
export function toPerMinute({ from, now, step_ms }: Activity, counts: readonly number[]): (number | null)[] {
  return counts.map((count, place) => {
    const lasted = Math.min(step_ms, now - (from + place * step_ms));
    return lasted < MIN_RATE_MS ? null : (count * MINUTE_MS) / lasted;
  });
}

/** Adds two series value by value. */
export const addSeries = (one: readonly number[], other: readonly number[]): number[] =>
  one.map((value, place) => value + (other[place] ?? 0));

/** Returns the tone of a value by two thresholds: `warn` needs attention, `bad` needs an operator. */
export function thresholdTone(value: number, warn: number, bad: number): "warn" | "bad" | undefined {
  return value >= bad ? "bad" : value >= warn ? "warn" : undefined;
}
