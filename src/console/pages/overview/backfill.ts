import type { HistorySummary } from "../../api/history.ts";
import type { Span } from "./readings.ts";

/** How long one point of the past is. */
const BIN_MS = 60_000;

type Past = Pick<HistorySummary, "created_at" | "status" | "prompt_tokens" | "completion_tokens">;

/**
 * What the history tells about the time before this console was watching, a minute a point, the last of which ends where the
 * watching begins. Minutes before the oldest record are left out when the history is full, because older ones have gone from it.
 *
 * @param from,until Unix milliseconds
 */
export function pastSpans(records: readonly Past[], full: boolean, from: number, until: number): Span[] {
  const oldest = records.reduce((least, { created_at }) => Math.min(least, created_at), until);
  const first = full ? Math.max(from, oldest) : from;
  const spans: Span[] = [];
  const bins = Math.floor((until - first) / BIN_MS);
  for (let start = until - bins * BIN_MS; start < until; start += BIN_MS) {
    const within = records.filter(({ created_at: at }) => at >= start && at < start + BIN_MS);
    const rate = (sum: number) => (sum * 1_000) / BIN_MS;
    const tokens = (pick: (record: Past) => number) =>
      rate(within.reduce((sum, record) => sum + pick(record), 0));
    spans.push({
      time: (start + BIN_MS) / 1_000,
      inUse: null,
      waiting: null,
      requests: rate(within.length),
      errors: rate(within.filter(({ status }) => status === "error").length),
      promptTokens: tokens(({ prompt_tokens }) => prompt_tokens),
      completionTokens: tokens(({ completion_tokens }) => completion_tokens),
      firstToken: null,
    });
  }
  return spans;
}
