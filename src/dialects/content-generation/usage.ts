import type { FinishReason, Usage } from "../../conversation/events.ts";

/**
 * `usageMetadata` (contract, Content-generation-style response). This style counts thoughts apart from the candidate's
 * own tokens; the total holds both.
 */
export function usageMetadata(usage: Usage): Record<string, number> {
  const counts: Record<string, number> = {
    promptTokenCount: usage.prompt,
    candidatesTokenCount: usage.completion - usage.reasoning,
    totalTokenCount: usage.prompt + usage.completion,
  };
  if (usage.reasoning > 0) counts["thoughtsTokenCount"] = usage.reasoning;
  return counts;
}

/** `finishReason` of a candidate. A function call ends with `STOP` too (contract). */
export const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
};
