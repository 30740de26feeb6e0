import { USAGE_COUNTS } from "../../core/conversation/usage-details.ts";
import { parseJsonWithCalls } from "../../core/encoding/exact-calls.ts";
import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { ProviderUsage } from "./answers/provider-events.ts";

/** Parses one JSON object sent by the provider. Throws a `ProviderError` `malformed` for anything else. */
export function parseRecord(text: string): JsonObject {
  return toRecord(parseJson(text));
}

/** Parses JSON sent by the provider. Throws a `ProviderError` `malformed` for anything else. */
export function parseJson(text: string): unknown {
  try {
    return parseJsonWithCalls(text);
  } catch (error) {
    const isPage = /^\s*<(?:!doctype|html|\?xml)/i.test(text);
    const problem = isPage
      ? "answered with a web page instead of JSON: its address may be wrong"
      : "sent broken JSON";
    throw new ProviderError("malformed", `the provider ${problem}`, { cause: error });
  }
}

/** Returns a JSON value sent by the provider if it is an object. Throws a `ProviderError` `malformed` for anything else. */
export function toRecord(value: unknown): JsonObject {
  if (!isObject(value))
    throw new ProviderError(
      "malformed",
      "the provider sent JSON that is no object: its address or driver may be wrong",
    );
  return value;
}

/** Returns the objects in a list, or an empty list if the value is no list. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns a text member, or an empty string if it is no text. */
export function stringIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === "string" ? value : "";
}

/**
 * Reads a token count. Returns undefined if the value is no count. Numbers beyond the safe integers become the
 * largest safe integer, which is above every `maxPlausibleTokens`.
 */
export function readCount(value: unknown): number | undefined {
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  return Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER);
}

/**
 * Reads the offsets of a URL citation in a text that begins at `textStart` in the answer. A citation without offsets is
 * placed at `otherwise`.
 */
export function linkRangeIn(
  { start_index: start, end_index: end }: JsonObject,
  textStart: number,
  otherwise: number,
): { readonly start: number; readonly end: number } {
  if (typeof start !== "number" || typeof end !== "number") return { start: otherwise, end: otherwise };
  return { start: textStart + start, end: textStart + end };
}

/** The largest Unix time, in seconds, that a `Date` can hold. */
const LATEST_SECONDS = 8.64e12;

/** Reads a Unix time in seconds. Returns 0 (unknown) if the value is none. */
export function unixSecondsOf(value: unknown): number {
  return typeof value === "number" && value >= 0 && value <= LATEST_SECONDS ? value : 0;
}

/** Reads a time in RFC 3339 as whole Unix seconds. Returns 0 (unknown) if the value is none. */
export function unixSecondsAt(value: unknown): number {
  const milliseconds = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return unixSecondsOf(Math.floor(milliseconds / 1000));
}

/** Reads the stated counts into a usage. Omits what is no count. */
export function readUsage(fields: { readonly [name in keyof ProviderUsage]: unknown }): ProviderUsage {
  const usage: { -readonly [name in keyof ProviderUsage]: ProviderUsage[name] } = {};
  for (const name of USAGE_COUNTS) {
    const count = readCount(fields[name]);
    if (count !== undefined) usage[name] = count;
  }
  return usage;
}

/** Returns an object with this member, or an empty object if the value is undefined. */
export function ifDefined<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [key in Name]?: Value } {
  const member: { [key in Name]?: Value } = {};
  if (value !== undefined) member[name] = value;
  return member;
}
