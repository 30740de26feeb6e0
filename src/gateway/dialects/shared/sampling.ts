import type { Sampling } from "../../../core/conversation/conversation.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { toFiniteNumber } from "./field-schemas.ts";

/** Options as the request contains them, not validated. */
export type UnvalidatedSampling = { readonly [name in keyof Sampling]?: unknown };

/** Returns the options that have the same names in the chat-completions style and related styles. */
export function getChatOptions(body: JsonObject): UnvalidatedSampling {
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
export function toSampling(wished: UnvalidatedSampling): Sampling {
  const { stop, logitBias, logprobs, n, thinkingBudget, modalities } = wished;
  const stops = (typeof stop === "string" ? [stop] : stringItems(stop)) ?? [];
  const answers = toFiniteNumber(n);
  const budget = toFiniteNumber(thinkingBudget);
  const other = stringItems(modalities)?.filter((form) => form.toLowerCase() !== "text") ?? [];
  return {
    ...toNumberOption("temperature", wished.temperature),
    ...toNumberOption("topP", wished.topP),
    ...toNumberOption("topK", wished.topK),
    ...toNumberOption("minP", wished.minP),
    ...toNumberOption("presencePenalty", wished.presencePenalty),
    ...toNumberOption("frequencyPenalty", wished.frequencyPenalty),
    ...toNumberOption("repetitionPenalty", wished.repetitionPenalty),
    ...toNumberOption("maxTokens", wished.maxTokens),
    ...toNumberOption("seed", wished.seed),
    ...toNumberOption("logprobs", logprobs),
    ...toTextOption("reasoningEffort", wished.reasoningEffort),
    ...toTextOption("verbosity", wished.verbosity),
    ...toTextOption("user", wished.user),
    ...toTextOption("promptCacheKey", wished.promptCacheKey),
    ...(stops.length === 0 ? {} : { stop: stops }),
    ...(isObject(logitBias) ? toLogitBias(logitBias) : {}),
    ...(budget === undefined || budget <= 0 ? {} : { thinkingBudget: budget }),
    ...(answers === undefined || answers <= 1 ? {} : { n: answers }),
    ...(other.length === 0 ? {} : { modalities: other }),
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

function toNumberOption(name: NumberOption, value: unknown): Sampling {
  const found = toFiniteNumber(value);
  return found === undefined ? {} : { [name]: found };
}

function toTextOption(name: TextOption, value: unknown): Sampling {
  return typeof value === "string" && value !== "" ? { [name]: value } : {};
}

function stringItems(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}

function toLogitBias(stated: JsonObject): Sampling {
  const logitBias: Record<string, number> = {};
  for (const [token, value] of Object.entries(stated)) {
    const bias = toFiniteNumber(value);
    if (bias !== undefined) logitBias[token] = bias;
  }
  return Object.keys(logitBias).length === 0 ? {} : { logitBias };
}
