import * as z from "zod";
import type { AnswerToken, LikelyToken } from "../../conversation/events.ts";

const likely = ({ token, logprob, bytes }: LikelyToken) => ({
  token,
  logprob,
  bytes: bytes ?? bytesOf(token),
});

/** The bytes of a token that is a text of its own. */
const bytesOf = (token: string): number[] => [...new TextEncoder().encode(token)];

/** Tokens as the chat-completions style and its relatives write them. */
export function logprobsOf(tokens: readonly AnswerToken[]) {
  return tokens.map(({ top, ...token }) => ({ ...likely(token), top_logprobs: top.map(likely) }));
}

/** What {@link logprobsOf} makes of a token. */
export function tokenSchema() {
  const likely = { token: z.string(), logprob: z.number(), bytes: z.array(z.int()) };
  return z.object({ ...likely, top_logprobs: z.array(z.object(likely)) });
}
