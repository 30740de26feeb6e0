import * as z from "zod";
import { getOwner, keyIdentifier, listApiKeys } from "../../../core/config/api-keys.ts";
import type { ApiKey } from "../../../core/config/schemas/key-schema.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { recordAction } from "../editing/audit-recording.ts";
import { invalidateCachedAnswers } from "../editing/cached-answers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { getKeyDigests } from "../keys/key-rotation.ts";
import { createKeyEdit, createKeyFinder } from "../keys/keys.ts";
import { requireFound } from "../resource-errors.ts";

/** Numbers of erased entries. */
const erasedSchema = () =>
  successSchema().extend({
    keys: z.int(),
    history: z.int(),
    captures: z.int(),
    samples: z.int(),
    /** Stored responses, records of files and batches, uploads in progress, and answers of idempotency keys. */
    stored_objects: z.int(),
  });

/** The identifiers under which records of a key are stored: the present one, and those of the former format. */
async function listKeyIdentifiers(entry: ApiKey): Promise<string[]> {
  const former = (await getKeyDigests(entry)).map((digest) => `key:${digest.slice(0, 16)}`);
  return [...new Set([await keyIdentifier(entry), ...former])];
}

/** Invalidates the cached answers of keys. With a read-only configuration, they stay until they expire. */
async function invalidateCachedAnswersOf(context: Context, keys: readonly ApiKey[]): Promise<void> {
  const { writable } = await context.platform.configuration.readFresh();
  if (!writable || keys.length === 0) return;
  const owners = new Set(await Promise.all(keys.map(getOwner)));
  const invalidate = async (entry: ApiKey) =>
    owners.has(await getOwner(entry)) ? invalidateCachedAnswers(entry) : entry;
  const change = createKeyEdit((present) => Promise.all(present.map(invalidate)));
  // `If-Match` is for edits of settings.
  await editConfig(context, change, { anyVersion: true });
}

/** Erases everything of some keys, and records it in the audit log. */
async function erase(context: Context, keys: readonly ApiKey[], subject: string): Promise<Response> {
  const { platform } = context;
  const counts = { keys: keys.length, history: 0, captures: 0, samples: 0, stored_objects: 0 };
  for (const entry of keys) {
    counts.stored_objects += await platform.eraseCaller(await getOwner(entry));
    for (const key of await listKeyIdentifiers(entry)) {
      const { history, captures, samples } = await platform.archive.eraseKey(key);
      counts.history += history;
      counts.captures += captures;
      counts.samples += samples;
    }
  }
  await invalidateCachedAnswersOf(context, keys);
  await recordAction(context, { [subject]: counts });
  return Response.json({ success: true, ...counts });
}

export const ERASURE_ENDPOINTS = [
  /** `DELETE /admin/keys/{key}/data`: erases what is stored of a key's requests. The key, its usage and the audit stay. */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/keys/:key/data",
    role: "owner",
    summary: "Erase all stored data of a key's requests",
    answers: jsonResponse(erasedSchema),
    handler: async (context, { params }) => {
      const { config } = await context.platform.configuration.readFresh();
      const entry = await createKeyFinder(params["key"])(config);
      return erase(context, [entry], `keys/${await keyIdentifier(entry)}`);
    },
  }),
  /** `DELETE /admin/users/{id}/data`: the same for all keys of a user. */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/users/:id/data",
    role: "owner",
    summary: "Erase all stored data of the requests with a user's keys",
    answers: jsonResponse(erasedSchema),
    handler: async (context, { params: { id = "" } }) => {
      const { config } = await context.platform.configuration.readFresh();
      requireFound(
        config.users.find((entry) => entry.id === id),
        "the user",
        id,
      );
      const keys = listApiKeys(config).filter(({ user }) => user === id);
      return erase(context, keys, `users/${id}`);
    },
  }),
] satisfies readonly Endpoint[];
