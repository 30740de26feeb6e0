import type { Sampling } from "../../../core/conversation/conversation.ts";
import { acceptedUserId } from "../bearer-backend.ts";
import { ifDefined } from "../json.ts";
import type { ProviderCapabilities } from "../provider.ts";
import type { WireRequest } from "./wire.ts";

/** The sampling options for which the protocol has fields. */
export const SUPPORTED_OPTIONS: ProviderCapabilities["options"] = new Set<keyof Sampling>([
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
    ...ifDefined("temperature", sampling.temperature),
    ...ifDefined("top_p", sampling.topP),
    ...ifDefined("top_k", sampling.topK),
    ...ifDefined("min_p", sampling.minP),
    ...ifDefined("presence_penalty", sampling.presencePenalty),
    ...ifDefined("frequency_penalty", sampling.frequencyPenalty),
    ...ifDefined("repetition_penalty", sampling.repetitionPenalty),
    ...ifDefined("logit_bias", sampling.logitBias),
    ...ifDefined("stop", sampling.stop),
    ...ifDefined("seed", sampling.seed),
    ...ifDefined("max_tokens", sampling.maxTokens),
    ...ifDefined("verbosity", sampling.verbosity),
    ...ifDefined("user", acceptedUserId(user)),
    ...ifDefined("prompt_cache_key", promptCacheKey),
    ...(logprobs === undefined ? {} : { logprobs: true }),
    ...ifDefined("top_logprobs", logprobs || undefined),
  };
}
