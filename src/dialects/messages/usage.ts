import type { FinishReason, Usage } from "../../conversation/events.ts";

/** `stop_reason` of a message: what SDK tool runners look at. */
const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};

/** `usage` of a message. Its input is what no cache had a part in; agents want numbers, also where nothing was cached. */
export function messageUsage(usage: Usage): Record<string, unknown> {
  const { prompt, cached = 0, cacheWritten = 0 } = usage;
  return {
    input_tokens: Math.max(0, prompt - cached - cacheWritten),
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cached,
    output_tokens: usage.completion,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use: null,
  };
}

/** `usage` of a whole message: the same, and what the real service tells besides, of which there is nothing here. */
export function wholeUsage(usage: Usage): Record<string, unknown> {
  const nothing = { cache_creation: null, inference_geo: null, service_tier: "standard", speed: null };
  return { ...messageUsage(usage), ...nothing };
}

/**
 * How a message ended, in the members that the real service always states: SDK tool runners look at `stop_reason`. A message
 * that has not ended has no reason; `sequence` is the stop sequence that ended it.
 */
export function ending(reason: FinishReason | null, sequence?: string): Record<string, unknown> {
  const refused = { type: "refusal", category: null, explanation: null };
  return {
    container: null,
    stop_details: reason === "content_filter" ? refused : null,
    stop_reason: reason === null ? null : sequence === undefined ? STOP_REASONS[reason] : "stop_sequence",
    stop_sequence: sequence ?? null,
  };
}
