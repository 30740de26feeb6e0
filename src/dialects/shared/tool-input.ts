import { type JsonObject, objectIn } from "../../encoding/json.ts";

/**
 * Parses the arguments of a call to an object. Arguments that are cut off, because the model ran out of tokens, give an
 * empty object: the tool then rejects the call because of missing arguments.
 */
export const inputObject: (text: string) => JsonObject = objectIn;

/** Returns arguments as the JSON text of one object. Valid text is returned unchanged, so numbers keep their digits. */
export function inputText(text: string): string {
  const object = inputObject(text);
  return Object.keys(object).length === 0 ? "{}" : text;
}
