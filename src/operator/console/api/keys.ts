import { callApi, callVersioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";
import { sendUndoable } from "./undo.ts";

/** A masked API key; `id` identifies it in paths. Times are Unix milliseconds, 0 for unknown and never. */
export type ApiKey = AnswerOf<"GET /admin/keys/:key">;
/** What a key may use: limits, models, dialects, networks and tags. */
export type KeyScope = Pick<ApiKey, "limits" | "models" | "dialects" | "networks" | "allowed_tags">;
/** Editable fields of a key. If `expires` is omitted, it does not change. */
export type KeyFields = BodyOf<"PUT /admin/keys/:key">;

/** Lists all keys, in the order of an export. */
export const listKeys = (signal?: AbortSignal) => callApi("GET /admin/keys", { signal });

/** Lists the first keys whose name, remark or id contains a text. */
export const findKeys = (text: string, limit: number, signal?: AbortSignal) =>
  callApi("GET /admin/keys", { query: { q: text, page_size: String(limit) }, signal });

export const addKey = (body: BodyOf<"POST /admin/keys">) => callApi("POST /admin/keys", { body });

/** Reads one key. */
export const readKey = (key: string) => callVersioned("GET /admin/keys/:key", { params: { key } });

export const changeKey = (key: string, body: KeyFields, ifMatch: string | undefined) =>
  callApi("PUT /admin/keys/:key", { params: { key }, body, ifMatch });

export const deleteKey = (key: string) => sendUndoable("DELETE /admin/keys/:key", { params: { key } });

/** Erases everything that is stored of a key's requests. Returns the number of entries. */
export const eraseKeyData = async (key: string) =>
  countErased(await callApi("DELETE /admin/keys/:key/data", { params: { key } }));

/** The number of entries that an erasure has removed. */
export const countErased = ({
  history,
  captures,
  samples,
  stored_objects,
}: AnswerOf<"DELETE /admin/keys/:key/data">) => history + captures + samples + stored_objects;

/** Replaces a key's secret. Only this response contains the new secret. The old one still works for `graceSeconds`. */
export const rotateKey = (key: string, graceSeconds: number) =>
  callApi("POST /admin/keys/:key/rotate", { params: { key }, body: { grace_seconds: graceSeconds } });
