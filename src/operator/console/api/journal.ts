import * as z from "zod/mini";
import { callApi } from "./client.ts";
import { nullableTextField, numberField, textField } from "./fields.ts";

const change = z.object({ path: textField, before: nullableTextField, after: nullableTextField });

/** A changed field. Values are masked JSON; null: no value. */
export type FieldChange = z.output<typeof change>;

/** The listed changes, and the number of further changes. */
export const fieldChanges = { changes: z._default(z.array(change), []), more: numberField };

const entry = z.object({
  id: numberField,
  at: numberField,
  version: numberField,
  who: textField,
  address: textField,
  action: textField,
  ...fieldChanges,
});

/** A change by an administrator. `at` is Unix milliseconds. */
export type AuditEntry = z.output<typeof entry>;

const list = z.object({
  items: z._default(z.array(entry), []),
  total: numberField,
  total_pages: numberField,
});

export function listAudit(query: string, page: number, size: number, signal?: AbortSignal) {
  const search = new URLSearchParams({ q: query, page: String(page), page_size: String(size) });
  return callApi(list, `/admin/audit?${search}`, signal === undefined ? {} : { signal });
}

const savedVersionSchema = z.object({
  version: numberField,
  at: numberField,
  who: textField,
  action: textField,
  keys: numberField,
  accounts: numberField,
});

/** A saved configuration that can be restored. */
export type SavedVersion = z.output<typeof savedVersionSchema>;

const versions = z.object({ items: z._default(z.array(savedVersionSchema), []) });

export const listVersions = (signal?: AbortSignal) =>
  callApi(versions, "/admin/config/versions", signal === undefined ? {} : { signal });

const restored = z.object(fieldChanges);

/** `dryRun`: only returns the changes and stores nothing. */
export const restoreVersion = (version: number, dryRun: boolean) =>
  callApi(restored, "/admin/config/restore", { method: "POST", body: { version, dry_run: dryRun } });
