import * as z from "zod";
import { listApiKeys } from "../../../core/config/api-keys.ts";
import type { Config } from "../../../core/config/schema.ts";
import { textToBase64 } from "../../../core/encoding/bytes.ts";
import { toCanonicalJson } from "../../../core/encoding/canonical-json.ts";
import { sha256Hex } from "../../../core/encoding/hash.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { NO_STORE } from "../answers.ts";
import { formatEtag } from "../etag.ts";
import { type ExportedConfig, exportedConfigSchema } from "./config-answers.ts";

/**
 * Returns the exported configuration. It contains all credentials, because it serves as a backup and as the value of
 * `GATEWAY_CONFIG_JSON`. Only the secret that signs tokens is left out. `sync` holds the hash and time of the last hosting
 * sync.
 */
export function exportConfig(config: Config): ExportedConfig {
  const { jwt_secret: _secret, ...admin } = config.admin;
  const keys = listApiKeys(config);
  return { ...config, keys: keys.flatMap(({ key }) => key || []), api_keys: keys, admin };
}

/** Hash of the part of the export that a hosting sync sends, without the sync's own metadata. Detects drift. */
export async function hashConfig(config: Config): Promise<string> {
  const { sync: _sync, vercel: _vercel, ...rest } = exportConfig(config);
  return sha256Hex(toCanonicalJson(rest));
}

const exportTextsSchema = () => z.object({ json: z.string(), base64: z.string() });

/** The export as JSON text, and as base64 of that text. */
function exportTexts(exported: ExportedConfig) {
  const text = JSON.stringify(exported);
  return { json: text, base64: textToBase64(text) };
}

export const EXPORT_ENDPOINTS = [
  /**
   * `GET /admin/config/export` (docs/contract/admin-configuration.md): `config`, and the same as JSON text (`json`) and
   * as base64 of that text (`base64`).
   */
  adminEndpoint({
    method: "GET",
    path: "/admin/config/export",
    role: "owner",
    summary: "Export the configuration",
    answers: jsonResponse(() => z.object({ config: exportedConfigSchema(), ...exportTextsSchema().shape })),
    handler: async ({ platform }) => {
      const { version, config } = await platform.configuration.readFresh();
      const exported = exportConfig(config);
      const headers = { ...NO_STORE.headers, etag: formatEtag(version) };
      return Response.json({ config: exported, ...exportTexts(exported) }, { headers });
    },
  }),
  /** `GET /admin/export` (docs/contract/admin-configuration.md): the same content without `config`. */
  adminEndpoint({
    method: "GET",
    path: "/admin/export",
    role: "owner",
    summary: "Export the configuration (short form)",
    answers: jsonResponse(exportTextsSchema),
    handler: async ({ platform }) => {
      const { config } = await platform.configuration.readFresh();
      return Response.json(exportTexts(exportConfig(config)), NO_STORE);
    },
  }),
] satisfies readonly Endpoint[];
