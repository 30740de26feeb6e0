import { MIN_THINKING_BUDGET, toThinkingBudget } from "../requests/thinking-budget.ts";

/** Answer tokens if the caller gives no limit (docs/contract/errors.md, Limits). The protocol requires a limit. */
const DEFAULT_ANSWER_TOKENS = 8192;

/** The token limit of an answer, and the part of it for thinking. */
export interface TokenAllocation {
  readonly limit: number;
  /** Tokens of the limit that thinking may use; null: no thinking, or too few tokens for it. */
  readonly budget: number | null;
}

/**
 * Tokens of a limit that thinking may use: at most half, so that tokens remain for the answer. 0: half is below the
 * minimum.
 */
export function getMaxThinkingTokens(limit: number): number {
  const half = Math.floor(limit / 2);
  return half < MIN_THINKING_BUDGET ? 0 : half;
}

/** The thinking that the caller requests: a budget in tokens, or else an effort; null: none. */
export type RequestedThinking = { readonly budget?: number; readonly effort?: string } | null;

/**
 * Divides the token limit between thinking and answer. Without a limit of the caller, the thinking budget is added to
 * the default limit, up to `maxTokens` (the model's maximum). A budget of the caller may use the whole limit except for the
 * one token that the protocol requires for the answer.
 */
export function allocateTokens(
  limit: number | undefined,
  requested: RequestedThinking,
  maxTokens = Number.POSITIVE_INFINITY,
): TokenAllocation {
  const thinkingTokens = requested === null ? 0 : selectBudget(requested);
  if (limit === undefined) {
    if (DEFAULT_ANSWER_TOKENS + thinkingTokens > maxTokens) return allocateTokens(maxTokens, requested);
    return { limit: DEFAULT_ANSWER_TOKENS + thinkingTokens, budget: thinkingTokens || null };
  }
  const limitTokens = Math.max(1, Math.floor(limit));
  if (requested?.budget !== undefined && thinkingTokens < limitTokens)
    return { limit: limitTokens, budget: thinkingTokens };
  return { limit: limitTokens, budget: Math.min(thinkingTokens, getMaxThinkingTokens(limitTokens)) || null };
}

function selectBudget({ budget, effort }: NonNullable<RequestedThinking>): number {
  if (budget !== undefined) return Math.max(MIN_THINKING_BUDGET, Math.floor(budget));
  return toThinkingBudget(effort ?? "medium");
}
