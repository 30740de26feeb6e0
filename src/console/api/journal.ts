import * as z from "zod/mini";
import { call } from "./client.ts";
import { nullableText, number, text } from "./fields.ts";

const change = z.object({ path: text, before: nullableText, after: nullableText });

/** A field that was changed; values are JSON, masked, and null where there was none. */
export type FieldChange = z.output<typeof change>;

/** The changes that the gateway lists, and how many more there are. */
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

/** What an administrator has changed. `at` is Unix milliseconds. */
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

/** A configuration that can be restored. */
export type KeptVersion = z.output<typeof kept>;

const versions = z.object({ items: z._default(z.array(kept), []) });

export const listVersions = (signal?: AbortSignal) =>
  call(versions, "/admin/config/versions", signal === undefined ? {} : { signal });

const restored = z.object(fieldChanges);

/** `tryOut`: only tells what would change. */
export const restoreVersion = (version: number, tryOut: boolean) =>
  call(restored, "/admin/config/restore", { method: "POST", body: { version, dry_run: tryOut } });
