import * as z from "zod";
import { configSchema } from "../config/schema.ts";
import { readBody } from "../http/json-body.ts";
import type { HistoryRecord } from "../platform/archive.ts";
import type { Handler } from "../platform/context.ts";
import { retentionOf } from "../telemetry/outbox.ts";
import { edit, missing } from "./edit.ts";

const MAX_PAGE_SIZE = 1_000;

const queryNumber = (fallback: number, max: number) =>
  z.coerce
    .number()
    .catch(fallback)
    .default(fallback)
    .transform((value) => Math.min(Math.max(Math.floor(value), 1), max));

/** Query of `GET /admin/chat-history`; `q` is text in a summary: model, account, source, status, error or preview. */
export const historyListSchema = z.object({
  page: queryNumber(1, 1_000_000),
  page_size: queryNumber(200, MAX_PAGE_SIZE),
  q: z.string().trim().default(""),
});

const limit = configSchema.shape.history.unwrap().shape.limit.unwrap();

/** `PUT /admin/chat-history/settings`: how many records are kept; 0 switches the history off. */
export const historySettingsSchema = z.object({ limit });

/**
 * `GET /admin/chat-history` (contract): summaries, newest request first. `limit` is the retention count, `total` counts
 * what `q` finds.
 */
export const listHistory: Handler = async (context) => {
  const { page, page_size, q } = historyListSchema.parse(Object.fromEntries(context.url.searchParams));
  const { archive } = context.platform;
  const { items, total } = await archive.listHistory({ offset: (page - 1) * page_size, count: page_size, q });
  const { config } = await context.config();
  return Response.json({
    items,
    total,
    limit: config.history.limit,
    page,
    page_size,
    total_pages: Math.max(1, Math.ceil(total / page_size)),
  });
};

/** A record as JSON: its messages as they are rather than as text. */
function view(record: HistoryRecord) {
  const messages: unknown = JSON.parse(record.messages);
  return { ...record, messages };
}

/** `GET /admin/chat-history/{id}` (contract). */
export const readHistory: Handler = async (context) => {
  const id = context.params["id"] ?? "";
  const record = await context.platform.archive.readHistory(id);
  if (record === null) throw missing(`the history record ${JSON.stringify(id)}`);
  return Response.json(view(record));
};

/** `DELETE /admin/chat-history/{id}` (contract). */
export const deleteHistory: Handler = async (context) => {
  const id = context.params["id"] ?? "";
  if (!(await context.platform.archive.deleteHistory(id))) {
    throw missing(`the history record ${JSON.stringify(id)}`);
  }
  return Response.json({ success: true });
};

/** `DELETE /admin/chat-history` (contract). */
export const clearHistory: Handler = async (context) =>
  Response.json({ success: true, deleted: await context.platform.archive.clearHistory() });

/** `PUT /admin/chat-history/settings` (contract). Records beyond the new count go at once. */
export const changeHistorySettings: Handler = async (context) => {
  const wanted = await readBody(context.request, historySettingsSchema);
  const snapshot = await edit(context, (config) => ({ ...config, history: { limit: wanted.limit } }));
  await context.platform.archive.retain(retentionOf(snapshot));
  return Response.json({ success: true, limit: snapshot.config.history.limit });
};
