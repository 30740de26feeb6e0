import * as z from "zod";
import { sameSecret } from "../auth/secrets.ts";
import { type ApiKey, apiKeySchema, type Config } from "../config/schema.ts";
import type { ConfigSnapshot } from "../config/snapshot.ts";
import { readBody } from "../http/json-body.ts";
import type { Handler } from "../platform/context.ts";
import { keyId } from "./config-view.ts";
import { allKeys, duplicate, edit, missing } from "./edit.ts";

/** `POST /admin/keys`. */
export const newKeySchema = apiKeySchema;

/** `PUT /admin/keys/{key}`. The key itself cannot be changed; a field that is left out stays. */
export const keyLabelsSchema = z.object({ name: z.string().optional(), remark: z.string().optional() });

function done({ config }: ConfigSnapshot): Response {
  return Response.json({ success: true, total_keys: allKeys(config).length });
}

/** The place of a key that a path names, by itself or by its `id`. Throws 404 when there is none. */
async function keyIndex(keys: readonly ApiKey[], name: string): Promise<number> {
  for (const [index, { key }] of keys.entries()) {
    if ((await sameSecret(key, name)) || (await keyId(key)) === name) return index;
  }
  throw missing("the API key");
}

/** Keys in the structured form only: an edit of any of them does away with the legacy list. */
const withKeys = (config: Config, api_keys: ApiKey[]): Config => ({ ...config, keys: [], api_keys });

/** `POST /admin/keys` (contract). */
export const addKey: Handler = async (context) => {
  const added = await readBody(context.request, newKeySchema);
  return done(
    await edit(context, (config) => {
      const keys = allKeys(config);
      if (keys.some(({ key }) => key === added.key)) throw duplicate("the API key", "key");
      return withKeys(config, [...keys, added]);
    }),
  );
};

/** `PUT /admin/keys/{key}` (contract). */
export const renameKey: Handler = async (context) => {
  const { name, remark } = await readBody(context.request, keyLabelsSchema);
  return done(
    await edit(context, async (config) => {
      const keys = allKeys(config);
      const index = await keyIndex(keys, context.params["key"] ?? "");
      return withKeys(
        config,
        keys.map((apiKey, place) =>
          place === index
            ? { key: apiKey.key, name: name ?? apiKey.name, remark: remark ?? apiKey.remark }
            : apiKey,
        ),
      );
    }),
  );
};

/** `DELETE /admin/keys/{key}` (contract). */
export const deleteKey: Handler = async (context) =>
  done(
    await edit(context, async (config) => {
      const keys = allKeys(config);
      const index = await keyIndex(keys, context.params["key"] ?? "");
      return withKeys(
        config,
        keys.filter((_, place) => place !== index),
      );
    }),
  );
