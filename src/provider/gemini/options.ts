import type { Sampling } from "../../conversation/conversation.ts";
import { given } from "../json.ts";
import type { Abilities } from "../provider.ts";
import type { WireConfig } from "./wire.ts";

/** The sampling options that the protocol has fields for. */
export const OPTIONS: Abilities["options"] = new Set<keyof Sampling>([
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
export function optionFields(sampling: Sampling): WireConfig {
  const { stop = [], logprobs } = sampling;
  const stops = stop.filter((text) => text !== "");
  return {
    ...given("temperature", sampling.temperature),
    ...given("topP", sampling.topP),
    ...given("topK", sampling.topK),
    ...given("presencePenalty", sampling.presencePenalty),
    ...given("frequencyPenalty", sampling.frequencyPenalty),
    ...given("seed", sampling.seed),
    ...given("maxOutputTokens", sampling.maxTokens),
    ...(stops.length === 0 ? {} : { stopSequences: stops }),
    ...(logprobs === undefined ? {} : { responseLogprobs: true }),
    ...given("logprobs", logprobs || undefined),
  };
}
