import type { CacheBreakpoint } from "../../../core/conversation/cache-breakpoint.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";

/**
 * Reads `cache_control` of a content part or block, a message, a tool or a request. Any value that is not an object is
 * ignored.
 */
export function parseCacheControl(marked: JsonObject): { cache?: CacheBreakpoint } {
  const control = marked["cache_control"];
  if (!isObject(control)) return {};
  const { ttl } = control;
  return { cache: typeof ttl === "string" ? { ttl } : {} };
}

/** The items, with the mark on the last of them. */
export function markLast<Item extends { readonly cache?: CacheBreakpoint }>(
  items: readonly Item[],
  mark: { readonly cache?: CacheBreakpoint },
): Item[] {
  return items.map((item, index) => (index === items.length - 1 ? { ...item, ...mark } : item));
}
