import { encodeCsvField } from "../../../core/encoding/csv.ts";
import type { Percentiles } from "../../../core/ports/histograms.ts";
import type { UsageDimension } from "../../../core/ports/usage.ts";

/** A row of the CSV table. Percentiles become one column each. */
export type CsvRow = Readonly<Record<string, string | number | Percentiles | null | undefined>>;

const NUMBERS = [
  "requests",
  "succeeded",
  "failed",
  "cancelled",
  "refused",
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "reasoning_tokens",
  "total_tokens",
  "cost",
  "attempts",
] as const;

/** Last, so that the earlier columns stay where they are. */
const DETAILS = [
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
  "audio_input_tokens",
  "audio_output_tokens",
  "image_input_tokens",
  "image_output_tokens",
  "web_searches",
  "web_fetches",
  "audio_seconds",
  "search_units",
  "cache_hits",
  "provider_errors",
] as const;

const TIMES = ["first_token_ms", "duration_ms", "queue_ms"] as const;
const PERCENTILES = ["p50", "p95", "p99"] as const;

/** Names of the ids of a dimension. */
export type DimensionNames = Readonly<Partial<Record<UsageDimension, ReadonlyMap<string, string>>>>;

/**
 * Formats usage as CSV (RFC 4180): one line per group, times in ISO 8601.
 * Dimensions with `names` get a column for them, the last ones.
 */
export function usageCsv(
  rows: readonly CsvRow[],
  groupBy: readonly UsageDimension[],
  names: DimensionNames = {},
): string {
  const named = groupBy.filter((dimension) => names[dimension] !== undefined);
  const header = [
    "at",
    ...groupBy,
    ...NUMBERS,
    ...TIMES.flatMap((time) => PERCENTILES.map((percent) => `${time}_${percent}`)),
    ...DETAILS,
    ...named.map((dimension) => `${dimension}_name`),
  ];
  const lines = rows.map((row) => [
    new Date(Number(row["at"] ?? 0)).toISOString(),
    ...groupBy.map((name) => encodeCsvField(String(row[name] ?? ""))),
    ...NUMBERS.map((name) => String(row[name] ?? 0)),
    ...TIMES.flatMap((time) => PERCENTILES.map((percent) => percentile(row[time], percent))),
    ...DETAILS.map((name) => String(row[name] ?? 0)),
    ...named.map((dimension) => encodeCsvField(names[dimension]?.get(String(row[dimension] ?? "")) ?? "")),
  ]);
  return `${[header, ...lines].map((line) => line.join(",")).join("\r\n")}\r\n`;
}

function percentile(value: CsvRow[string], percent: keyof Percentiles): string {
  return typeof value === "object" && value !== null ? String(value[percent]) : "";
}
