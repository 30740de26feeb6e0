import { keyDigest, keyIdentifier } from "../../../core/config/api-keys.ts";
import { isShortenedSecret, maskText } from "../../../core/config/marked-secrets.ts";
import { type ApiKey, apiKeyFields } from "../../../core/config/schemas/key-schema.ts";
import { SHARED_STYLES } from "../../../core/config/styles.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { once } from "../../../core/encoding/once.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { DIALECTS } from "../../../gateway/dialects/index.ts";
import { rejectUnknownFields } from "../request-fields.ts";
import { mapToPresentDigests } from "./key-rotation.ts";

/** Masks a key for display. */
export function maskKey({ key, last4 }: ApiKey): string {
  return key === "" ? `****${last4?.length === 4 ? last4 : ""}` : maskText(apiKeyFields.shape.key, key);
}

/** Fields that identify a key. An edit cannot change them. */
const IDENTITY_FIELDS = {
  key: true,
  id: true,
  owner: true,
  digest: true,
  last4: true,
  created: true,
  previous: true,
  cache_epoch: true,
} as const;

/** The fields of a key that an edit can change. */
export const editableKeyFields = once(() => apiKeyFields.omit(IDENTITY_FIELDS).shape);

/** Fields that views add to a key. */
const VIEW_ONLY_FIELDS = new Set([
  "hashed",
  "grace_until",
  "last_used",
  "used_today",
  "used",
  "unpriced_models",
]);

/** Fields for which an empty value means the same as absence. */
const optionalFields = once(() => {
  const { name: _, remark: __, ...fields } = editableKeyFields();
  return new Set(["created", ...Object.keys(fields)]);
});

function isEmpty(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return (
    value === "full" ||
    value === 0 ||
    value === false ||
    value === "" ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** Normalizes a key for storage: removes the fields that views add, and empty optional fields. */
export function normalizeKey(entry: ApiKey): ApiKey {
  const normalized = { ...entry };
  for (const [name, value] of Object.entries(entry)) {
    if (VIEW_ONLY_FIELDS.has(name) || (optionalFields().has(name) && isEmpty(value)))
      Reflect.deleteProperty(normalized, name);
  }
  return normalized;
}

/**
 * Rejects unknown fields of a key or of its limits, because a misspelt limit would have no effect. Fields that the stored
 * entry has are allowed, even if this version does not know them.
 *
 * @param entry the stored key; undefined: the key is new
 * @param param field name for error messages; empty: the whole body
 * @throws GatewayError 400 that names the field.
 */
export function rejectUnknownKeyFields(
  sent: Readonly<Record<string, unknown>>,
  entry: ApiKey | undefined,
  param = "",
): void {
  rejectUnknownFields(sent, Object.keys(apiKeyFields.shape), param, [
    ...VIEW_ONLY_FIELDS,
    ...Object.keys(entry ?? {}),
  ]);
  const { limits, cache } = sent;
  if (isObject(cache)) {
    const cacheParam = param === "" ? "cache" : `${param}.cache`;
    rejectUnknownFields(cache, Object.keys(apiKeyFields.shape.cache.unwrap().shape), cacheParam, []);
  }
  if (!isObject(limits)) return;
  const limitNames = Object.keys(apiKeyFields.shape.limits.unwrap().shape);
  rejectUnknownFields(
    limits,
    limitNames,
    param === "" ? "limits" : `${param}.limits`,
    Object.keys(entry?.limits ?? {}),
  );
}

/**
 * Fields that the gateway sets: they decide whose stored objects and cached answers a key
 * gets, and which secrets it had.
 */
const GATEWAY_FIELDS = ["owner", "previous", "cache_epoch"] as const;

/**
 * Rejects a new key with fields that the gateway sets itself, such as the owner of its stored objects, unless an
 * administrator with the role `owner` adds it: with the owner of another key it would get what that key has stored.
 *
 * @param param field name for error messages; empty: the whole body
 * @throws GatewayError 403 that names the field.
 */
export function rejectForeignOwner(
  { facts: { administratorRole = "owner" } }: Pick<Context, "facts">,
  sent: Pick<ApiKey, (typeof GATEWAY_FIELDS)[number]>,
  param = "",
): void {
  const field = GATEWAY_FIELDS.find((name) => sent[name] !== undefined);
  if (administratorRole === "owner" || field === undefined) return;
  const name = param === "" ? field : `${param}.${field}`;
  throw new GatewayError(403, `${name}: only an owner may set this field`, {
    code: "permission_denied",
    param: name,
  });
}

/** All names that `dialects` of a key can list. */
const STYLES: readonly string[] = [...DIALECTS.map(({ id }) => id), ...SHARED_STYLES];

/**
 * Rejects values with which a key could never be used: an unknown style, and an expiry in the past, which is usually in
 * seconds. Values that the stored entry has are allowed.
 *
 * @param entry the stored key; undefined: the key is new
 * @param now Unix milliseconds
 * @throws GatewayError 400 that names the field.
 */
export function rejectUselessScope(
  { dialects = [], expires = 0 }: Pick<ApiKey, "dialects" | "expires">,
  entry: ApiKey | undefined,
  now: number,
): void {
  const unknown = dialects.find(
    (style) => !STYLES.includes(style) && entry?.dialects?.includes(style) !== true,
  );
  if (unknown !== undefined) {
    const message = `dialects: there is no API style ${JSON.stringify(unknown)}, only ${STYLES.join(", ")}`;
    throw invalidRequest(message, "dialects");
  }
  if (expires === 0 || expires > now || expires === entry?.expires) return;
  const message = `expires: this time is past: ${expires} milliseconds since 1970 is ${new Date(expires).toISOString()}`;
  throw invalidRequest(message, "expires");
}

/** Applies changes to a key, except to its identity. Omitted fields stay, also unknown ones. */
export function applyKeyChanges(entry: ApiKey, changes: Readonly<Record<string, unknown>>): ApiKey {
  const changed = Object.entries(changes).filter(
    ([name, value]) => !Object.hasOwn(IDENTITY_FIELDS, name) && value !== undefined,
  );
  return normalizeKey({ ...entry, ...Object.fromEntries(changed) });
}

/**
 * Merges imported keys into the present ones. New keys follow the present ones. A former secret of a present key identifies
 * that key, which keeps its present secret.
 */
export async function mergeKeys(present: readonly ApiKey[], imported: readonly ApiKey[]): Promise<ApiKey[]> {
  const merged = new Map<string, ApiKey>();
  for (const entry of present) merged.set(await keyDigest(entry), entry);
  const presentDigests = await mapToPresentDigests(present);
  for (const entry of imported) {
    const sent = await keyDigest(entry);
    const digest = presentDigests.get(sent) ?? sent;
    const stored = merged.get(digest);
    const changes = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== ""));
    merged.set(digest, stored === undefined ? entry : applyKeyChanges(stored, changes));
  }
  return [...merged.values()];
}

/** Whether `id` is the key's identifier, in the present or in the former format. */
export async function matchesIdentifier(entry: ApiKey, id: string): Promise<boolean> {
  return id === (await keyIdentifier(entry)) || id === `key:${(await keyDigest(entry)).slice(0, 16)}`;
}

/**
 * Finds the present key that a sent entry refers to. A client may send back a masked key.
 *
 * @param param field name for error messages
 * @throws GatewayError 400 for a mask that matches no key or several keys.
 */
export async function findSentKey(
  present: readonly ApiKey[],
  {
    key,
    id,
    digest,
  }: { readonly key: string; readonly id?: string | undefined; readonly digest?: string | undefined },
  param: string,
): Promise<ApiKey | undefined> {
  const exactMatch = present.find((entry) => key !== "" && entry.key === key);
  if (exactMatch !== undefined) return exactMatch;
  const masked = key === "" ? digest === undefined : isShortenedSecret(key);
  if (!masked) {
    const sent: ApiKey = { key, name: "", remark: "", ...(digest !== undefined && { digest }) };
    const sentDigest = await keyDigest(sent);
    for (const entry of present) if ((await keyDigest(entry)) === sentDigest) return entry;
    return undefined;
  }
  const matches: ApiKey[] = [];
  for (const entry of present) {
    if (id === undefined ? maskKey(entry) === key : await matchesIdentifier(entry, id)) matches.push(entry);
  }
  if (matches.length === 1) return matches[0];
  if (key === "") throw invalidRequest(`${param}: a key must not be empty`, param);
  throw invalidRequest(`${param}: a masked key must stand for one key that is there; send its id`, param);
}
