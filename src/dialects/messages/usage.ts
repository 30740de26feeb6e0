import type { FinishReason, Usage } from "../../conversation/events.ts";

/** `usage` of a message. Nothing is cached here, which agents want to be told in numbers. */
export function messageUsage(usage: Usage): Record<string, number> {
  return {
    input_tokens: usage.prompt,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: usage.completion,
  };
}

/** `stop_reason` of a message: what SDK tool runners look at. */
export const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};
