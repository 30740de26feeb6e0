import * as z from "zod";
import type { AnswerToken } from "../../../core/conversation/events.ts";

/**
 * `logprobs` of a choice: the tokens, their log probabilities, the alternatives, and the offset of each token in the text.
 */
export interface TextLogprobs {
  readonly tokens: readonly string[];
  readonly token_logprobs: readonly number[];
  readonly top_logprobs: readonly Readonly<Record<string, number>>[] | null;
  readonly text_offset: readonly number[];
}

/** Builds `logprobs` for the tokens of one answer, chunk by chunk. */
export class TextLogprobsBuilder {
  #offset: number;
  readonly #alternatives: boolean;

  /** `offset` is the length of the text before the answer. `alternatives`: include tokens that were not chosen. */
  constructor(offset: number, alternatives: boolean) {
    this.#offset = offset;
    this.#alternatives = alternatives;
  }

  /** Returns `logprobs` of the next tokens, or null if there are none. */
  next(tokens: readonly AnswerToken[] | undefined): TextLogprobs | null {
    if (tokens === undefined || tokens.length === 0) return null;
    return {
      tokens: tokens.map(({ token }) => token),
      token_logprobs: tokens.map(({ logprob }) => logprob),
      top_logprobs: this.#alternatives
        ? tokens.map(({ top }) => Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])))
        : null,
      text_offset: tokens.map(({ token }) => {
        const offset = this.#offset;
        this.#offset += token.length;
        return offset;
      }),
    };
  }
}

/** Schema of {@link TextLogprobs}. */
export const textLogprobsSchema = () =>
  z.object({
    tokens: z.array(z.string()),
    token_logprobs: z.array(z.number()),
    top_logprobs: z.array(z.record(z.string(), z.number())).nullable(),
    text_offset: z.array(z.int()),
  });
