import { callApi } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

/** A change by an administrator. `at` is Unix milliseconds. */
export type AuditEntry = AnswerOf<"GET /admin/audit">["items"][number];
/** A changed field. Values are masked JSON; null: no value. */
export type FieldChange = AuditEntry["changes"][number];

export function listAudit(query: string, page: number, size: number, signal?: AbortSignal) {
  const search = { q: query, page: String(page), page_size: String(size) };
  return callApi("GET /admin/audit", { query: search, signal });
}
