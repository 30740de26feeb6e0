import { CONTAINER_COST, MEMBER_COST, VALUE_COST } from "./json-scan.ts";

const WIDE = /[^\0-\xff]/;

/** Bytes of memory that a text takes: one wide character makes it take two bytes for each of all. */
export function costOfText(text: string): number {
  return WIDE.test(text) ? text.length * 2 : text.length;
}

/** Bytes of memory that a value like those of JSON takes, its texts `copies` times. What several hold is counted once. */
export function costOfValue(value: unknown, copies = 1): number {
  const seen = new Set<object>();
  const open: unknown[] = [value];
  let cost = 0;
  while (open.length > 0) {
    const next = open.pop();
    cost += VALUE_COST;
    if (typeof next === "string") cost += copies * costOfText(next);
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    cost += CONTAINER_COST;
    const members = Object.values(next);
    if (!Array.isArray(next)) cost += MEMBER_COST * members.length;
    for (const member of members) open.push(member);
  }
  return cost;
}
