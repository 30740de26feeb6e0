import type { Sampling } from "../../conversation/conversation.ts";
import { userName } from "../bearer-backend.ts";
import { given } from "../json.ts";
import type { Abilities } from "../provider.ts";
import type { WireRequest } from "./wire.ts";

/** The sampling options that the protocol has fields for. Stop sequences have none: `stop-sequences.ts` applies them. */
export const OPTIONS: Abilities["options"] = new Set<keyof Sampling>([
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
    ...given("temperature", sampling.temperature),
    ...given("top_p", sampling.topP),
    ...given("presence_penalty", sampling.presencePenalty),
    ...given("frequency_penalty", sampling.frequencyPenalty),
    ...given("max_output_tokens", sampling.maxTokens),
    ...given("top_logprobs", logprobs || undefined),
    ...given("user", userName(user)),
    ...given("prompt_cache_key", promptCacheKey),
  };
}
