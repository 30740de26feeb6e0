import type { GenerationOptions } from "../../../core/conversation/conversation.ts";
import { ifDefined } from "../json.ts";
import type { ProviderCapabilities } from "../provider.ts";
import type { WireGenerationConfig } from "./wire.ts";

/** The generation options that the protocol has fields for. */
export const SUPPORTED_OPTIONS: ProviderCapabilities["options"] = new Set<keyof GenerationOptions>([
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

/** Translates generation options into the protocol's fields, except for thinking. */
export function optionFields(options: GenerationOptions): WireGenerationConfig {
  const { stop = [], logprobs } = options;
  const stops = stop.filter((text) => text !== "");
  return {
    ...ifDefined("temperature", options.temperature),
    ...ifDefined("topP", options.topP),
    ...ifDefined("topK", options.topK),
    ...ifDefined("presencePenalty", options.presencePenalty),
    ...ifDefined("frequencyPenalty", options.frequencyPenalty),
    ...ifDefined("seed", options.seed),
    ...ifDefined("maxOutputTokens", options.maxTokens),
    ...(stops.length === 0 ? {} : { stopSequences: stops }),
    ...(logprobs === undefined ? {} : { responseLogprobs: true }),
    ...ifDefined("logprobs", logprobs || undefined),
  };
}
