import { isObject, type JsonObject, parseObjectExactly } from "./json.ts";
import { skipValue } from "./json-splice.ts";

/** Finds all texts with an integer that `JSON.parse` may round. */
const LONG_NUMBER = /\d{16}/;

/**
 * The names of members with the arguments or the result of a call, before an object. Some protocols state the object, others
 * its text. A quote within a string is escaped, so only names of members match.
 */
const CALL_OBJECT = /(?<!\\)"(?:input|args|arguments|functionResponse|function_response)"\s*:\s*(?=\{)/g;

/** Exact parsing is slow (`parseExactly`): older calls, beyond so many characters of later ones, are rounded. */
const MAX_CALLS_CHARS = 262_144;

/** Where a part of a text begins and ends. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** An object with a long number that may be of a call. */
interface CallText {
  readonly text: string;
  readonly isExact: boolean;
}

/**
 * Parses JSON as `JSON.parse` does, but numbers in arguments and results of calls keep the characters that they had if there are
 * long ones among them: they become a text in another protocol, and an id of 19 digits would name another object. Only
 * `JSON.stringify` can read such a number. Throws a `SyntaxError` for anything but JSON.
 */
export function parseJsonWithCalls(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const ranges = LONG_NUMBER.test(text) ? findCalls(text) : [];
  if (ranges.length === 0) return value;
  const { rest, calls } = cutCalls(text, ranges);
  return insertCalls(JSON.parse(rest), calls);
}

/** Replaces objects that may be of calls by texts that no caller can know. */
function cutCalls(
  text: string,
  ranges: readonly TextRange[],
): { readonly rest: string; readonly calls: ReadonlyMap<unknown, CallText> } {
  const mark = crypto.randomUUID();
  const calls = new Map<unknown, CallText>();
  const pieces: string[] = [];
  let remaining = MAX_CALLS_CHARS;
  let end = text.length;
  for (const range of ranges.toReversed()) {
    const call = text.slice(range.start, range.end);
    remaining -= call.length;
    const placeholder = `${mark} ${calls.size}`;
    calls.set(placeholder, { text: call, isExact: remaining >= 0 });
    pieces.push(text.slice(range.end, end), `"${placeholder}"`);
    end = range.start;
  }
  return { rest: [...pieces, text.slice(0, end)].toReversed().join(""), calls };
}

/**
 * The objects with a long number that are named like arguments or results, in the order of the text. By a regular expression, not
 * by `walkMembers`: events of streams come here, and ids and probabilities have long numbers, too.
 */
function findCalls(text: string): readonly TextRange[] {
  const ranges: TextRange[] = [];
  CALL_OBJECT.lastIndex = 0;
  while (CALL_OBJECT.test(text)) {
    const start = CALL_OBJECT.lastIndex;
    const end = skipValue(text, start);
    CALL_OBJECT.lastIndex = end;
    if (LONG_NUMBER.test(text.slice(start, end))) ranges.push({ start, end });
  }
  return ranges;
}

/** Whether a member holds arguments or a result. A schema of arguments has no name or type of a call beside it. */
function isOfCall(holder: JsonObject, name: string, member: JsonObject): boolean {
  const { type } = holder;
  if (name === "input") return typeof type === "string" && type.endsWith("tool_use");
  return typeof (name.startsWith("function") ? member : holder)["name"] === "string";
}

/** Puts the objects in the places of their texts, at any depth. */
function insertCalls(value: unknown, calls: ReadonlyMap<unknown, CallText>): unknown {
  // A list, because values can be nested deeper than functions.
  const holders: unknown[] = [value];
  while (holders.length > 0) {
    const holder = holders.pop();
    if (Array.isArray(holder)) {
      for (const item of holder) if (typeof item === "object") holders.push(item);
      continue;
    }
    if (!isObject(holder)) continue;
    for (const [name, member] of Object.entries(holder)) {
      const call = calls.get(member);
      if (call !== undefined) Reflect.set(holder, name, parseCall(holder, name, call));
      else if (typeof member === "object") holders.push(member);
    }
  }
  return value;
}

function parseCall(holder: JsonObject, name: string, { text, isExact }: CallText): unknown {
  const plain: unknown = JSON.parse(text);
  return isExact && isObject(plain) && isOfCall(holder, name, plain) ? parseObjectExactly(text) : plain;
}
