import * as z from "zod";
import { lazyObject, once } from "../../core/encoding/lazy-schema.ts";
import type { HistoryFilter } from "../../core/ports/archive.ts";

const STATUSES = ["streaming", "success", "error", "cancelled"] as const;

/** Several values, separated by commas. */
const commaListSchema = once(() =>
  z
    .string()
    .transform((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    )
    .optional(),
);

const amountSchema = once(() => z.coerce.number().min(0).optional());

/** Unix milliseconds, or a date and time in ISO 8601. */
const timeSchema = once(() =>
  z
    .string()
    .transform((text, context) => {
      const at = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
      if (Number.isFinite(at)) return at;
      context.addIssue({ code: "custom", message: "must be Unix milliseconds or an ISO 8601 date" });
      return z.NEVER;
    })
    .optional(),
);

/** Query parameters that filter the history. A field with several values (separated by commas) matches any of them. */
export const historyFilterShape = once(() => ({
  /** Text in a summary: model, account, source, status and code (`error 429`), error or preview. */
  q: z.string().trim().default(""),
  from: timeSchema(),
  to: timeSchema(),
  status: commaListSchema().pipe(z.array(z.enum(STATUSES)).optional()),
  code: commaListSchema().pipe(
    z.array(z.string().regex(/^[1-9](?:xx|\d\d)$/, "must be such as 429 or 4xx")).optional(),
  ),
  key: commaListSchema(),
  model: commaListSchema(),
  account: commaListSchema(),
  dialect: commaListSchema(),
  source: commaListSchema(),
  min_ms: amountSchema(),
  max_ms: amountSchema(),
  min_tokens: amountSchema(),
  max_tokens: amountSchema(),
}));

const filterSchema = lazyObject(historyFilterShape);

/** Converts the query to a filter, without its text `q`. */
export function toHistoryFilter(query: z.output<typeof filterSchema>): HistoryFilter {
  const { from, to, status, code, key, model, account, dialect, source } = query;
  const { min_ms: minMs, max_ms: maxMs, min_tokens: minTokens, max_tokens: maxTokens } = query;
  return { from, to, status, code, key, model, account, dialect, source, minMs, maxMs, minTokens, maxTokens };
}
