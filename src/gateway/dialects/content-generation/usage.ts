import type { FinishReason, Usage } from "../../../core/conversation/events.ts";

/**
 * Builds `usageMetadata` (contract, Content-generation-style response). This style counts thoughts separately from the
 * candidate's own tokens. The total includes both.
 */
export function usageMetadata(usage: Usage): Record<string, number> {
  const counts: Record<string, number> = {
    promptTokenCount: usage.prompt,
    // Some backends do not include reasoning in the completion count.
    candidatesTokenCount: Math.max(0, usage.completion - usage.reasoning),
    totalTokenCount: usage.prompt + usage.completion,
  };
  if (usage.reasoning > 0) counts["thoughtsTokenCount"] = usage.reasoning;
  if (usage.cached !== undefined && usage.cached > 0) counts["cachedContentTokenCount"] = usage.cached;
  return counts;
}

/** Maps to `finishReason` of a candidate. A function call also ends with `STOP` (contract). */
export const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
};
