/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object (no array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What ECMAScript adds for exact numbers ("JSON.parse source text access"), and the compiler does not know yet. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
declare global {
  interface JSON {
    parse(text: string, reviver: Reviver | undefined): unknown;
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/** Parses a JSON object; an empty one if the text is not a JSON object. */
export function parseObject(text: string): JsonObject {
  return parseObjectWith(text, JSON.parse);
}

/** Finds all texts with a number that would be printed differently: a long one, or one with a fraction or an exponent. */
const MAY_LOSE_DIGITS = /\d{16}|\d[.eE]|-0/;

/** Keeps the source of a number that would be printed differently. One that is too large is `null`: not every parser takes it. */
const keepDigits: Reviver = (_key, value, { source }) =>
  Number.isFinite(value) && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value;

/**
 * The same for an object that is printed again: its numbers keep the characters that they had, so that long ids and `1.0`
 * stay what they are. Only `JSON.stringify` can read a number that would change: it is an object of `JSON.rawJSON`.
 */
export function parseObjectExactly(text: string): JsonObject {
  return parseObjectWith(text, parseExactly);
}

/** Parsing exactly takes thirty times as long: the numbers of longer texts are rounded. */
const MAX_EXACT_CHARS = 1_048_576;

/** The same for any JSON. Throws a `SyntaxError` for anything else, and a `RangeError` for JSON that is nested too deep. */
export function parseExactly(text: string): unknown {
  const isExact = text.length <= MAX_EXACT_CHARS && MAY_LOSE_DIGITS.test(text);
  return JSON.parse(text, isExact ? keepDigits : undefined);
}

function parseObjectWith(text: string, parse: (text: string) => unknown): JsonObject {
  try {
    const value = parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
