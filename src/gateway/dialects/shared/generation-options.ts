import type { GenerationOptions } from "../../../core/conversation/conversation.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { toFiniteNumber } from "./field-schemas.ts";

/** Options as the request contains them, not validated. */
export type UnvalidatedOptions = { readonly [name in keyof GenerationOptions]?: unknown };

/** Returns the options that have the same names in the chat-completions style and related styles. */
export function getChatOptions(body: JsonObject): UnvalidatedOptions {
  return {
    temperature: body["temperature"],
    topP: body["top_p"],
    topK: body["top_k"],
    minP: body["min_p"],
    presencePenalty: body["presence_penalty"],
    frequencyPenalty: body["frequency_penalty"],
    repetitionPenalty: body["repetition_penalty"],
    logitBias: body["logit_bias"],
    stop: body["stop"],
    seed: body["seed"],
    user: body["user"],
    promptCacheKey: body["prompt_cache_key"],
  };
}

/** Returns `budget_tokens` of an enabled `thinking`, or undefined. */
export function getThinkingBudget(thinking: unknown): unknown {
  return isObject(thinking) && thinking["type"] !== "disabled" ? thinking["budget_tokens"] : undefined;
}

/** Validates the options. Absent and unusable values are omitted. */
export function toGenerationOptions(options: UnvalidatedOptions): GenerationOptions {
  const { stop, logitBias, logprobs, n, thinkingBudget, modalities } = options;
  const stops = (typeof stop === "string" ? [stop] : stringItems(stop)) ?? [];
  const answers = toFiniteNumber(n);
  const budget = toFiniteNumber(thinkingBudget);
  const otherModalities = stringItems(modalities)?.filter((form) => form.toLowerCase() !== "text") ?? [];
  return {
    ...toNumberOption("temperature", options.temperature),
    ...toNumberOption("topP", options.topP),
    ...toNumberOption("topK", options.topK),
    ...toNumberOption("minP", options.minP),
    ...toNumberOption("presencePenalty", options.presencePenalty),
    ...toNumberOption("frequencyPenalty", options.frequencyPenalty),
    ...toNumberOption("repetitionPenalty", options.repetitionPenalty),
    ...toNumberOption("maxTokens", options.maxTokens),
    ...toNumberOption("seed", options.seed),
    ...toNumberOption("logprobs", logprobs),
    ...toTextOption("reasoningEffort", options.reasoningEffort),
    ...toTextOption("verbosity", options.verbosity),
    ...toTextOption("user", options.user),
    ...toTextOption("promptCacheKey", options.promptCacheKey),
    ...(stops.length === 0 ? {} : { stop: stops }),
    ...(isObject(logitBias) ? toLogitBias(logitBias) : {}),
    ...(budget === undefined || budget <= 0 ? {} : { thinkingBudget: budget }),
    ...(answers === undefined || answers <= 1 ? {} : { n: answers }),
    ...(otherModalities.length === 0 ? {} : { modalities: otherModalities }),
  };
}

type NumberOption =
  | "temperature"
  | "topP"
  | "topK"
  | "minP"
  | "presencePenalty"
  | "frequencyPenalty"
  | "repetitionPenalty"
  | "maxTokens"
  | "seed"
  | "logprobs";
type TextOption = "reasoningEffort" | "verbosity" | "user" | "promptCacheKey";

function toNumberOption(name: NumberOption, value: unknown): GenerationOptions {
  const number = toFiniteNumber(value);
  return number === undefined ? {} : { [name]: number };
}

function toTextOption(name: TextOption, value: unknown): GenerationOptions {
  return typeof value === "string" && value !== "" ? { [name]: value } : {};
}

function stringItems(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}

function toLogitBias(biases: JsonObject): GenerationOptions {
  const logitBias: Record<string, number> = {};
  for (const [token, value] of Object.entries(biases)) {
    const bias = toFiniteNumber(value);
    if (bias !== undefined) logitBias[token] = bias;
  }
  return Object.keys(logitBias).length === 0 ? {} : { logitBias };
}
