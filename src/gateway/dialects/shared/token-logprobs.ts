import * as z from "zod";
import type { AnswerToken, LikelyToken } from "../../../core/conversation/events.ts";

const toLikelyToken = ({ token, logprob, bytes }: LikelyToken) => ({
  token,
  logprob,
  bytes: bytes ?? toUtf8Bytes(token),
});

/** Returns the UTF-8 bytes of a token. Correct only for a token that is complete text. */
const toUtf8Bytes = (token: string): number[] => [...new TextEncoder().encode(token)];

/** Converts tokens to the log probabilities of the chat-completions style and related styles. */
export function toLogprobs(tokens: readonly AnswerToken[]) {
  return tokens.map(({ top, ...token }) => ({
    ...toLikelyToken(token),
    top_logprobs: top.map(toLikelyToken),
  }));
}

/** Schema of one entry that {@link toLogprobs} returns. */
export function tokenLogprobSchema() {
  const likely = { token: z.string(), logprob: z.number(), bytes: z.array(z.int()) };
  return z.object({ ...likely, top_logprobs: z.array(z.object(likely)) });
}
