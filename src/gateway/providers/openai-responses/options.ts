import type { GenerationOptions } from "../../../core/conversation/conversation.ts";
import { acceptedUserId } from "../backends/bearer-backend.ts";
import { ifDefined } from "../json.ts";
import type { ProviderCapabilities } from "../provider.ts";
import type { WireRequest } from "./wire.ts";

/** The generation options that the protocol has fields for. Stop sequences have none: `stop-sequences.ts` applies them. */
export const SUPPORTED_OPTIONS: ProviderCapabilities["options"] = new Set<keyof GenerationOptions>([
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

/** Translates generation options into the protocol's fields, except for thinking and the text format. */
export function optionFields(options: GenerationOptions): Partial<WireRequest> {
  const { user, promptCacheKey, logprobs } = options;
  return {
    ...ifDefined("temperature", options.temperature),
    ...ifDefined("top_p", options.topP),
    ...ifDefined("presence_penalty", options.presencePenalty),
    ...ifDefined("frequency_penalty", options.frequencyPenalty),
    ...ifDefined("max_output_tokens", options.maxTokens),
    ...ifDefined("top_logprobs", logprobs || undefined),
    ...ifDefined("user", acceptedUserId(user)),
    ...ifDefined("prompt_cache_key", promptCacheKey),
  };
}
