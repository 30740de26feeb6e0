import * as z from "zod";
import type { HistorySummary } from "../platform/archive.ts";
import type { Context } from "../platform/context.ts";
import { type Endpoint, forAdministrators } from "../routing/endpoint.ts";
import { filterOf, historyFilterShape } from "./history-query.ts";

/** Records that are read at once; with their texts they may be long. */
const AT_ONCE = 500;
const AT_ONCE_WITH_TEXTS = 20;

const TYPES = { ndjson: "application/x-ndjson", csv: "text/csv; charset=utf-8" } as const;

const exportSchema = z.object({
  ...historyFilterShape,
  format: z.enum(["ndjson", "csv"]).default("ndjson"),
  /** Whether NDJSON has prompts and answers, too. */
  texts: z.stringbool().default(false),
});

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
] as const satisfies readonly (keyof HistorySummary)[];

/** A field of a table. What spreadsheets would take for a formula is made a text: callers write these. */
export function csvField(value: string | number | boolean): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvLine(summary: HistorySummary): string {
  const fields = COLUMNS.map((name) =>
    csvField(name === "created_at" ? new Date(summary.created_at).toISOString() : summary[name]),
  );
  return `${fields.join()}\r\n`;
}

/** The records as text, some at a time. What comes in meanwhile is not among them: pages would shift. */
async function* pieces({ platform }: Context, query: z.output<typeof exportSchema>): AsyncGenerator<string> {
  const { archive } = platform;
  const filter = filterOf(query);
  const to = Math.min(filter.to ?? Number.POSITIVE_INFINITY, platform.now());
  const texts = query.texts && query.format === "ndjson";
  const count = texts ? AT_ONCE_WITH_TEXTS : AT_ONCE;
  if (query.format === "csv") yield `${COLUMNS.join()}\r\n`;
  for (let offset = 0; ; offset += count) {
    const { items, total } = await archive.listHistory({
      offset,
      count,
      q: query.q,
      filter: { ...filter, to },
    });
    let text = "";
    for (const summary of items) {
      if (query.format === "csv") text += csvLine(summary);
      else if (!texts) text += `${JSON.stringify(summary)}\n`;
      else {
        const record = await archive.readHistory(summary.id);
        if (record === null) continue;
        const messages: unknown = JSON.parse(record.messages);
        text += `${JSON.stringify({ ...record, messages })}\n`;
      }
    }
    if (text !== "") yield text;
    if (items.length === 0 || offset + count >= total) return;
  }
}

export const HISTORY_EXPORT_ENDPOINTS: readonly Endpoint[] = [
  /** `GET /admin/chat-history/export`: all records that the filter leaves, newest first, one a line. */
  forAdministrators({
    method: "GET",
    path: "/admin/chat-history/export",
    summary: "Export the history",
    query: exportSchema,
    answers: () => ({ [TYPES.ndjson]: { type: "string" }, "text/csv": { type: "string" } }),
    handler: async (context, { query }) => {
      const encoder = new TextEncoder();
      const parts = pieces(context, query);
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
];
