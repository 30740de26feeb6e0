import type { Conversation } from "../../../core/conversation/conversation.ts";
import { isObject } from "../../../core/encoding/json.ts";

/** Fields with which clients of the chat-completions style enable and disable thinking. */
export interface ThinkingFields {
  readonly thinking?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_effort?: string | null | undefined;
  readonly enable_thinking?: boolean | null | undefined;
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/**
 * Returns whether a request wants the model to think. Thinking is on unless the request disables it with `thinking: {type:
 * "disabled"}` or `false`, `reasoning: {effort: "none"}` or `{enabled: false}` or `false`, `reasoning_effort: "none"`, or
 * `enable_thinking: false`.
 */
export function wantsThinking(fields: ThinkingFields): boolean {
  const { thinking, reasoning } = fields;
  if (thinking === false || readMember(thinking, "type") === "disabled") return false;
  if (reasoning === false || readMember(reasoning, "enabled") === false) return false;
  if (readMember(reasoning, "effort") === "none" || fields.reasoning_effort === "none") return false;
  return fields.enable_thinking !== false;
}

/**
 * Whether a request has an option for thinking that enables it. Options that are null, and a summary that is not wanted, do
 * not.
 */
function requestsThinking(fields: ThinkingFields): boolean {
  const { thinking, reasoning, reasoning_effort: effort, enable_thinking: isEnabled } = fields;
  return (
    wantsThinking(fields) && (isEnabled === true || [thinking, reasoning, effort].some(isEnablingOption))
  );
}

function isEnablingOption(option: unknown): boolean {
  if (!isObject(option)) return option === true || (typeof option === "string" && option !== "");
  return Object.entries(option).some(
    ([name, value]) => value !== null && !(name === "summary" && value === "none"),
  );
}

/** The conversation's default for a request of a style whose models do not think unless they are asked to. */
export function toThinkingDefault(fields: ThinkingFields): Pick<Conversation, "thinkingDefault"> {
  return requestsThinking(fields) ? {} : { thinkingDefault: "off" };
}
