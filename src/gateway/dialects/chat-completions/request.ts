import * as z from "zod";
import type { Conversation, ResponseFormat } from "../../../core/conversation/conversation.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import type { ModelNameConfig } from "../../models/configured-models.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { parseCacheControl } from "../shared/cache-control.ts";
import { documentedChatOptions, documentedOptions } from "../shared/documented-options.ts";
import { jsonObject, optionalBoolean, optionalNumber } from "../shared/field-schemas.ts";
import { getChatOptions, getThinkingBudget, toGenerationOptions } from "../shared/generation-options.ts";
import { unknownValueError } from "../shared/members.ts";
import { PendingToolCalls } from "../shared/pending-tool-calls.ts";
import { readSessionId } from "../shared/session-id.ts";
import { toThinkingDefault, wantsThinking } from "../shared/thinking.ts";
import { parseWebSearch } from "../shared/web-search.ts";
import { messageSchema, toMessage } from "./content.ts";
import { type CallerTools, toolFields, toTools } from "./tools.ts";

/** Identifier of the style. */
export const DIALECT_ID = "chat-completions";

/**
 * The body of `POST /v1/chat/completions` (docs/contract/generations.md). Fields without effect here (`store`,
 * `service_tier` and similar) are accepted and ignored. Further options are read from the body: their unusable values
 * are ignored, not refused.
 */
export const chatRequestSchema = lazyLooseObject(() => ({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  ...toolFields(),
  parallel_tool_calls: optionalBoolean,
  temperature: z.unknown().optional(),
  top_p: optionalNumber,
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  max_tokens: optionalNumber,
  max_completion_tokens: optionalNumber,
  seed: optionalNumber,
  n: optionalNumber,
  logprobs: optionalBoolean,
  top_logprobs: optionalNumber,
  reasoning_effort: z.string().nullish(),
  reasoning: z.unknown().optional(),
  thinking: z.unknown().optional(),
  enable_thinking: optionalBoolean,
  web_search_options: jsonObject.nullish(),
  response_format: z.looseObject({ type: z.string(), json_schema: z.unknown().optional() }).nullish(),
}));

/** The body in the OpenAPI document, with the options that are not checked. */
export const documentedChatRequest = lazyLooseObject(() => ({
  ...chatRequestSchema.shape,
  ...documentedOptions(),
  ...documentedChatOptions(),
}));

export type ChatRequest = z.output<typeof chatRequestSchema>;

function toFormat(format: ChatRequest["response_format"]): ResponseFormat {
  const type = format?.type ?? "text";
  if (type === "text") return { type };
  if (type === "json_object") return { type: "json" };
  if (type !== "json_schema")
    throw unknownValueError(type, "response_format.type", ["text", "json_object", "json_schema"]);
  const parsed = z
    .looseObject({ name: z.string().optional(), schema: jsonObject.optional(), strict: optionalBoolean })
    .safeParse(format?.json_schema);
  if (!parsed.success || parsed.data.schema === undefined) return { type: "json" };
  const { name, schema, strict } = parsed.data;
  return {
    type: "json-schema",
    schema,
    ...(name === undefined ? {} : { name }),
    ...(strict === true ? { strict } : {}),
  };
}

/** A translated chat-completions request. */
export interface TranslatedChatRequest {
  readonly conversation: Conversation;
  readonly callerTools: CallerTools;
}

/**
 * Translates a chat-completions request.
 *
 * @throws GatewayError 400 that names the invalid field.
 */
export function translateChatRequest(body: ChatRequest, nameConfig: ModelNameConfig): TranslatedChatRequest {
  const model = resolveModel(body.model, nameConfig);
  const thinking = model.thinking && wantsThinking(body);
  const calls = new PendingToolCalls();
  const { tools, isLegacy, toolChoice } = toTools(body);
  const conversation: Conversation = {
    dialect: DIALECT_ID,
    contentField: "messages",
    model,
    messages: body.messages.map((message, index) => toMessage(message, `messages[${index}]`, calls)),
    tools: tools.definitions,
    ...readSessionId(body),
    toolChoice,
    parallelToolCalls: !isLegacy && (body.parallel_tool_calls ?? true),
    ...(body.web_search_options
      ? { webSearch: { ...parseWebSearch(body.web_search_options), isRequested: true } }
      : {}),
    ...parseCacheControl(body),
    thinking,
    ...toThinkingDefault(body),
    showReasoning: thinking,
    options: toGenerationOptions({
      ...getChatOptions(body),
      maxTokens: body.max_completion_tokens ?? body.max_tokens,
      reasoningEffort: body.reasoning_effort ?? (isObject(body.reasoning) ? body.reasoning["effort"] : null),
      thinkingBudget: getThinkingBudget(body.thinking),
      verbosity: body["verbosity"],
      logprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : undefined,
      n: body.n,
      modalities: body["modalities"],
    }),
    responseFormat: toFormat(body.response_format),
    stream: body.stream ?? false,
  };
  return { conversation, callerTools: { tools, isLegacy } };
}
