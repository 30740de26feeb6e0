import type { Sampling } from "../../../core/conversation/conversation.ts";
import { acceptedUserId } from "../bearer-backend.ts";
import { ifDefined } from "../json.ts";
import type { ProviderCapabilities } from "../provider.ts";
import type { WireRequest } from "./wire.ts";

/** The sampling options that the protocol has fields for. Stop sequences have none: `stop-sequences.ts` applies them. */
export const SUPPORTED_OPTIONS: ProviderCapabilities["options"] = new Set<keyof Sampling>([
  "temperature",
  "topP",
  "presencePenalty",
  "frequencyPenalty",
  "maxTokens",
  "reasoningEffort",
  "thinkingBudget",
  "verbosity",
  "user",
  "promptCacheKey",
  "logprobs",
]);

/** Translates sampling options into the protocol's fields, except for thinking and the text format. */
export function optionFields(sampling: Sampling): Partial<WireRequest> {
  const { user, promptCacheKey, logprobs } = sampling;
  return {
    ...ifDefined("temperature", sampling.temperature),
    ...ifDefined("top_p", sampling.topP),
    ...ifDefined("presence_penalty", sampling.presencePenalty),
    ...ifDefined("frequency_penalty", sampling.frequencyPenalty),
    ...ifDefined("max_output_tokens", sampling.maxTokens),
    ...ifDefined("top_logprobs", logprobs || undefined),
    ...ifDefined("user", acceptedUserId(user)),
    ...ifDefined("prompt_cache_key", promptCacheKey),
  };
}
