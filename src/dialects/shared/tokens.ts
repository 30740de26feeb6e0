import * as z from "zod";
import type { AnswerToken, LikelyToken } from "../../conversation/events.ts";

const likely = ({ token, logprob, bytes }: LikelyToken) => ({
  token,
  logprob,
  bytes: bytes ?? bytesOf(token),
});

/** Returns the UTF-8 bytes of a token. Correct only for a token that is complete text. */
const bytesOf = (token: string): number[] => [...new TextEncoder().encode(token)];

/** Converts tokens to the log probabilities of the chat-completions style and related styles. */
export function logprobsOf(tokens: readonly AnswerToken[]) {
  return tokens.map(({ top, ...token }) => ({ ...likely(token), top_logprobs: top.map(likely) }));
}

/** Schema of one entry that {@link logprobsOf} returns. */
export function tokenSchema() {
  const likely = { token: z.string(), logprob: z.number(), bytes: z.array(z.int()) };
  return z.object({ ...likely, top_logprobs: z.array(z.object(likely)) });
}
