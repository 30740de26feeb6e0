import type { HistoryRecord, HistorySummary } from "../../api/history.ts";
import { texts } from "./texts.ts";
import { separateToolCalls } from "./tool-call-markup.ts";

/** Describes the beginning of an answer for the list: its text, and the functions that it calls. */
export function describeAnswer(
  record: Pick<HistorySummary, "response_preview" | "finish_reason" | "called_functions">,
): string {
  const { text, hasCalls, functions } = separateToolCalls(record.response_preview, record);
  if (!hasCalls) return text;
  const calls = functions.length === 0 ? texts.callsTools : texts.calls(functions.join(", "));
  return text === "" ? calls : `${text} · ${calls}`;
}

/** The tab with which a record opens: the one that has what the model answered. */
export function selectFirstTab(
  record: Pick<HistoryRecord, "content" | "finish_reason" | "called_functions">,
): "answer" | "calls" {
  const { text, hasCalls } = separateToolCalls(record.content, record);
  return hasCalls && text.trim() === "" ? "calls" : "answer";
}
