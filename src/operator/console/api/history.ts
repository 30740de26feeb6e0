import { callApi, sendTo } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

export type HistoryList = AnswerOf<"GET /admin/chat-history">;
/** A generation in the list. Times are Unix milliseconds. */
export type HistorySummary = HistoryList["items"][number];
/** A complete generation: its request, and the upstream's response before translation. */
export type HistoryRecord = AnswerOf<"GET /admin/chat-history/:id">;

/** `query`: text and filters as the gateway expects them. */
export function listHistory(query: URLSearchParams, page: number, size: number, signal?: AbortSignal) {
  const search = new URLSearchParams(query);
  search.set("page", String(page));
  search.set("page_size", String(size));
  return callApi("GET /admin/chat-history", { query: search, signal });
}

/** Exports the matching records as the text of a file. */
export async function exportHistory(query: URLSearchParams, format: "ndjson" | "csv"): Promise<string> {
  const search = new URLSearchParams(query);
  search.set("format", format);
  return (await sendTo("GET /admin/chat-history/export", { query: search })).text();
}

export const readHistory = (id: string, signal?: AbortSignal) =>
  callApi("GET /admin/chat-history/:id", { params: { id }, signal });

export const deleteHistory = (id: string) => callApi("DELETE /admin/chat-history/:id", { params: { id } });

export const clearHistory = () => callApi("DELETE /admin/chat-history");
