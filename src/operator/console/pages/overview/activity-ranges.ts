import { HOUR_MS } from "../../../../core/units.ts";
import { texts } from "./texts.ts";

/** Time ranges of the overview: API value, label and length in milliseconds. */
export const ACTIVITY_RANGES = [
  ["15m", texts.minutes15, HOUR_MS / 4],
  ["1h", texts.hour1, HOUR_MS],
  ["6h", texts.hours6, 6 * HOUR_MS],
  ["24h", texts.hours24, 24 * HOUR_MS],
  ["7d", texts.days7, 168 * HOUR_MS],
] as const;
