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

/** How a message ended: SDK tool runners look at `stop_reason`. */
export function stopped(reason: FinishReason, sequence: string | undefined) {
  return sequence === undefined
    ? { stop_reason: STOP_REASONS[reason], stop_sequence: null }
    : { stop_reason: "stop_sequence", stop_sequence: sequence };
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};
