import { isObject, type JsonObject, parseObjectExactly } from "./json.ts";
import { skipValue } from "./json-splice.ts";

/** Finds all texts with an integer that `JSON.parse` may round. */
const LONG_NUMBER = /\d{16}/;

/**
 * The names of members with the arguments or the result of a call, before an object. Some protocols state the object, others
 * its text. A quote within a string is escaped, so only names of members match.
 */
const CALL_OBJECT = /(?<!\\)"(?:input|args|arguments|functionResponse|function_response)"\s*:\s*(?=\{)/g;

/** Parsing exactly takes thirty times as long: calls of more characters than this, all together, are rounded. */
const MAX_EXACT_CHARS = 1_048_576;

/**
 * Parses JSON as `JSON.parse` does, but numbers in arguments and results of calls keep the characters that they had if there are
 * long ones among them: they become a text in another protocol, and an id of 19 digits would name another object. Only
 * `JSON.stringify` can read such a number. Throws a `SyntaxError` for anything but JSON.
 */
export function parseJsonWithCalls(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!LONG_NUMBER.test(text)) return value;
  const { rest, calls } = cutCalls(text);
  return calls.size === 0 ? value : insertCalls(JSON.parse(rest), calls);
}

/** Replaces the calls with long numbers by texts that no caller can know, and parses them exactly. */
function cutCalls(text: string): { readonly rest: string; readonly calls: ReadonlyMap<unknown, JsonObject> } {
  const mark = crypto.randomUUID();
  const calls = new Map<unknown, JsonObject>();
  let rest = "";
  let copied = 0;
  let remaining = MAX_EXACT_CHARS;
  CALL_OBJECT.lastIndex = 0;
  while (CALL_OBJECT.test(text)) {
    const start = CALL_OBJECT.lastIndex;
    const end = skipValue(text, start);
    CALL_OBJECT.lastIndex = end;
    const call = text.slice(start, end);
    if (!LONG_NUMBER.test(call) || call.length > remaining) continue;
    remaining -= call.length;
    const placeholder = `${mark} ${calls.size}`;
    calls.set(placeholder, parseObjectExactly(call));
    rest += `${text.slice(copied, start)}"${placeholder}"`;
    copied = end;
  }
  return { rest: rest + text.slice(copied), calls };
}

/** Puts the calls in the places of their texts, at any depth. */
function insertCalls(value: unknown, calls: ReadonlyMap<unknown, JsonObject>): unknown {
  // A list, because values can be nested deeper than functions.
  const holders: unknown[] = [value];
  while (holders.length > 0) {
    const holder = holders.pop();
    const members = isObject(holder) || Array.isArray(holder) ? Object.entries(holder) : [];
    for (const [name, member] of members) {
      const call = calls.get(member);
      if (call !== undefined) Reflect.set(Object(holder), name, call);
      else if (typeof member === "object") holders.push(member);
    }
  }
  return value;
}
