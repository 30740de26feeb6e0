import { isObject, type JsonObject } from "../encoding/json.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { ProviderUsage } from "./provider.ts";

/** Parses one JSON object sent by the provider. Throws a `ProviderError` `malformed` for anything else. */
export function parseRecord(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ProviderError("malformed", "the provider sent broken JSON", 0, error);
  }
  if (!isObject(value)) throw new ProviderError("malformed", "the provider sent JSON that is no object");
  return value;
}

/** The objects in a list; nothing of what is no list. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A member that is a text; empty when it is none. */
export function stringIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === "string" ? value : "";
}

/**
 * A count of tokens, or undefined when the value is none. A number beyond the safe integers becomes the largest one, which
 * `mostTokens` refuses.
 */
export function countOf(value: unknown): number | undefined {
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  return Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER);
}

/** The largest Unix time, in seconds, that a `Date` can hold. */
const LATEST_SECONDS = 8.64e12;

/** A Unix time in seconds; 0, which means unknown, when the value is none. */
export function unixSecondsOf(value: unknown): number {
  return typeof value === "number" && value >= 0 && value <= LATEST_SECONDS ? value : 0;
}

/** The usage with the counts that were stated; what is no count is left out. */
export function usageOf(stated: { readonly [name in keyof ProviderUsage]: unknown }): ProviderUsage {
  return {
    ...given("prompt", countOf(stated.prompt)),
    ...given("completion", countOf(stated.completion)),
    ...given("reasoning", countOf(stated.reasoning)),
    ...given("cached", countOf(stated.cached)),
    ...given("cacheWritten", countOf(stated.cacheWritten)),
  };
}

/** A member that is there only if its value is. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [key in Name]?: Value } {
  const member: { [key in Name]?: Value } = {};
  if (value !== undefined) member[name] = value;
  return member;
}
