import type { Conversation } from "../../../core/conversation/conversation.ts";
import { estimateTokens } from "../../../core/conversation/tokens.ts";
import { type ExpectedTokens, MAX_RESERVED_ANSWER } from "../../../pool/limits/limited-use.ts";

/** The expected usage of an answer. Most answers are shorter than their limit. */
export function estimateUsage({ options }: Conversation, promptText: string): ExpectedTokens {
  const answer = Math.min(options.maxTokens ?? MAX_RESERVED_ANSWER, MAX_RESERVED_ANSWER) * (options.n ?? 1);
  return { prompt: estimateTokens(promptText), answer };
}
