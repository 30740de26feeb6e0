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
