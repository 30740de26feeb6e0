import type { AnswerToken, LikelyToken } from "../../../core/conversation/events.ts";

const toCandidate = ({ token, logprob }: LikelyToken) => ({ token, logProbability: logprob });

/** Builds the log probability fields of a candidate. */
export function toLogprobsResult(tokens: readonly AnswerToken[]) {
  return {
    avgLogprobs: tokens.reduce((sum, { logprob }) => sum + logprob, 0) / tokens.length,
    logprobsResult: {
      chosenCandidates: tokens.map(toCandidate),
      topCandidates: tokens.map(({ top }) => ({ candidates: top.map(toCandidate) })),
    },
  };
}
