import { listMembers } from "../../core/encoding/json-splice.ts";
import { isJson } from "./literals.ts";

/**
 * The members of a JSON object as source text, so that numbers keep their digits. Of members with the same name the last
 * counts. Undefined if `text` is not a JSON object. Never throws, however deep the text nests.
 */
export function splitMembers(text: string): ReadonlyMap<string, string> | undefined {
  const source = text.trim();
  if (!source.startsWith("{") || !isJson(source)) return undefined;
  const members = new Map<string, string>();
  for (const { name, valueStart, valueEnd } of listMembers(source)) {
    members.set(name, source.slice(valueStart, valueEnd));
  }
  return members;
}
