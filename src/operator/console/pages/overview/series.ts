import { MINUTE_MS } from "../../../../core/units.ts";
import type { Activity } from "../../api/activity.ts";

/** Returns the time of each value in Unix seconds: the end of its step, or now for the last step. */
export function toTimes({ from, now, step_ms, series }: Activity): number[] {
  return series.requests.map((_, index) => Math.min(from + (index + 1) * step_ms, now) / 1_000);
}

/**
 * Converts counts per step to counts per minute. The last step has not ended: its rate is that of this step and the one
 * before, as a few seconds alone would exaggerate.
 */
export function toPerMinute({ from, now, step_ms }: Activity, counts: readonly number[]): number[] {
  return counts.map((count, index) => {
    const elapsed = now - (from + index * step_ms);
    if (elapsed >= step_ms) return (count * MINUTE_MS) / step_ms;
    return ((count + (counts[index - 1] ?? 0)) * MINUTE_MS) / (elapsed + (index > 0 ? step_ms : 0));
  });
}

/** Adds two series value by value. */
export const addSeries = (a: readonly number[], b: readonly number[]): number[] =>
  a.map((value, index) => value + (b[index] ?? 0));

/** Returns the tone of a value by two thresholds: `warnAt` needs attention, `badAt` needs an operator. */
export function thresholdTone(value: number, warnAt: number, badAt: number): "warn" | "bad" | undefined {
  return value >= badAt ? "bad" : value >= warnAt ? "warn" : undefined;
}
