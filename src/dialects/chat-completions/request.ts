import * as z from "zod";
import type { Conversation, ResponseFormat } from "../../conversation/conversation.ts";
import { isObject } from "../../encoding/json.ts";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";
import type { Naming } from "../../models/naming.ts";
import { resolveModel } from "../../models/resolve.ts";
import { jsonObject, optionalBoolean, optionalNumber } from "../shared/fields.ts";
import { unknownFormat } from "../shared/members.ts";
import { OpenCalls } from "../shared/open-calls.ts";
import { chatOptions, samplingOf, thinkingBudgetOf } from "../shared/sampling.ts";
import { wantsThinking } from "../shared/thinking.ts";
import { webSearchOf } from "../shared/web-search.ts";
import { messageSchema, toMessage } from "./content.ts";
import { type CalledAs, toolFields, toTools } from "./tools.ts";

/** Identifier of the style. */
export const ID = "chat-completions";

/**
 * The body of `POST /v1/chat/completions` (contract). Fields without effect here (`store`, `metadata` and similar) are
 * accepted and ignored.
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

export type ChatRequest = z.output<typeof chatRequestSchema>;

function toFormat(format: ChatRequest["response_format"]): ResponseFormat {
  const type = format?.type ?? "text";
  if (type === "text") return { type };
  if (type === "json_object") return { type: "json" };
  if (type !== "json_schema") throw unknownFormat(type, "response_format.type");
  const declared = z
    .looseObject({ name: z.string().optional(), schema: jsonObject.optional(), strict: optionalBoolean })
    .safeParse(format?.json_schema);
  if (!declared.success || declared.data.schema === undefined) return { type: "json" };
  const { name, schema, strict } = declared.data;
  return {
    type: "json-schema",
    schema,
    ...(name === undefined ? {} : { name }),
    ...(strict === true ? { strict } : {}),
  };
}

/** A translated chat-completions request. */
export interface ChatTurn {
  readonly conversation: Conversation;
  readonly called: CalledAs;
}

/**
 * Translates a chat-completions request.
 *
 * @throws GatewayError 400 that names the invalid field.
 */
export function toTurn(body: ChatRequest, naming: Naming): ChatTurn {
  const model = resolveModel(body.model, naming);
  const thinking = model.thinking && wantsThinking(body);
  const calls = new OpenCalls();
  const { tools, legacy, toolChoice } = toTools(body);
  const conversation: Conversation = {
    dialect: ID,
    contentField: "messages",
    model,
    messages: body.messages.map((message, index) => toMessage(message, `messages[${index}]`, calls)),
    tools: tools.definitions,
    toolChoice,
    parallelToolCalls: !legacy && (body.parallel_tool_calls ?? true),
    ...(body.web_search_options
      ? { webSearch: { ...webSearchOf(body.web_search_options), asked: true } }
      : {}),
    thinking,
    showReasoning: thinking,
    sampling: samplingOf({
      ...chatOptions(body),
      maxTokens: body.max_completion_tokens ?? body.max_tokens,
      reasoningEffort: body.reasoning_effort ?? (isObject(body.reasoning) ? body.reasoning["effort"] : null),
      thinkingBudget: thinkingBudgetOf(body.thinking),
      verbosity: body["verbosity"],
      logprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : undefined,
      n: body.n,
      modalities: body["modalities"],
    }),
    responseFormat: toFormat(body.response_format),
    stream: body.stream ?? false,
  };
  return { conversation, called: { tools, legacy } };
}
