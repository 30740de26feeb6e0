import type { Sampling } from "../../conversation/conversation.ts";
import { userName } from "../bearer-backend.ts";
import { given } from "../json.ts";
import type { Abilities } from "../provider.ts";
import type { WireRequest } from "./wire.ts";

/** The sampling options for which the protocol has fields. */
export const OPTIONS: Abilities["options"] = new Set<keyof Sampling>([
  "temperature",
  "topP",
  "topK",
  "minP",
  "presencePenalty",
  "frequencyPenalty",
  "repetitionPenalty",
  "logitBias",
  "stop",
  "maxTokens",
  "seed",
  "reasoningEffort",
  "thinkingBudget",
  "verbosity",
  "user",
  "promptCacheKey",
  "logprobs",
]);

/** Converts sampling options into the protocol's fields, except for the reasoning effort. */
export function optionFields(sampling: Sampling): Partial<WireRequest> {
  const { user, promptCacheKey, logprobs } = sampling;
  return {
    ...given("temperature", sampling.temperature),
    ...given("top_p", sampling.topP),
    ...given("top_k", sampling.topK),
    ...given("min_p", sampling.minP),
    ...given("presence_penalty", sampling.presencePenalty),
    ...given("frequency_penalty", sampling.frequencyPenalty),
    ...given("repetition_penalty", sampling.repetitionPenalty),
    ...given("logit_bias", sampling.logitBias),
    ...given("stop", sampling.stop),
    ...given("seed", sampling.seed),
    ...given("max_tokens", sampling.maxTokens),
    ...given("verbosity", sampling.verbosity),
    ...given("user", userName(user)),
    ...given("prompt_cache_key", promptCacheKey),
    ...(logprobs === undefined ? {} : { logprobs: true }),
    ...given("top_logprobs", logprobs || undefined),
  };
}
