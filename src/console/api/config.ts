import * as z from "zod/mini";
import { call } from "./client.ts";
import { anything, flag, number, text, texts } from "./fields.ts";

const apiKey = z.object({
  key: text,
  id: text,
  name: text,
  remark: text,
  limits: z._default(z.record(z.string(), z.unknown()), {}),
  models: texts,
  dialects: texts,
  networks: texts,
});

/** An API key, masked; `id` stands for it in paths. */
export type ApiKey = z.output<typeof apiKey>;

/** What a key may use. */
export type KeyScope = Pick<ApiKey, "limits" | "models" | "dialects" | "networks">;

const config = z.object({
  api_keys: z._default(z.array(apiKey), []),
  env_backed: flag,
  env_source_present: flag,
  env_writeback_enabled: flag,
  config_path: text,
  config_writable: z._default(z.boolean(), true),
});

/** What the console reads of the masked configuration. */
export type ConfigView = z.output<typeof config>;

export const readConfig = (signal?: AbortSignal) =>
  call(config, "/admin/config", signal === undefined ? {} : { signal });

const exported = z.object({ config: z.record(z.string(), z.unknown()), json: z.string(), base64: text });

/** The whole configuration with its secrets. */
export const exportConfig = () => call(exported, "/admin/config/export");

const imported = z.object({ total_keys: number, total_accounts: number });

export const importConfig = (mode: "merge" | "replace", body: unknown) =>
  call(imported, "/admin/config/import", { method: "POST", body: { config: body, mode } });

/** The first configured API key in full; empty when there is none. */
export async function firstKey(): Promise<string> {
  const keys = z.object({ keys: z._default(z.array(z.string()), []) });
  const parsed = keys.safeParse((await exportConfig()).config);
  return parsed.success ? (parsed.data.keys[0] ?? "") : "";
}

const keyPath = (id: string) => `/admin/keys/${encodeURIComponent(id)}`;

export const addKey = (body: { key: string; name: string; remark: string } & KeyScope) =>
  call(anything, "/admin/keys", { method: "POST", body });

export const changeKey = (id: string, body: { name: string; remark: string } & KeyScope) =>
  call(anything, keyPath(id), { method: "PUT", body });

export const deleteKey = (id: string) => call(anything, keyPath(id), { method: "DELETE" });

const tried = z.object({ config: z.record(z.string(), z.unknown()) });

/** The configuration that an import would lead to. Nothing is stored. */
export const tryImport = (mode: "merge" | "replace", body: unknown) =>
  call(tried, "/admin/config/import?dry_run=true", { method: "POST", body: { config: body, mode } });
