import { foldCase, skipValue } from "../../../core/encoding/json-splice.ts";
import { type MemberDecision, walkMembers } from "../../../core/encoding/member-walk.ts";

/** Members that say how a provider chooses models, with other names than `model`. */
const CHOOSING_MEMBERS: ReadonlySet<string> = new Set(["fallback", "fallbacks", "route", "preset"]);

/** Members of a JSON Schema with the names of a tool's arguments or of an answer's members: they name no models. */
const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/** Whether a body may state a value as the name of a model. */
export type IsModelAllowed = (name: unknown) => boolean;

function decideOnValue(
  text: string,
  start: number,
  isName: boolean,
  isAllowed: IsModelAllowed,
): MemberDecision {
  const first = text[start];
  if (first === "{") return isName ? "stop" : "enter";
  if (first !== '"' && first !== "[") return "skip";
  const value: unknown = JSON.parse(text.slice(start, skipValue(text, start)));
  const names = Array.isArray(value) ? value : [value];
  return names.every(isAllowed) ? "skip" : "stop";
}

/**
 * Whether a body states, anywhere, the name of a model that may not be used: for example for a tool, a plugin or a fallback.
 *
 * @param uncheckedMembers outermost members that hold only texts for the model and what belongs to them, or the
 *   requested model, which is checked and replaced
 */
export function namesForbiddenModel(
  text: string,
  uncheckedMembers: readonly string[],
  isAllowed: IsModelAllowed,
): boolean {
  return walkMembers(text, ({ name, depth, valueStart }) => {
    if (depth === 0 && uncheckedMembers.includes(name)) return "skip";
    const folded = foldCase(name);
    if (SCHEMA_MEMBERS.has(folded)) return "skip";
    if (CHOOSING_MEMBERS.has(folded))
      return /^(?:null|false)/.test(text.slice(valueStart, valueStart + 5)) ? "skip" : "stop";
    if (!folded.includes("model")) return "enter";
    return decideOnValue(text, valueStart, folded === "model" || folded === "models", isAllowed);
  });
}
