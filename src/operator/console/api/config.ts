import { callApi } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";
import { texts } from "./texts.ts";

/** The changes that an import would make. */
export type ImportPreview = Extract<AnswerOf<"POST /admin/config/import">, { readonly dry_run: true }>;

/** A saved configuration that can be restored. */
export type SavedVersion = AnswerOf<"GET /admin/config/versions">["items"][number];

/** Reads the whole configuration with its secrets. */
export const exportConfig = () => callApi("GET /admin/config/export");

/** `confirm`: import although no key or no account would be left. */
export const importConfig = (mode: "merge" | "replace", config: object, confirm: boolean) =>
  callApi("POST /admin/config/import", { body: { config, mode, ...(confirm && { confirm }) } });

/** Returns the first configured API key, unmasked; empty if there is none. */
export async function readFirstKey(): Promise<string> {
  return (await exportConfig()).config.keys[0] ?? "";
}

/** Returns the changes that an import would make, masked by the gateway. Stores nothing. */
export async function previewImport(mode: "merge" | "replace", config: object): Promise<ImportPreview> {
  const request = { query: { dry_run: "true" }, body: { config, mode } };
  const answer = await callApi("POST /admin/config/import", request);
  if ("dry_run" in answer) return answer;
  throw new Error(texts.unexpectedAnswer("/admin/config/import"));
}

export const listVersions = (signal?: AbortSignal) => callApi("GET /admin/config/versions", { signal });

/** `dryRun`: only returns the changes and stores nothing. */
export const restoreVersion = (version: number, dryRun: boolean) =>
  callApi("POST /admin/config/restore", { body: { version, dry_run: dryRun } });
