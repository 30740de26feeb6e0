import { CONTAINER_COST, MEMBER_COST, VALUE_COST } from "./json-scan.ts";

const WIDE = /[^\0-\xff]/;

/** Memory of a text in bytes: one wide character makes the whole text use two bytes per character. */
export function costOfText(text: string): number {
  return WIDE.test(text) ? text.length * 2 : text.length;
}

/** Memory of a JSON-like value in bytes, its texts counted `copies` times. Shared objects count once. */
export function costOfValue(value: unknown, copies = 1): number {
  const seen = new Set<object>();
  const pending: unknown[] = [value];
  let cost = 0;
  while (pending.length > 0) {
    const next = pending.pop();
    cost += VALUE_COST;
    if (typeof next === "string") cost += copies * costOfText(next);
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    cost += CONTAINER_COST;
    const members = Object.values(next);
    if (!Array.isArray(next)) cost += MEMBER_COST * members.length;
    for (const member of members) pending.push(member);
  }
  return cost;
}
