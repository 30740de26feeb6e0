import type { ApiKey } from "../../api/keys.ts";
import { describeKeyState } from "./key-expiry.ts";

/** A key with its place in the order of an export. */
export interface ListedKey {
  readonly apiKey: ApiKey;
  readonly index: number;
}

/** The orders of the list. */
export const KEY_ORDERS = ["created", "name", "last_used", "requests", "tokens", "cost"] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

/** Ascending for names; otherwise the latest or the largest first. */
function compareKeys(a: ListedKey, b: ListedKey, order: KeyOrder): number {
  const [left, right] = [a.apiKey, b.apiKey];
  switch (order) {
    case "created":
      return a.index - b.index;
    case "name":
      return left.name.localeCompare(right.name) || a.index - b.index;
    case "last_used":
      return right.last_used - left.last_used;
    default:
      return right.used_today[order] - left.used_today[order];
  }
}

/** The keys that contain a text in their name, remark, masked key, id, team, user, state, models or styles, in an order. */
export function selectKeys(
  keys: readonly ApiKey[],
  search: string,
  order: KeyOrder,
  now: number,
): readonly ListedKey[] {
  const needle = search.trim().toLowerCase();
  const isMatch = (key: ApiKey) =>
    [
      key.name,
      key.remark,
      key.key,
      key.id,
      key.team,
      key.user,
      describeKeyState(key, now).text,
      ...key.models,
      ...key.dialects,
    ].some((text) => text.toLowerCase().includes(needle));
  return keys
    .map((apiKey, index) => ({ apiKey, index }))
    .filter(({ apiKey }) => needle === "" || isMatch(apiKey))
    .sort((a, b) => compareKeys(a, b, order));
}
