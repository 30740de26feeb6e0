import * as z from "zod/mini";
import { call, send } from "./client.ts";
import { anything, flag, number, text } from "./fields.ts";

const fields = {
  id: z.string(),
  created_at: number,
  completed_at: number,
  request_id: text,
  dialect: text,
  requested_model: text,
  model: text,
  account: text,
  attempts: number,
  tried: z._default(z.array(z.object({ account: text, reason: text, message: text, at: number })), []),
  sign_ins: z._default(z.array(z.object({ account: text, at: number, ms: number })), []),
  key: text,
  leased_at: number,
  first_token_ms: number,
  source: text,
  stream: flag,
  thinking: flag,
  status: text,
  status_code: number,
  error: text,
  finish_reason: text,
  prompt_tokens: number,
  completion_tokens: number,
  reasoning_tokens: number,
  elapsed_ms: number,
};

const summary = z.object({ ...fields, request_preview: text, response_preview: text });

/** A generation in the list. Times are Unix milliseconds. */
export type HistorySummary = z.output<typeof summary>;

const list = z.object({ items: z.array(summary), total: number, limit: number, total_pages: number });
export type HistoryList = z.output<typeof list>;

const record = z.object({
  ...fields,
  messages: z.unknown(),
  prompt: text,
  reasoning: text,
  content: text,
});

/** A complete generation: its request, and the upstream's response before translation. */
export type HistoryRecord = z.output<typeof record>;

/** `asked`: text and filters as the gateway expects them. */
export function listHistory(asked: URLSearchParams, page: number, size: number, signal?: AbortSignal) {
  const search = new URLSearchParams(asked);
  search.set("page", String(page));
  search.set("page_size", String(size));
  return call(list, `/admin/chat-history?${search}`, signal === undefined ? {} : { signal });
}

/** Exports the matching records as the text of a file. */
export async function exportHistory(asked: URLSearchParams, format: "ndjson" | "csv"): Promise<string> {
  const search = new URLSearchParams(asked);
  search.set("format", format);
  return (await send(`/admin/chat-history/export?${search}`)).text();
}

const path = (id: string) => `/admin/chat-history/${encodeURIComponent(id)}`;

export const readHistory = (id: string, signal?: AbortSignal) =>
  call(record, path(id), signal === undefined ? {} : { signal });

export const deleteHistory = (id: string) => call(anything, path(id), { method: "DELETE" });

export const clearHistory = () => call(anything, "/admin/chat-history", { method: "DELETE" });
