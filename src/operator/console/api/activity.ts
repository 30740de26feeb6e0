import { HOUR_MS } from "../../../core/units.ts";
import { words } from "../ui/words.ts";
import { callApi } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

/** Time ranges of the overview: API value, label and length in milliseconds. */
export const ACTIVITY_RANGES = [
  ["15m", words.minutes15, HOUR_MS / 4],
  ["1h", words.hour1, HOUR_MS],
  ["6h", words.hours6, 6 * HOUR_MS],
  ["24h", words.hours24, 24 * HOUR_MS],
  ["7d", words.days7, 168 * HOUR_MS],
] as const;
export type ActivityRange = (typeof ACTIVITY_RANGES)[number][0];

/** Activity of the gateway. Each list has one value per step. Times are Unix milliseconds, durations milliseconds. */
export type Activity = AnswerOf<"GET /admin/activity">;

export const readActivity = (range: ActivityRange, signal?: AbortSignal) =>
  callApi("GET /admin/activity", { query: { range }, signal });
