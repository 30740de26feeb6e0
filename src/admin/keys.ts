import * as z from "zod";
import { sameSecret } from "../auth/secrets.ts";
import { type ApiKey, apiKeySchema } from "../config/schema.ts";
import type { Context } from "../platform/context.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { successSchema } from "./answers.ts";
import { keyId } from "./config-view.ts";
import { allKeys, edit } from "./edit.ts";
import { duplicate, missing } from "./refusals.ts";

/** `PUT /admin/keys/{key}`. The key itself cannot be changed; a field that is left out stays. */
const keyLabelsSchema = z.object({ name: z.string().optional(), remark: z.string().optional() });

const keysChangedSchema = () => successSchema().extend({ total_keys: z.int() });

/** The place of a key that a path names, by itself or by its `id`. Throws 404 when there is none. */
async function keyIndex(keys: readonly ApiKey[], name: string): Promise<number> {
  for (const [index, { key }] of keys.entries()) {
    if ((await sameSecret(key, name)) || (await keyId(key)) === name) return index;
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
      editKeys(context, (keys) => {
        if (keys.some(({ key }) => key === added.key)) throw duplicate("the API key", "key");
        return [...keys, added];
      }),
  }),
  /** `PUT /admin/keys/{key}` (contract). */
  forAdministrators({
    method: "PUT",
    path: "/admin/keys/:key",
    summary: "Rename an API key",
    body: keyLabelsSchema,
    answers: json(keysChangedSchema),
    handler: (context, { params, body: { name, remark } }) =>
      editKeys(context, async (keys) => {
        const index = await keyIndex(keys, params["key"] ?? "");
        return keys.map((apiKey, place) =>
          place === index
            ? { key: apiKey.key, name: name ?? apiKey.name, remark: remark ?? apiKey.remark }
            : apiKey,
        );
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
