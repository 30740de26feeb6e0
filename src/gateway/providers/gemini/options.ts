import type { Sampling } from "../../../core/conversation/conversation.ts";
import { ifDefined } from "../json.ts";
import type { ProviderCapabilities } from "../provider.ts";
import type { WireGenerationConfig } from "./wire.ts";

/** The sampling options that the protocol has fields for. */
export const SUPPORTED_OPTIONS: ProviderCapabilities["options"] = new Set<keyof Sampling>([
  "temperature",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "seed",
  "stop",
  "maxTokens",
  "reasoningEffort",
  "thinkingBudget",
  "logprobs",
]);

/** Translates sampling options into the protocol's fields, except for thinking. */
export function optionFields(sampling: Sampling): WireGenerationConfig {
  const { stop = [], logprobs } = sampling;
  const stops = stop.filter((text) => text !== "");
  return {
    ...ifDefined("temperature", sampling.temperature),
    ...ifDefined("topP", sampling.topP),
    ...ifDefined("topK", sampling.topK),
    ...ifDefined("presencePenalty", sampling.presencePenalty),
    ...ifDefined("frequencyPenalty", sampling.frequencyPenalty),
    ...ifDefined("seed", sampling.seed),
    ...ifDefined("maxOutputTokens", sampling.maxTokens),
    ...(stops.length === 0 ? {} : { stopSequences: stops }),
    ...(logprobs === undefined ? {} : { responseLogprobs: true }),
    ...ifDefined("logprobs", logprobs || undefined),
  };
}
