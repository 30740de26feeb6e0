import * as z from "zod";
import { allKeys } from "../config/api-keys.ts";
import type { Config } from "../config/schema.ts";
import { textToBase64 } from "../encoding/bytes.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { isObject } from "../encoding/json.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { type ExportedConfig, exportedConfigSchema } from "./config-answers.ts";
import { etagOf } from "./etag.ts";

/**
 * Returns the exported configuration. It contains all credentials, because it serves as a backup and as the value of
 * `GATEWAY_CONFIG_JSON`. Only the secret that signs tokens is left out. `sync` holds the hash and time of the last hosting
 * sync.
 */
export function exportedConfig(config: Config): ExportedConfig {
  const { jwt_secret: _secret, ...admin } = config.admin;
  const keys = allKeys(config);
  return { ...config, keys: keys.flatMap(({ key }) => key || []), api_keys: keys, admin };
}

/** Hash of the part of the export that a hosting sync sends, without the sync's own metadata. Detects drift. */
export async function configHash(config: Config): Promise<string> {
  const { sync: _sync, vercel: _vercel, ...rest } = exportedConfig(config);
  return sha256Hex(JSON.stringify(sorted(rest)));
}

/** Sorts the members of each object, so that equal configurations give equal text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}

/** The export contains credentials, so no cache may store it. */
export const NOT_KEPT = { headers: { "cache-control": "no-store" } };

const textsSchema = () => z.object({ json: z.string(), base64: z.string() });

/** The export as JSON text, and as base64 of that text. */
function texts(exported: ExportedConfig) {
  const text = JSON.stringify(exported);
  return { json: text, base64: textToBase64(text) };
}

export const EXPORT_ENDPOINTS: readonly Endpoint[] = [
  /**
   * `GET /admin/config/export` (contract): `config`, and the same as JSON text (`json`) and as base64 of that text
   * (`base64`).
   */
  forAdministrators({
    method: "GET",
    path: "/admin/config/export",
    summary: "Export the configuration",
    answers: json(() => z.object({ config: exportedConfigSchema(), ...textsSchema().shape })),
    handler: async ({ platform }) => {
      const { version, config } = await platform.configuration.readFresh();
      const exported = exportedConfig(config);
      const headers = { ...NOT_KEPT.headers, etag: etagOf(version) };
      return Response.json({ config: exported, ...texts(exported) }, { headers });
    },
  }),
  /** `GET /admin/export` (contract): the same content without `config`. */
  forAdministrators({
    method: "GET",
    path: "/admin/export",
    summary: "Export the configuration (short form)",
    answers: json(textsSchema),
    handler: async ({ platform }) => {
      const { config } = await platform.configuration.readFresh();
      return Response.json(texts(exportedConfig(config)), NOT_KEPT);
    },
  }),
];
