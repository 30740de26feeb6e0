import type { Sampling } from "../../conversation/conversation.ts";
import { userName } from "../bearer-backend.ts";
import { given } from "../json.ts";
import type { Abilities } from "../provider.ts";
import type { WireRequest } from "./wire.ts";

/** What the protocol has fields for. It has none for stop sequences: those are looked for here. */
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

/** Options as the protocol's fields; what shapes thinking and text is not among them. */
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
