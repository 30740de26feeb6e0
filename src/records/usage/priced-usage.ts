import type { UsageDetails } from "../../core/conversation/usage-details.ts";
import { DETAIL_SUMS, type UsageSums } from "../../core/ports/usage.ts";

/** What a cost is computed from. Tokens of details are parts of `promptTokens` or of `completionTokens`. */
export interface PricedUsage extends Partial<UsageDetails> {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly reasoningTokens?: number;
}

/** Stored counts, by the names of their totals. */
type StoredUsage = Pick<
  UsageSums,
  "prompt_tokens" | "completion_tokens" | "reasoning_tokens" | (typeof DETAIL_SUMS)[keyof UsageDetails]
>;

/** Reads stored counts. */
export function readStoredUsage(stored: StoredUsage): PricedUsage {
  const count = (name: keyof UsageDetails): number => stored[DETAIL_SUMS[name]];
  return {
    promptTokens: stored.prompt_tokens,
    completionTokens: stored.completion_tokens,
    reasoningTokens: stored.reasoning_tokens,
    cachedTokens: count("cachedTokens"),
    cacheWrite5mTokens: count("cacheWrite5mTokens"),
    cacheWrite1hTokens: count("cacheWrite1hTokens"),
    audioInputTokens: count("audioInputTokens"),
    audioOutputTokens: count("audioOutputTokens"),
    imageInputTokens: count("imageInputTokens"),
    imageOutputTokens: count("imageOutputTokens"),
    webSearches: count("webSearches"),
    webFetches: count("webFetches"),
    audioSeconds: count("audioSeconds"),
    searchUnits: count("searchUnits"),
  };
}
