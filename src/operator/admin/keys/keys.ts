import * as z from "zod";
import { createSecret } from "../../../core/auth/secrets.ts";
import { keyDigest, keyIdentifier, listApiKeys } from "../../../core/config/api-keys.ts";
import type { Config } from "../../../core/config/schema.ts";
import { type ApiKey, apiKeyFields } from "../../../core/config/schemas/key-schema.ts";
import { sha256Hex } from "../../../core/encoding/hash.ts";
import { lazyLooseObject, lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import type { Context } from "../../../core/ports/context.ts";
import { formatSubject } from "../../../core/ports/subject-limits.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { NO_STORE, successSchema } from "../answers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { ENTRY_HEADERS, entryEtag, formatEtag, IF_MATCH, VERSION_HEADERS } from "../etag.ts";
import { countUnpricedModels, noteUnpricedModels } from "../models/unpriced-models.ts";
import { pageSchema, queryNumber } from "../paging.ts";
import { requestObject } from "../request-fields.ts";
import { conflictError, notFoundError } from "../resource-errors.ts";
import {
  applyKeyChanges,
  editableKeyFields,
  matchesIdentifier,
  normalizeKey,
  rejectForeignOwner,
  rejectUnknownKeyFields,
  rejectUselessScope,
} from "./key-entries.ts";
import { getKeyDigests, rotateKey } from "./key-rotation.ts";
import { keyUsageView, keyView, keyWithUsageSchema } from "./key-view.ts";
import { readLimitUse } from "./limit-use.ts";
import { cacheRequestSchema } from "./subject-fields.ts";

const MAX_PAGE_SIZE = 5_000;

/** Body of `PUT /admin/keys/{key}`. The key itself cannot change; omitted fields keep their values. */
const keyChangeSchema = lazyLooseObject(() => ({
  ...editableKeyFields(),
  name: z.string().optional(),
  remark: z.string().optional(),
  cache: cacheRequestSchema().optional(),
}));

const keySecretSchema = once(() => z.string().trim().min(1, "a key must not be empty"));

/** Body of `POST /admin/keys`. Without `key` and `digest` the gateway generates a key. */
const newKeySchema = requestObject(
  () => ({
    ...apiKeyFields.shape,
    key: keySecretSchema().optional(),
    limits: requestObject(() => apiKeyFields.shape.limits.unwrap().shape).optional(),
    cache: cacheRequestSchema().optional(),
  }),
  () => keyWithUsageSchema(),
);

const MAX_GRACE_SECONDS = 90 * 86_400;

/** Body of `POST /admin/keys/{key}/rotate`. Without `key` the gateway generates one. */
const rotationSchema = requestObject(() => ({
  key: keySecretSchema().optional(),
  grace_seconds: z
    .number()
    .int()
    .min(0)
    .max(MAX_GRACE_SECONDS)
    .default(86_400)
    .describe("Seconds for which the old key still works. 0: it and all earlier ones stop at once."),
}));

/** Query of `GET /admin/keys`. */
const keyListSchema = lazyObject(() => ({
  page: queryNumber(1, Number.MAX_SAFE_INTEGER),
  page_size: queryNumber(MAX_PAGE_SIZE, MAX_PAGE_SIZE),
  q: z.string().default("").describe("A part of the name, the remark or the id."),
}));

const keysChangedSchema = () => successSchema().extend({ total_keys: z.int() });
/** `unpriced_models`: see the field of a key; absent: 0. */
const keyChangedSchema = () => keysChangedSchema().extend({ unpriced_models: z.int().optional() });
/** `key` is present if the gateway generated it. No later response contains it. */
const keyAddedSchema = () => keyChangedSchema().extend({ id: z.string(), key: z.string().optional() });
const keyRotatedSchema = () =>
  keysChangedSchema().extend({
    id: z.string(),
    key: z.string().optional(),
    /** Unix milliseconds. */
    grace_until: z.int(),
  });

/** Generates a random key. */
const generateKey = (): string => `sk-${createSecret()}`;

/** Returns the index of the key that a path names by the key itself or by its `id`. Throws 404 for an unknown key. */
async function findKeyIndex(keys: readonly ApiKey[], name: string): Promise<number> {
  const digest = await sha256Hex(name);
  for (const [index, entry] of keys.entries()) {
    if ((await keyDigest(entry)) === digest || (await matchesIdentifier(entry, name))) return index;
  }
  throw notFoundError("the API key");
}

/** Creates an edit of the key list. The result has only the structured form; the legacy list `keys` becomes empty. */
export function createKeyEdit(change: (keys: ApiKey[]) => ApiKey[] | Promise<ApiKey[]>) {
  return async (current: Config): Promise<Config> => ({
    ...current,
    keys: [],
    api_keys: await change(listApiKeys(current)),
  });
}

async function editKeys(
  context: Context,
  change: (keys: ApiKey[]) => ApiKey[] | Promise<ApiKey[]>,
  entry?: (config: Config) => Promise<ApiKey>,
): Promise<{ config: Config; outcome: { success: true; total_keys: number } }> {
  const { config } = await editConfig(context, createKeyEdit(change), { entry });
  return { config, outcome: { success: true, total_keys: listApiKeys(config).length } };
}

/** Creates a function that finds the key that a path names. It throws 404 for an unknown key. */
export function createKeyFinder(name = "") {
  return async (config: Config): Promise<ApiKey> => {
    const keys = listApiKeys(config);
    const entry = keys[await findKeyIndex(keys, name)];
    if (entry === undefined) throw notFoundError("the API key");
    return entry;
  };
}

/** The header with the entity tag of a key. */
async function keyTag(config: Config, name: string): Promise<{ etag: string }> {
  return { etag: await entryEtag(config, await createKeyFinder(name)(config)) };
}

/** Throws 409 if the digest is a present or a former secret of a configured key. */
async function assertKeyIsNew(keys: readonly ApiKey[], digest: string): Promise<void> {
  for (const entry of keys) {
    if ((await getKeyDigests(entry)).includes(digest)) throw conflictError("the API key", "key");
  }
}

export const KEY_ENDPOINTS = [
  /** `GET /admin/keys`: one page of the masked keys. */
  adminEndpoint({
    method: "GET",
    path: "/admin/keys",
    summary: "List the API keys",
    query: keyListSchema,
    answers: jsonResponse(() => pageSchema(keyWithUsageSchema())),
    handler: async ({ platform }, { query: { page, page_size, q } }) => {
      const usageByKey = new Map((await platform.usage.listKeyUsage()).map((usage) => [usage.key, usage]));
      const { config } = await platform.configuration.readFresh();
      const limitUse = await readLimitUse(platform, listApiKeys(config));
      const needle = q.trim().toLowerCase();
      const views = await Promise.all(
        listApiKeys(config).map(async (entry) => ({
          ...(await keyView(entry)),
          unpriced_models: countUnpricedModels(config, entry, platform),
        })),
      );
      const matches = views.filter(({ name, remark, id }) =>
        [name, remark, id].some((text) => text.toLowerCase().includes(needle)),
      );
      const start = (page - 1) * page_size;
      return Response.json({
        items: matches.slice(start, start + page_size).map((key) => ({
          ...key,
          ...keyUsageView(usageByKey.get(key.id), limitUse.get(formatSubject("key", key.id))),
        })),
        total: matches.length,
        page,
        page_size,
        total_pages: Math.ceil(matches.length / page_size),
      });
    },
  }),
  /** `GET /admin/keys/{key}`: one masked key, with the entity tag for its edits. */
  adminEndpoint({
    method: "GET",
    path: "/admin/keys/:key",
    summary: "Read an API key",
    answers: jsonResponse(keyWithUsageSchema),
    ...ENTRY_HEADERS,
    handler: async ({ platform }, { params }) => {
      const { config } = await platform.configuration.readFresh();
      const entry = await createKeyFinder(params["key"])(config);
      const view = await keyView(entry);
      const usage = (await platform.usage.listKeyUsage()).find(({ key }) => key === view.id);
      const subject = formatSubject("key", view.id);
      const limitUse = (await readLimitUse(platform, [entry], subject)).get(subject);
      const headers = { etag: await entryEtag(config, entry) };
      const unpriced_models = countUnpricedModels(config, entry, platform);
      return Response.json({ ...view, ...keyUsageView(usage, limitUse), unpriced_models }, { headers });
    },
  }),
  /** `POST /admin/keys` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "POST",
    path: "/admin/keys",
    summary: "Add an API key",
    body: newKeySchema,
    optionalBody: true,
    answers: jsonResponse(keyAddedSchema),
    handler: async (context, { body }) => {
      const now = context.platform.now();
      rejectForeignOwner(context, body);
      rejectUselessScope(body, undefined, now);
      const generated = body.key === undefined && body.digest === undefined ? generateKey() : null;
      const key = generated ?? body.key ?? "";
      const added = normalizeKey({ ...body, key, created: body.created ?? now });
      const { config, outcome } = await editKeys(context, async (keys) => {
        await assertKeyIsNew(keys, await keyDigest(added));
        return [...keys, added];
      });
      const unpriced = noteUnpricedModels(config, added, context.platform);
      const answer = { ...outcome, ...unpriced, id: await keyIdentifier(added) };
      if (generated === null) return Response.json(answer);
      return Response.json({ ...answer, key: generated }, NO_STORE);
    },
  }),
  /** `POST /admin/keys/{key}/rotate`: replaces a key's secret. The old secret works until the grace period ends. */
  adminEndpoint({
    method: "POST",
    path: "/admin/keys/:key/rotate",
    summary: "Rotate an API key",
    body: rotationSchema,
    optionalBody: true,
    answers: jsonResponse(keyRotatedSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params, body }) => {
      const { grace_seconds, key = generateKey() } = body;
      const until = context.platform.now() + grace_seconds * 1000;
      let id = "";
      const rotate = async (keys: readonly ApiKey[]) => {
        const index = await findKeyIndex(keys, params["key"] ?? "");
        await assertKeyIsNew(keys, await sha256Hex(key));
        return Promise.all(
          keys.map(async (entry, position) => {
            if (position !== index) return entry;
            id = await keyIdentifier(entry);
            return rotateKey(entry, key, until);
          }),
        );
      };
      const { config, outcome } = await editKeys(context, rotate, createKeyFinder(params["key"]));
      return Response.json(
        { ...outcome, id, ...(body.key === undefined && { key }), grace_until: until },
        { headers: { ...NO_STORE.headers, ...(await keyTag(config, id)) } },
      );
    },
  }),
  /** `PUT /admin/keys/{key}` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "PUT",
    path: "/admin/keys/:key",
    summary: "Change an API key",
    body: keyChangeSchema,
    answers: jsonResponse(keyChangedSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { key: name = "" }, body: changes }) => {
      const change = async (keys: readonly ApiKey[]) => {
        const index = await findKeyIndex(keys, name);
        return keys.map((entry, position) => {
          if (position !== index) return entry;
          rejectUnknownKeyFields(changes, entry);
          rejectUselessScope(changes, entry, context.platform.now());
          return applyKeyChanges(entry, changes);
        });
      };
      const { config, outcome } = await editKeys(context, change, createKeyFinder(name));
      const note = noteUnpricedModels(config, await createKeyFinder(name)(config), context.platform);
      return Response.json({ ...outcome, ...note }, { headers: await keyTag(config, name) });
    },
  }),
  /** `DELETE /admin/keys/{key}` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/keys/:key",
    summary: "Delete an API key",
    answers: jsonResponse(keysChangedSchema),
    ...VERSION_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params }) => {
      const remove = createKeyEdit(async (keys) => {
        const index = await findKeyIndex(keys, params["key"] ?? "");
        return keys.filter((_, position) => position !== index);
      });
      const entry = createKeyFinder(params["key"]);
      const { config, version } = await editConfig(context, remove, { keep: true, entry });
      const body = { success: true, total_keys: listApiKeys(config).length };
      return Response.json(body, { headers: { etag: formatEtag(version) } });
    },
  }),
] satisfies readonly Endpoint[];
