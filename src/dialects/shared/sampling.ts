import type { Sampling } from "../../conversation/conversation.ts";
import { isObject, type JsonObject } from "../../encoding/json.ts";
import { finite } from "./fields.ts";

/** Options as the request contains them, not validated. */
export type WishedSampling = { readonly [name in keyof Sampling]?: unknown };

/** Returns the options that have the same names in the chat-completions style and related styles. */
export function chatOptions(body: JsonObject): WishedSampling {
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
export function thinkingBudgetOf(thinking: unknown): unknown {
  return isObject(thinking) && thinking["type"] !== "disabled" ? thinking["budget_tokens"] : undefined;
}

/** Validates the options. Absent and unusable values are omitted. */
export function samplingOf(wished: WishedSampling): Sampling {
  const { stop, logitBias, logprobs, n, thinkingBudget, modalities } = wished;
  const stops = (typeof stop === "string" ? [stop] : texts(stop)) ?? [];
  const answers = finite(n);
  const budget = finite(thinkingBudget);
  const other = texts(modalities)?.filter((form) => form.toLowerCase() !== "text") ?? [];
  return {
    ...number("temperature", wished.temperature),
    ...number("topP", wished.topP),
    ...number("topK", wished.topK),
    ...number("minP", wished.minP),
    ...number("presencePenalty", wished.presencePenalty),
    ...number("frequencyPenalty", wished.frequencyPenalty),
    ...number("repetitionPenalty", wished.repetitionPenalty),
    ...number("maxTokens", wished.maxTokens),
    ...number("seed", wished.seed),
    ...number("logprobs", logprobs),
    ...text("reasoningEffort", wished.reasoningEffort),
    ...text("verbosity", wished.verbosity),
    ...text("user", wished.user),
    ...text("promptCacheKey", wished.promptCacheKey),
    ...(stops.length === 0 ? {} : { stop: stops }),
    ...(isObject(logitBias) ? biases(logitBias) : {}),
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

function number(name: NumberOption, value: unknown): Sampling {
  const found = finite(value);
  return found === undefined ? {} : { [name]: found };
}

function text(name: TextOption, value: unknown): Sampling {
  return typeof value === "string" && value !== "" ? { [name]: value } : {};
}

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}

function biases(stated: JsonObject): Sampling {
  const logitBias: Record<string, number> = {};
  for (const [token, value] of Object.entries(stated)) {
    const bias = finite(value);
    if (bias !== undefined) logitBias[token] = bias;
  }
  return Object.keys(logitBias).length === 0 ? {} : { logitBias };
}
