import type { HistoryRecord } from "../../api/history.ts";
import { formatCount } from "../../ui/format.ts";

/** The details of a usage, with the texts that follow their numbers. */
const DETAILS = [
  ["cached_tokens", "read from the cache"],
  ["cache_write_5m_tokens", "written to the cache for 5 minutes"],
  ["cache_write_1h_tokens", "written to the cache for 1 hour"],
  ["audio_input_tokens", "of audio in"],
  ["audio_output_tokens", "of audio out"],
  ["web_searches", "web searches"],
  ["web_fetches", "pages fetched"],
] as const;

/** Describes the details of a generation's usage, without those that are 0. */
export function describeUsage(record: Pick<HistoryRecord, (typeof DETAILS)[number][0]>): readonly string[] {
  return DETAILS.flatMap(([name, text]) =>
    record[name] === 0 ? [] : [`${formatCount(record[name])} ${text}`],
  );
}
