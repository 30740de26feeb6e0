import * as z from "zod";
import { allKeys, keyDigest } from "../config/api-keys.ts";
import { type ApiKey, apiKeyFields, apiKeySchema } from "../config/schema.ts";
import { sha256Hex } from "../encoding/hash.ts";
import type { Context } from "../platform/context.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { successSchema } from "./answers.ts";
import { edit } from "./edit.ts";
import { changedKey, hasIdentifier, keptKey } from "./key-entries.ts";
import { duplicate, missing } from "./refusals.ts";

const { expires, disabled, limits, models, dialects, networks } = apiKeyFields.shape;

/** `PUT /admin/keys/{key}`. The key itself cannot be changed; a field that is left out stays. */
const keyChangeSchema = z.looseObject({
  name: z.string().optional(),
  remark: z.string().optional(),
  expires,
  disabled,
  limits,
  models,
  dialects,
  networks,
});

const keysChangedSchema = () => successSchema().extend({ total_keys: z.int() });

/** The place of a key that a path names, by itself or by its `id`. Throws 404 when there is none. */
async function keyIndex(keys: readonly ApiKey[], name: string): Promise<number> {
  const digest = await sha256Hex(name);
  for (const [index, entry] of keys.entries()) {
    if ((await keyDigest(entry)) === digest || (await hasIdentifier(entry, name))) return index;
  }
  throw missing("the API key");
}

/** Changes the keys. They are kept in the structured form only: an edit of any of them does away with the legacy list. */
async function editKeys(
  context: Context,
  change: (keys: ApiKey[]) => ApiKey[] | Promise<ApiKey[]>,
): Promise<Response> {
  const { config } = await edit(context, async (current) => ({
    ...current,
    keys: [],
    api_keys: await change(allKeys(current)),
  }));
  return Response.json({ success: true, total_keys: allKeys(config).length });
}

export const KEY_ENDPOINTS: readonly Endpoint[] = [
  /** `POST /admin/keys` (contract). */
  forAdministrators({
    method: "POST",
    path: "/admin/keys",
    summary: "Add an API key",
    body: apiKeySchema,
    answers: json(keysChangedSchema),
    handler: (context, { body: added }) =>
      editKeys(context, async (keys) => {
        const digest = await keyDigest(added);
        for (const entry of keys)
          if ((await keyDigest(entry)) === digest) throw duplicate("the API key", "key");
        return [...keys, keptKey(added)];
      }),
  }),
  /** `PUT /admin/keys/{key}` (contract). */
  forAdministrators({
    method: "PUT",
    path: "/admin/keys/:key",
    summary: "Change an API key",
    body: keyChangeSchema,
    answers: json(keysChangedSchema),
    handler: (context, { params, body: changes }) =>
      editKeys(context, async (keys) => {
        const index = await keyIndex(keys, params["key"] ?? "");
        return keys.map((entry, place) => (place === index ? changedKey(entry, changes) : entry));
      }),
  }),
  /** `DELETE /admin/keys/{key}` (contract). */
  forAdministrators({
    method: "DELETE",
    path: "/admin/keys/:key",
    summary: "Delete an API key",
    answers: json(keysChangedSchema),
    handler: (context, { params }) =>
      editKeys(context, async (keys) => {
        const index = await keyIndex(keys, params["key"] ?? "");
        return keys.filter((_, place) => place !== index);
      }),
  }),
];
