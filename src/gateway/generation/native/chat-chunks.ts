import { isObject, parseObject } from "../../../core/encoding/json.ts";
import { getMemberText } from "../../../core/encoding/json-splice.ts";
import { objectsIn } from "../../providers/json.ts";

const EMPTY_CHOICES = /"choices"\s*:\s*\[\s*\]/;

/** The end mark of a chat stream. JSON has no raw line break, so the pattern matches nothing within an event. */
const END_MARK = /^data: ?\[DONE\]/m;

/** Removes the end mark of a chat stream and what follows it. */
export function withoutEndMark(bytes: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(bytes);
  const at = text.search(END_MARK);
  return at < 0 ? bytes : new TextEncoder().encode(text.slice(0, at));
}

/** Whether an event may be the chunk of a chat completion that states the usage and nothing else. */
export function mayBeUsageAlone(event: string): boolean {
  return event.includes('"usage"') && EMPTY_CHOICES.test(event);
}

/** Whether a chunk of a chat completion states the usage and nothing else. */
export function isUsageAlone(json: string): boolean {
  return (
    json.includes('"usage"') &&
    getMemberText(json, ["choices"])?.replace(/\s/g, "") === "[]" &&
    getMemberText(json, ["usage"])?.startsWith("{") === true &&
    getMemberText(json, ["prompt_filter_results"]) === null
  );
}

/** Whether a chunk of a chat completion begins the answer and has nothing else. */
export function isRoleAlone(json: string): boolean {
  const [choice, ...others] = objectsIn(parseObject(json)["choices"]);
  if (choice === undefined || others.length > 0 || choice["finish_reason"]) return false;
  const delta = choice["delta"];
  if (!isObject(delta) || delta["role"] === undefined) return false;
  return Object.entries(delta).every(([name, value]) => name === "role" || value === null || value === "");
}
