import * as z from "zod";
import { isObject } from "../../../core/encoding/json.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";

// Match a run of underscores only at its start. Matching from each underscore takes quadratic time on a long run.
function toCamelCase(name: string): string {
  return name.replace(/(?<!_)_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Renames the members of one object to camel case, but not the members of nested objects. This style accepts JSON in camel
 * case and in snake case: examples for curl usually use snake case.
 */
function toCamelCaseKeys(value: unknown): unknown {
  if (!isObject(value)) return value;
  const named: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) named[toCamelCase(name)] = member;
  return named;
}

/**
 * Schema of an object that this style defines (not of the caller's own data). Its members may be named `likeThis` or
 * `like_this`.
 */
export function camelOrSnakeObject<Shape extends z.core.$ZodLooseShape>(fields: () => Shape) {
  return z.preprocess(toCamelCaseKeys, lazyLooseObject(fields));
}
