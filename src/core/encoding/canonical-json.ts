import { isObject } from "./json.ts";

/** JSON text with the members of each object in order, so that equal values give equal text. */
export const toCanonicalJson = (value: unknown): string => JSON.stringify(sortMembers(value));

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortMembers(member)]));
}
