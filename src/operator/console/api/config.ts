import * as z from "zod/mini";
import { callApi, callVersioned } from "./client.ts";
import { booleanField, ignoredResponse, numberField, textField, textListField } from "./fields.ts";
import { fieldChanges } from "./journal.ts";
import { sendUndoable } from "./undo.ts";

const apiKey = z.object({
  key: textField,
  id: textField,
  name: textField,
  remark: textField,
  created: numberField,
  expires: numberField,
  disabled: booleanField,
  hashed: booleanField,
  grace_until: numberField,
  last_used: numberField,
  used_today: z._default(z.object({ requests: numberField, tokens: numberField, cost: numberField }), {
    requests: 0,
    tokens: 0,
    cost: 0,
  }),
  limits: z._default(z.record(z.string(), z.unknown()), {}),
  models: textListField,
  dialects: textListField,
  networks: textListField,
});

/** A masked API key; `id` identifies it in paths. Times are Unix milliseconds, 0 for unknown and never. */
export type ApiKey = z.output<typeof apiKey>;

/** What a key may use: limits, models, dialects and networks. */
export type KeyScope = Pick<ApiKey, "limits" | "models" | "dialects" | "networks">;

const exported = z.object({ config: z.record(z.string(), z.unknown()), json: z.string(), base64: textField });

/** Reads the whole configuration with its secrets. */
export const exportConfig = () => callApi(exported, "/admin/config/export");

const imported = z.object({ total_keys: numberField, total_accounts: numberField });

/** `confirm`: import although no key or no account would be left. */
export const importConfig = (mode: "merge" | "replace", body: unknown, confirm: boolean) =>
  callApi(imported, "/admin/config/import", {
    method: "POST",
    body: { config: body, mode, ...(confirm && { confirm }) },
  });

/** Returns the first configured API key, unmasked; empty if there is none. */
export async function readFirstKey(): Promise<string> {
  const keys = z.object({ keys: z._default(z.array(z.string()), []) });
  const parsed = keys.safeParse((await exportConfig()).config);
  return parsed.success ? (parsed.data.keys[0] ?? "") : "";
}

const keyPath = (id: string) => `/admin/keys/${encodeURIComponent(id)}`;

const keyList = z.object({ items: z._default(z.array(apiKey), []) });

/** Lists all keys, in the order of an export. */
export const listKeys = (signal?: AbortSignal) =>
  callApi(keyList, "/admin/keys", signal === undefined ? {} : { signal });

/** Lists the first keys whose name, remark or id contains a text. */
export const findKeys = (text: string, limit: number, signal?: AbortSignal) =>
  callApi(
    keyList,
    `/admin/keys?${new URLSearchParams({ q: text, page_size: String(limit) })}`,
    signal === undefined ? {} : { signal },
  );

/** Editable fields of a key. If `expires` is omitted, it does not change. */
export interface KeyFields extends KeyScope {
  readonly name: string;
  readonly remark: string;
  readonly disabled: boolean;
  readonly expires?: number;
}

export const addKey = (body: { key: string } & KeyFields) =>
  callApi(ignoredResponse, "/admin/keys", { method: "POST", body });

/** Reads one key. */
export const readKey = (id: string) => callVersioned(apiKey, keyPath(id));

export const changeKey = (id: string, body: KeyFields, ifMatch: string | undefined) =>
  callApi(ignoredResponse, keyPath(id), { method: "PUT", body, ifMatch });

export const deleteKey = (id: string) => sendUndoable(keyPath(id), { method: "DELETE" });

const rotated = z.object({ key: textField, grace_until: numberField });

/** Replaces a key's secret. Only this response contains the new secret. The old one still works for `graceSeconds`. */
export const rotateKey = (id: string, graceSeconds: number) =>
  callApi(rotated, `${keyPath(id)}/rotate`, { method: "POST", body: { grace_seconds: graceSeconds } });

const importPreviewSchema = z.object({ ...fieldChanges, confirm_needed: textField });

/** Returns the changes that an import would make, masked by the gateway. Stores nothing. */
export const previewImport = (mode: "merge" | "replace", body: unknown) =>
  callApi(importPreviewSchema, "/admin/config/import?dry_run=true", {
    method: "POST",
    body: { config: body, mode },
  });
