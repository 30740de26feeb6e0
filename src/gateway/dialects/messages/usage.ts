import type { FinishReason, Usage } from "../../../core/conversation/events.ts";

/** Maps to `stop_reason` of a message. SDK tool runners read it. */
const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};

/**
 * Builds `usage` of a message. `input_tokens` excludes tokens read from or written to a cache. Agents expect numbers even
 * if no cache was used.
 */
export function toMessageUsage(usage: Usage): Record<string, unknown> {
  const { prompt, cached = 0, cacheWritten = 0, webSearches = 0, webFetches = 0 } = usage;
  return {
    input_tokens: Math.max(0, prompt - cached - cacheWritten),
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cached,
    output_tokens: usage.completion,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use:
      webSearches + webFetches === 0
        ? null
        : { web_search_requests: webSearches, web_fetch_requests: webFetches },
  };
}

/** Builds `usage` of a whole message: the counts, cache writes by lifetime, and fields that have no value here. */
export function toWholeUsage(usage: Usage): Record<string, unknown> {
  const { cacheWritten = 0, cacheWritten1h } = usage;
  const byLifetime = {
    ephemeral_5m_input_tokens: cacheWritten - (cacheWritten1h ?? 0),
    ephemeral_1h_input_tokens: cacheWritten1h ?? 0,
  };
  return {
    ...toMessageUsage(usage),
    cache_creation: cacheWritten1h === undefined ? null : byLifetime,
    inference_geo: null,
    service_tier: "standard",
    speed: null,
  };
}

/**
 * Builds the fields that say how a message ended. The real service always sends them, and SDK tool runners read
 * `stop_reason`. `reason` null: the message has not ended. `sequence` is the stop sequence that ended it.
 */
export function toEndingFields(reason: FinishReason | null, sequence?: string): Record<string, unknown> {
  const stopDetails = { type: "refusal", category: null, explanation: null };
  return {
    container: null,
    stop_details: reason === "content_filter" ? stopDetails : null,
    stop_reason: reason === null ? null : sequence === undefined ? STOP_REASONS[reason] : "stop_sequence",
    stop_sequence: sequence ?? null,
  };
}
