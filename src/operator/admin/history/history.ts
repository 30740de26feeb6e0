import * as z from "zod";
import { configSchema } from "../../../core/config/schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { getRetention } from "../../../records/telemetry/outbox.ts";
import { successSchema } from "../answers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { pageSchema, queryNumber } from "../paging.ts";
import { requestObject } from "../request-fields.ts";
import { requireFound } from "../resource-errors.ts";
import { historyRecordSchema, historySummarySchema, recordLabelsShape } from "./archive-answers.ts";
import { HISTORY_EXPORT_ENDPOINTS } from "./history-export.ts";
import { historyFilterShape, toHistoryFilter } from "./history-query.ts";
import { createRecordLabeler, createRecordView } from "./history-view.ts";

const MAX_PAGE_SIZE = 1_000;

/** Query of `GET /admin/chat-history`. */
const historyListSchema = lazyObject(() => ({
  page: queryNumber(1, 1_000_000),
  page_size: queryNumber(200, MAX_PAGE_SIZE),
  ...historyFilterShape(),
}));

/** Body of `PUT /admin/chat-history/settings`: the number of stored records; 0 disables the history. */
const historySettingsSchema = requestObject(() => ({
  limit: configSchema.shape.history.unwrap().shape.limit.unwrap(),
}));

const RECORD_KIND = "the history record";

export const HISTORY_ENDPOINTS = [
  ...HISTORY_EXPORT_ENDPOINTS,
  /**
   * `GET /admin/chat-history` (docs/contract/admin-history.md): summaries, newest request first. `limit` is the
   * retention count, `total` the number of matching records.
   */
  adminEndpoint({
    method: "GET",
    path: "/admin/chat-history",
    summary: "List the history",
    query: historyListSchema,
    answers: jsonResponse(() =>
      pageSchema(historySummarySchema().extend(recordLabelsShape())).extend({ limit: z.int() }),
    ),
    handler: async (context, { query }) => {
      const { page, page_size, q } = query;
      const { archive } = context.platform;
      const offset = (page - 1) * page_size;
      const { config } = await context.config();
      const { items, total } = await archive.listHistory({
        offset,
        count: page_size,
        q,
        filter: await toHistoryFilter(query, config),
      });
      const addLabels = await createRecordLabeler(config);
      return Response.json({
        items: items.map(addLabels),
        total,
        limit: config.history.limit,
        page,
        page_size,
        total_pages: Math.max(1, Math.ceil(total / page_size)),
      });
    },
  }),
  /**
   * `DELETE /admin/chat-history` (docs/contract/admin-history.md): deletes all records, and also records of requests
   * that arrived before this one.
   */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/chat-history",
    role: "owner",
    audit: "deletion",
    summary: "Clear the history",
    answers: jsonResponse(() => successSchema().extend({ deleted: z.int() })),
    handler: async ({ platform }) =>
      Response.json({ success: true, deleted: await platform.archive.clearHistory() }),
  }),
  /** `PUT /admin/chat-history/settings` (docs/contract/admin-history.md). Deletes records beyond the new count at once. */
  adminEndpoint({
    method: "PUT",
    path: "/admin/chat-history/settings",
    summary: "Set the history's retention",
    body: historySettingsSchema,
    answers: jsonResponse(() => successSchema().extend({ limit: z.int() })),
    handler: async (context, { body }) => {
      const snapshot = await editConfig(context, (config) => ({ ...config, history: { limit: body.limit } }));
      await context.platform.archive.applyRetention(getRetention(snapshot));
      return Response.json({ success: true, limit: snapshot.config.history.limit });
    },
  }),
  /** `GET /admin/chat-history/{id}` (docs/contract/admin-history.md). */
  adminEndpoint({
    method: "GET",
    path: "/admin/chat-history/:id",
    summary: "Read a history record",
    answers: jsonResponse(() => historyRecordSchema().extend(recordLabelsShape())),
    handler: async (context, { params: { id = "" } }) => {
      const record = requireFound(await context.platform.archive.readHistory(id), RECORD_KIND, id);
      const addLabels = await createRecordLabeler((await context.config()).config);
      return Response.json(addLabels(createRecordView(record)));
    },
  }),
  /** `DELETE /admin/chat-history/{id}` (docs/contract/admin-history.md). */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/chat-history/:id",
    audit: "deletion",
    summary: "Delete a history record",
    answers: jsonResponse(successSchema),
    handler: async ({ platform }, { params: { id = "" } }) => {
      requireFound(await platform.archive.deleteHistory(id), RECORD_KIND, id);
      return Response.json({ success: true });
    },
  }),
] satisfies readonly Endpoint[];
