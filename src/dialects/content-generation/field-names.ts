import * as z from "zod";
import { isObject } from "../../encoding/json.ts";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";

// A run of underscores is tried from its beginning only: from each of them, a long one would take for ever.
function camel(name: string): string {
  return name.replace(/(?<!_)_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The members of one object under their camel-case names; what they hold is untouched. This style's JSON may be written
 * in either case, as examples for curl usually are in the other.
 */
function camelNames(value: unknown): unknown {
  if (!isObject(value)) return value;
  const named: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) named[camel(name)] = member;
  return named;
}

/** An object of this style's own (not the caller's data): its members may be named `likeThis` or `like_this`. */
export function styled<Shape extends z.core.$ZodLooseShape>(fields: () => Shape) {
  return z.preprocess(camelNames, lazyLooseObject(fields));
}
