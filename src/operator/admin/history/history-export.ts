import * as z from "zod";
import { encodeCsvField } from "../../../core/encoding/csv.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import type { HistorySummary } from "../../../core/ports/archive.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint } from "../../../core/routing/endpoint.ts";
import { historyFilterShape, toHistoryFilter } from "./history-query.ts";
import { createRecordView } from "./history-view.ts";

/** Number of summaries per read. */
const BATCH_SIZE = 500;

const TYPES = { ndjson: "application/x-ndjson", csv: "text/csv; charset=utf-8" } as const;

const exportSchema = lazyObject(() => ({
  ...historyFilterShape(),
  format: z.enum(["ndjson", "csv"]).default("ndjson"),
  /** Whether NDJSON also contains prompts and answers. */
  texts: z.stringbool().default(false),
}));

type Query = z.output<typeof exportSchema>;

const COLUMNS = [
  "id",
  "created_at",
  "status",
  "status_code",
  "dialect",
  "requested_model",
  "model",
  "key",
  "account",
  "attempts",
  "source",
  "stream",
  "prompt_tokens",
  "completion_tokens",
  "reasoning_tokens",
  "elapsed_ms",
  "finish_reason",
  "error",
  "request_id",
  "request_preview",
  "response_preview",
  "cached_tokens",
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
  "error_code",
  "provider",
  "team",
  "user",
  "refusals",
] as const satisfies readonly (keyof HistorySummary)[];

function csvLine(summary: HistorySummary): string {
  const fields = COLUMNS.map((name) =>
    encodeCsvField(
      name === "created_at" ? new Date(summary.created_at).toISOString() : (summary[name] ?? ""),
    ),
  );
  return `${fields.join()}\r\n`;
}

/**
 * Reads the matching summaries in batches, newest first. Each batch starts at the time where the previous one ended, not at
 * an offset: new records would shift the offsets and repeat a record.
 */
async function* readBatches(
  context: Context,
  query: Query,
  count: number,
): AsyncGenerator<readonly HistorySummary[]> {
  const { platform } = context;
  const filter = await toHistoryFilter(query, (await context.config()).config);
  let to = Math.min(filter.to ?? Number.POSITIVE_INFINITY, platform.now());
  // Number of records already sent that have the batch's first millisecond.
  let offset = 0;
  for (;;) {
    const request = { offset, count, q: query.q, filter: { ...filter, to }, uncounted: true };
    const { items } = await platform.archive.listHistory(request);
    if (items.length > 0) yield items;
    const last = items.at(-1)?.created_at;
    if (last === undefined || items.length < count) return;
    const sameTime = items.filter(({ created_at }) => created_at === last).length;
    offset = to === last + 1 ? offset + sameTime : sameTime;
    to = last + 1;
  }
}

/** The records as text, in batches. */
async function* formatRecords(context: Context, query: Query): AsyncGenerator<string> {
  if (query.format === "csv") {
    yield `${COLUMNS.join()}\r\n`;
    for await (const items of readBatches(context, query, BATCH_SIZE)) yield items.map(csvLine).join("");
    return;
  }
  if (!query.texts) {
    for await (const items of readBatches(context, query, BATCH_SIZE)) {
      yield items.map((summary) => `${JSON.stringify(summary)}\n`).join("");
    }
    return;
  }
  for await (const items of readBatches(context, query, BATCH_SIZE)) {
    for (const { id } of items) {
      const record = await context.platform.archive.readHistory(id);
      if (record === null) continue;
      // One at a time, because their texts are long.
      yield `${JSON.stringify(createRecordView(record))}\n`;
    }
  }
}

export const HISTORY_EXPORT_ENDPOINTS = [
  /** `GET /admin/chat-history/export`: all matching records, newest first, one per line. */
  adminEndpoint({
    method: "GET",
    path: "/admin/chat-history/export",
    summary: "Export the history",
    query: exportSchema,
    answers: () => ({ [TYPES.ndjson]: { type: "string" }, "text/csv": { type: "string" } }),
    handler: async (context, { query }) => {
      const encoder = new TextEncoder();
      const parts = formatRecords(context, query);
      const body = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          const next = await parts.next();
          if (next.done === true) controller.close();
          else controller.enqueue(encoder.encode(next.value));
        },
        cancel: async () => {
          await parts.return(undefined);
        },
      });
      return new Response(body, {
        headers: {
          "content-type": TYPES[query.format],
          "content-disposition": `attachment; filename="history.${query.format}"`,
          "cache-control": "no-store",
        },
      });
    },
  }),
] satisfies readonly Endpoint[];
