import * as z from "zod";
import type { Conversation, Message, ResponseFormat } from "../../../core/conversation/conversation.ts";
import { isObject } from "../../../core/encoding/json.ts";
import type { ModelNameConfig } from "../../models/configured-models.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { optionalBoolean, unsupportedField } from "../shared/field-schemas.ts";
import { toGenerationOptions } from "../shared/generation-options.ts";
import { unknownValueError } from "../shared/members.ts";
import { PendingToolCalls } from "../shared/pending-tool-calls.ts";
import { contentsSchema, systemSchema, toMessages, toSystemMessage } from "./content.ts";
import { camelOrSnakeObject } from "./field-names.ts";
import { toJsonSchema } from "./json-schema.ts";
import { DIALECT_ID } from "./names.ts";
import { findWebSearch, toolConfigSchema, toolsSchema, toTools } from "./tools.ts";

const thinkingSchema = camelOrSnakeObject(() => ({
  includeThoughts: optionalBoolean,
  thinkingBudget: z.unknown().optional(),
  thinkingLevel: z.string().nullish(),
}));

const generationConfigSchema = camelOrSnakeObject(() => ({
  temperature: z.unknown().optional(),
  topP: z.unknown().optional(),
  maxOutputTokens: z.unknown().optional(),
  topK: z.unknown().optional(),
  presencePenalty: z.unknown().optional(),
  frequencyPenalty: z.unknown().optional(),
  candidateCount: z.unknown().optional(),
  responseModalities: z.unknown().optional(),
  responseLogprobs: optionalBoolean,
  logprobs: z.unknown().optional(),
  seed: z.unknown().optional(),
  stopSequences: z.array(z.string()).nullish(),
  responseMimeType: z.string().nullish(),
  responseSchema: z.unknown().optional(),
  responseJsonSchema: z.unknown().optional(),
  thinkingConfig: thinkingSchema.nullish(),
}));

/** Names, in this style, of options that a provider may not support. */
const OPTION_NAMES = {
  n: "generationConfig.candidateCount",
  logprobs: "generationConfig.responseLogprobs",
  modalities: "generationConfig.responseModalities",
};

type GenerationConfig = z.output<typeof generationConfigSchema>;

/**
 * The body of `:generateContent` and `:streamGenerateContent` (docs/contract/generations.md). Fields without effect
 * here (`safetySettings` and similar) are accepted and ignored.
 */
export const contentRequestSchema = camelOrSnakeObject(() => ({
  contents: contentsSchema,
  systemInstruction: systemSchema.nullish(),
  cachedContent: unsupportedField("is not supported: nothing is cached here, send the contents"),
  tools: toolsSchema.nullish(),
  toolConfig: toolConfigSchema.nullish(),
  generationConfig: generationConfigSchema.nullish(),
})).describe("Every member of this style's own may be named likeThis or like_this.");

export type ContentRequest = z.output<typeof contentRequestSchema>;

/** Supported media types of an answer. */
const ANSWER_MEDIA_TYPES = ["text/plain", "application/json", "text/x.enum"];

function toFormat(config: GenerationConfig | null | undefined): ResponseFormat {
  if (config?.responseMimeType && !ANSWER_MEDIA_TYPES.includes(config.responseMimeType)) {
    const field = "generationConfig.responseMimeType";
    throw unknownValueError(config.responseMimeType, field, ANSWER_MEDIA_TYPES);
  }
  if (isObject(config?.responseJsonSchema)) return { type: "json-schema", schema: config.responseJsonSchema };
  // An enumeration is answered with the plain word, not with JSON.
  if (config?.responseMimeType === "text/x.enum") return { type: "text" };
  if (isObject(config?.responseSchema)) {
    return { type: "json-schema", schema: toJsonSchema(config.responseSchema) };
  }
  return config?.responseMimeType === "application/json" ? { type: "json" } : { type: "text" };
}

/** Returns the part of a resource name after the last `models/`: the name of the model. */
export function parseModelName(path: string): string {
  return path.replace(/^(?:.*\/)?models\//, "");
}

function requestsThinking(config: GenerationConfig["thinkingConfig"]): boolean {
  const { includeThoughts, thinkingBudget, thinkingLevel } = config ?? {};
  return includeThoughts === true || (thinkingBudget ?? thinkingLevel ?? null) !== null;
}

/**
 * Translates a content-generation request. `path` names the model. Thinking is on unless the budget is 0. Thoughts are
 * shown only if the request sets `includeThoughts`: other clients read the first part as the answer.
 *
 * @throws GatewayError 400 that names the invalid field.
 */
export function toConversation(
  body: ContentRequest,
  path: string,
  stream: boolean,
  nameConfig: ModelNameConfig,
): Conversation {
  const model = resolveModel(parseModelName(path), nameConfig);
  const config = body.generationConfig;
  const thinkingConfig = config?.thinkingConfig;
  const thinking = model.thinking && Number(thinkingConfig?.thinkingBudget ?? -1) !== 0;
  const calls = new PendingToolCalls();
  const system: Message[] = body.systemInstruction
    ? [toSystemMessage(body.systemInstruction, "systemInstruction")].filter(({ parts }) => parts.length > 0)
    : [];
  const turns = body.contents.flatMap((content, index) => toMessages(content, `contents[${index}]`, calls));
  return {
    dialect: DIALECT_ID,
    contentField: "contents",
    model,
    messages: [...system, ...turns],
    ...toTools(body.tools, body.toolConfig),
    parallelToolCalls: true,
    ...findWebSearch(body.tools),
    thinking,
    ...(requestsThinking(thinkingConfig) ? {} : { thinkingDefault: "model" as const }),
    showReasoning: thinking && thinkingConfig?.includeThoughts === true,
    options: toGenerationOptions({
      temperature: config?.temperature,
      topP: config?.topP,
      topK: config?.topK,
      presencePenalty: config?.presencePenalty,
      frequencyPenalty: config?.frequencyPenalty,
      stop: config?.stopSequences,
      maxTokens: config?.maxOutputTokens,
      seed: config?.seed,
      reasoningEffort: thinkingConfig?.thinkingLevel?.toLowerCase(),
      thinkingBudget: thinkingConfig?.thinkingBudget,
      logprobs: config?.responseLogprobs === true ? (config.logprobs ?? 0) : undefined,
      n: config?.candidateCount,
      modalities: config?.responseModalities,
    }),
    optionNames: OPTION_NAMES,
    responseFormat: toFormat(config),
    stream,
  };
}
