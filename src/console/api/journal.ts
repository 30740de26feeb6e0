import * as z from "zod/mini";
import { call } from "./client.ts";
import { nullableText, number, text } from "./fields.ts";

const change = z.object({ path: text, before: nullableText, after: nullableText });

/** A changed field. Values are masked JSON; null: no value. */
export type FieldChange = z.output<typeof change>;

/** The listed changes, and the number of further changes. */
export const fieldChanges = { changes: z._default(z.array(change), []), more: number };

const entry = z.object({
  id: number,
  at: number,
  version: number,
  who: text,
  address: text,
  action: text,
  ...fieldChanges,
});

/** A change by an administrator. `at` is Unix milliseconds. */
export type AuditEntry = z.output<typeof entry>;

const list = z.object({ items: z._default(z.array(entry), []), total: number, total_pages: number });

export function listAudit(query: string, page: number, size: number, signal?: AbortSignal) {
  const search = new URLSearchParams({ q: query, page: String(page), page_size: String(size) });
  return call(list, `/admin/audit?${search}`, signal === undefined ? {} : { signal });
}

const kept = z.object({
  version: number,
  at: number,
  who: text,
  action: text,
  keys: number,
  accounts: number,
});

/** A saved configuration that can be restored. */
export type KeptVersion = z.output<typeof kept>;

const versions = z.object({ items: z._default(z.array(kept), []) });

export const listVersions = (signal?: AbortSignal) =>
  call(versions, "/admin/config/versions", signal === undefined ? {} : { signal });

const restored = z.object(fieldChanges);

/** `tryOut`: only returns the changes and stores nothing. */
export const restoreVersion = (version: number, tryOut: boolean) =>
  call(restored, "/admin/config/restore", { method: "POST", body: { version, dry_run: tryOut } });
