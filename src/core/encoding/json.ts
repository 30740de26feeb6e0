/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object (no array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What ECMAScript adds for exact numbers ("JSON.parse source text access"), and the compiler does not know yet. */
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
  }
}

/** Finds most texts with a number that would be printed differently: a long one, or one with a fraction or an exponent. */
const MAY_LOSE_DIGITS = /\d{16}|\d[.eE]|-0/;

/** Parses a JSON object; an empty one if the text is not a JSON object. */
export function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * Parses a JSON object that is printed again: its numbers keep the characters that they had, so that long ids and `1.0` stay what they
 * are. A number that would change is an opaque value for `JSON.stringify`. Not an object: an empty one.
 */
export function parseObjectExactly(text: string): JsonObject {
  if (!MAY_LOSE_DIGITS.test(text)) return parseObject(text);
  try {
    const value = JSON.parse(text, (_key, part, { source }) =>
      Number.isFinite(part) && source !== undefined && String(part) !== source ? JSON.rawJSON(source) : part,
    );
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
