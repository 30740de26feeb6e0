import type { FinishReason, Usage } from "../../conversation/events.ts";

/** `usage` of a message. Its input is what no cache had a part in; agents want numbers, also where nothing was cached. */
export function messageUsage(usage: Usage): Record<string, unknown> {
  const { prompt, cached = 0, cacheWritten = 0 } = usage;
  return {
    input_tokens: Math.max(0, prompt - cached - cacheWritten),
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cached,
    output_tokens: usage.completion,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  };
}

/** `stop_reason` of a message: what SDK tool runners look at. */
export const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};
