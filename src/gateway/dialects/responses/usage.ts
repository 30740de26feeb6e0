import type { Usage } from "../../../core/conversation/events.ts";

/** Builds `usage` of a response object. */
export function toResponseUsage(usage: Usage): Record<string, unknown> {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { cached_tokens: usage.cached ?? 0, cache_write_tokens: usage.cacheWritten ?? 0 },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.prompt + usage.completion,
  };
}
