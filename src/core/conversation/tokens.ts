import { estimateTokenCount } from "tokenx";

/** Estimated tokens of a text, for counts that the upstream omits. */
export function estimateTokens(text: string): number {
  return text === "" ? 0 : estimateTokenCount(text);
}

/** Assumed context size, in tokens, of a model without a stated one: that of the largest models. */
const LARGEST_CONTEXT = 2_000_000;
/**
 * How many times a turn's count may include the whole context: with a provider's own tools the model reads it repeatedly.
 */
const MAX_CONTEXT_REPETITIONS = 16;
/** Upper bound of a count, whatever context size an administrator configures: sums of thousands of counts stay exact. */
const MAX_TOKENS = 1e12;

/**
 * The largest plausible token count of one turn's prompt, or of its answer.
 *
 * @param characters length of the texts that were sent and received (UTF-16 units)
 * @param context the model's context size in tokens; undefined: unknown
 */
export function maxPlausibleTokens(characters: number, context = LARGEST_CONTEXT): number {
  return Math.min(MAX_TOKENS, MAX_CONTEXT_REPETITIONS * Math.max(context, characters));
}
