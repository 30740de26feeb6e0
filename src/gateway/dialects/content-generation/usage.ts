import type { FinishReason, Usage } from "../../../core/conversation/events.ts";

/**
 * Builds `usageMetadata` (docs/contract/answers.md, Content-generation-style response). This style counts thoughts
 * separately from the candidate's own tokens. The total includes both.
 */
export function usageMetadata(usage: Usage): Record<string, unknown> {
  const counts: Record<string, unknown> = {
    promptTokenCount: usage.prompt,
    // Some backends do not include reasoning in the completion count.
    candidatesTokenCount: Math.max(0, usage.completion - usage.reasoning),
    totalTokenCount: usage.prompt + usage.completion,
  };
  if (usage.reasoning > 0) counts["thoughtsTokenCount"] = usage.reasoning;
  if (usage.cached !== undefined && usage.cached > 0) counts["cachedContentTokenCount"] = usage.cached;
  const { audioInput = 0, audioOutput = 0 } = usage;
  if (audioInput > 0) counts["promptTokensDetails"] = countModalities(usage.prompt, audioInput);
  if (audioOutput > 0) {
    counts["candidatesTokensDetails"] = countModalities(usage.completion - usage.reasoning, audioOutput);
  }
  return counts;
}

/** Counts by modality: all that is no audio counts as text. */
function countModalities(total: number, audio: number): object[] {
  return [
    { modality: "TEXT", tokenCount: Math.max(0, total - audio) },
    { modality: "AUDIO", tokenCount: audio },
  ];
}

/** Maps to `finishReason` of a candidate. A function call also ends with `STOP` (docs/contract/answers.md). */
export const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
};
