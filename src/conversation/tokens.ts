import { estimateTokenCount } from "tokenx";

/** Estimated tokens of a text, for counts that the upstream omits. */
export function estimateTokens(text: string): number {
  return text === "" ? 0 : estimateTokenCount(text);
}

/** Tokens of context of a model that states none: as many as the largest models have. */
const LARGEST_CONTEXT = 2_000_000;
/** How often a turn may count the context: a provider's own tools make the model read it again and again. */
const MOST_ROUNDS = 16;
/** No count is larger, whatever context an administrator states: sums of thousands of counts stay exact. */
const MOST_TOKENS = 1e12;

/**
 * The largest number of tokens that a provider may state for the prompt, or for the answer, of one turn.
 *
 * @param characters length of the texts that were sent and received (UTF-16 units)
 * @param context tokens that the model can read and write at once; undefined: unknown
 */
export function mostTokens(characters: number, context = LARGEST_CONTEXT): number {
  return Math.min(MOST_TOKENS, MOST_ROUNDS * Math.max(context, characters));
}
