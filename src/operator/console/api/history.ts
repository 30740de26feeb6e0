import * as z from "zod/mini";
import { callApi, sendRequest } from "./client.ts";
import { booleanField, ignoredResponse, numberField, textField, textListField } from "./fields.ts";

const summaryShape = {
  id: z.string(),
  created_at: numberField,
  completed_at: numberField,
  request_id: textField,
  dialect: textField,
  requested_model: textField,
  model: textField,
  account: textField,
  attempts: numberField,
  tried: z._default(
    z.array(z.object({ account: textField, reason: textField, message: textField, at: numberField })),
    [],
  ),
  sign_ins: z._default(z.array(z.object({ account: textField, at: numberField, ms: numberField })), []),
  key: textField,
  leased_at: numberField,
  first_token_ms: numberField,
  source: textField,
  upstream_attempts: z._default(
    z.array(
      z.object({
        cause: textField,
        account: textField,
        model: textField,
        at: numberField,
        ms: z._default(z.nullable(z.number()), null),
        status: numberField,
        reason: textField,
      }),
    ),
    [],
  ),
  dropped_params: textListField,
  stream: booleanField,
  thinking: booleanField,
  status: textField,
  status_code: numberField,
  error: textField,
  finish_reason: textField,
  prompt_tokens: numberField,
  completion_tokens: numberField,
  reasoning_tokens: numberField,
  cached_tokens: numberField,
  cache_write_5m_tokens: numberField,
  cache_write_1h_tokens: numberField,
  audio_input_tokens: numberField,
  audio_output_tokens: numberField,
  web_searches: numberField,
  web_fetches: numberField,
  elapsed_ms: numberField,
};

const summary = z.object({ ...summaryShape, request_preview: textField, response_preview: textField });

/** A generation in the list. Times are Unix milliseconds. */
export type HistorySummary = z.output<typeof summary>;

const list = z.object({
  items: z.array(summary),
  total: numberField,
  limit: numberField,
  total_pages: numberField,
});
export type HistoryList = z.output<typeof list>;

const record = z.object({
  ...summaryShape,
  messages: z.unknown(),
  prompt: textField,
  reasoning: textField,
  content: textField,
});

/** A complete generation: its request, and the upstream's response before translation. */
export type HistoryRecord = z.output<typeof record>;

/** `query`: text and filters as the gateway expects them. */
export function listHistory(query: URLSearchParams, page: number, size: number, signal?: AbortSignal) {
  const search = new URLSearchParams(query);
  search.set("page", String(page));
  search.set("page_size", String(size));
  return callApi(list, `/admin/chat-history?${search}`, signal === undefined ? {} : { signal });
}

/** Exports the matching records as the text of a file. */
export async function exportHistory(query: URLSearchParams, format: "ndjson" | "csv"): Promise<string> {
  const search = new URLSearchParams(query);
  search.set("format", format);
  return (await sendRequest(`/admin/chat-history/export?${search}`)).text();
}

const path = (id: string) => `/admin/chat-history/${encodeURIComponent(id)}`;

export const readHistory = (id: string, signal?: AbortSignal) =>
  callApi(record, path(id), signal === undefined ? {} : { signal });

export const deleteHistory = (id: string) => callApi(ignoredResponse, path(id), { method: "DELETE" });

export const clearHistory = () => callApi(ignoredResponse, "/admin/chat-history", { method: "DELETE" });
