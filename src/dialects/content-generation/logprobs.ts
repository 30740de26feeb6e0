import type { AnswerToken, LikelyToken } from "../../conversation/events.ts";

const candidate = ({ token, logprob }: LikelyToken) => ({ token, logProbability: logprob });

/** Builds the log probability fields of a candidate. */
export function logprobsResult(tokens: readonly AnswerToken[]) {
  return {
    avgLogprobs: tokens.reduce((sum, { logprob }) => sum + logprob, 0) / tokens.length,
    logprobsResult: {
      chosenCandidates: tokens.map(candidate),
      topCandidates: tokens.map(({ top }) => ({ candidates: top.map(candidate) })),
    },
  };
}
