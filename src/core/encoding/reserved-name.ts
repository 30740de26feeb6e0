import { isObject } from "./json.ts";

/** Setting a member of this name sets the object's prototype, so copies of an object lose it. */
const RESERVED_NAME = "__proto__";

/** Deeper members are in no configuration. The search is recursive, so it needs a bound. */
const MAX_DEPTH = 64;

/** Whether a copied object cannot have a member of this name. */
export const isReservedName = (name: string): boolean => name.trim() === RESERVED_NAME;

/** The path of the first member with a reserved name in a parsed JSON value; null: there is none. */
export function findReservedName(value: unknown, depth = 0): PropertyKey[] | null {
  if (depth > MAX_DEPTH || (!isObject(value) && !Array.isArray(value))) return null;
  for (const [key, member] of Object.entries(value)) {
    const name = Array.isArray(value) ? Number(key) : key;
    if (isReservedName(key)) return [name];
    const path = findReservedName(member, depth + 1);
    if (path !== null) return [name, ...path];
  }
  return null;
}
