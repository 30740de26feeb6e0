import { type JsonObject, parseObject, parseObjectExactly } from "../../../core/encoding/json.ts";

/**
 * Parses the arguments of a call to an object. Arguments that are cut off, because the model ran out of tokens, give an
 * empty object: the tool then rejects the call because of missing arguments. Numbers keep their digits.
 */
export const parseToolInput: (text: string) => JsonObject = parseObjectExactly;

/**
 * Returns arguments as the JSON text of one object in one line. The text stays as the model wrote it, so numbers keep their
 * digits. Only the line breaks between its tokens become spaces: they would end the `data:` line of an event stream.
 */
export function normalizeToolInput(text: string): string {
  const object = parseObject(text);
  // Valid JSON has line breaks only outside of strings.
  return Object.keys(object).length === 0 ? "{}" : text.replace(/[\r\n]+/g, " ");
}
