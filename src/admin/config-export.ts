import type { Config } from "../config/schema.ts";
import { textToBase64 } from "../encoding/bytes.ts";
import { sha256Hex } from "../encoding/hash.ts";
import type { Handler } from "../platform/context.ts";
import { allKeys } from "./edit.ts";

/**
 * The configuration as it leaves: complete, credentials included, because it is a backup and what `GATEWAY_CONFIG_JSON`
 * takes. Only the secret that signs tokens stays. `sync` holds the hash and the time of the last hosting sync.
 */
export function exportedConfig(config: Config) {
  const { jwt_secret: _secret, ...admin } = config.admin;
  const keys = allKeys(config);
  return { ...config, keys: keys.map(({ key }) => key), api_keys: keys, admin };
}

/** Hash of all that a hosting sync would send, for drift detection: the export without the sync's own metadata. */
export async function configHash(config: Config): Promise<string> {
  const { sync: _sync, vercel: _vercel, ...rest } = exportedConfig(config);
  return sha256Hex(JSON.stringify(sorted(rest)));
}

/** The same value with the members of each object in order, so that equal configurations have equal text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}

/** `GET /admin/config/export` (contract): `config`, and the same as `json` and as `base64` of it. */
export const exportConfig: Handler = async (context) => {
  const { config } = await context.platform.configuration.readFresh();
  const exported = exportedConfig(config);
  const json = JSON.stringify(exported);
  return Response.json(
    { config: exported, json, base64: textToBase64(json) },
    { headers: { "cache-control": "no-store" } },
  );
};

/** `GET /admin/export` (contract): the same content without `config`. */
export const exportShort: Handler = async (context) => {
  const { config } = await context.platform.configuration.readFresh();
  const json = JSON.stringify(exportedConfig(config));
  return Response.json({ json, base64: textToBase64(json) }, { headers: { "cache-control": "no-store" } });
};
