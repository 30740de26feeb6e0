import type { GenerationOptions } from "../../../core/conversation/conversation.ts";
import { acceptedUserId } from "../backends/bearer-backend.ts";
import { ifDefined } from "../json.ts";
import type { ProviderCapabilities } from "../provider.ts";
import type { WireRequest } from "./wire.ts";

/** The generation options for which the protocol has fields. */
export const SUPPORTED_OPTIONS: ProviderCapabilities["options"] = new Set<keyof GenerationOptions>([
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

/** Converts generation options into the protocol's fields, except for the reasoning effort. */
export function optionFields(options: GenerationOptions): Partial<WireRequest> {
  const { user, promptCacheKey, logprobs } = options;
  return {
    ...ifDefined("temperature", options.temperature),
    ...ifDefined("top_p", options.topP),
    ...ifDefined("top_k", options.topK),
    ...ifDefined("min_p", options.minP),
    ...ifDefined("presence_penalty", options.presencePenalty),
    ...ifDefined("frequency_penalty", options.frequencyPenalty),
    ...ifDefined("repetition_penalty", options.repetitionPenalty),
    ...ifDefined("logit_bias", options.logitBias),
    ...ifDefined("stop", options.stop),
    ...ifDefined("seed", options.seed),
    ...ifDefined("max_tokens", options.maxTokens),
    ...ifDefined("verbosity", options.verbosity),
    ...ifDefined("user", acceptedUserId(user)),
    ...ifDefined("prompt_cache_key", promptCacheKey),
    ...(logprobs === undefined ? {} : { logprobs: true }),
    ...ifDefined("top_logprobs", logprobs || undefined),
  };
}
