import { type JsonObject, parseObject } from "../../../core/encoding/json.ts";

/**
 * Parses the arguments of a call to an object. Arguments that are cut off, because the model ran out of tokens, give an
 * empty object: the tool then rejects the call because of missing arguments.
 */
export const parseToolInput: (text: string) => JsonObject = parseObject;

/** Returns arguments as the JSON text of one object. Valid text is returned unchanged, so numbers keep their digits. */
export function normalizeToolInput(text: string): string {
  const object = parseToolInput(text);
  return Object.keys(object).length === 0 ? "{}" : text;
}
