import type { HistoryRecord } from "../../api/history.ts";
import { formatCount } from "../../ui/count.ts";
import { texts } from "./texts.ts";

/** The details of a usage, with the texts that follow their numbers. */
const DETAILS = [
  ["cached_tokens", texts.readFromCache],
  ["cache_write_5m_tokens", texts.writtenToCacheFor5Minutes],
  ["cache_write_1h_tokens", texts.writtenToCacheFor1Hour],
  ["audio_input_tokens", texts.audioIn],
  ["audio_output_tokens", texts.audioOut],
  ["image_input_tokens", texts.imagesIn],
  ["image_output_tokens", texts.imagesOut],
  ["web_searches", texts.webSearches],
  ["web_fetches", texts.pagesFetched],
  ["audio_seconds", texts.audioSeconds],
  ["search_units", texts.searchUnits],
] as const;

/** Describes the details of a generation's usage, without those that are 0. */
export function describeUsage(record: Pick<HistoryRecord, (typeof DETAILS)[number][0]>): readonly string[] {
  return DETAILS.flatMap(([name, text]) =>
    record[name] === 0 ? [] : [`${formatCount(record[name])} ${text}`],
  );
}
