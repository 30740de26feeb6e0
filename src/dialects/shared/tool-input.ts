import { type JsonObject, objectIn } from "../../encoding/json.ts";

/**
 * A call's arguments as the object that they are. A backend's own calls may break off in the middle when it runs out of
 * tokens; what cannot be read is an empty object, as the tool's executor refuses missing arguments anyway.
 */
export const inputObject: (text: string) => JsonObject = objectIn;

/** Arguments as JSON text of one object: as it stands, digits untouched, when it is one. */
export function inputText(text: string): string {
  const object = inputObject(text);
  return Object.keys(object).length === 0 ? "{}" : text;
}
