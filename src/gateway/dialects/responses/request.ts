import * as z from "zod";
import type { Conversation, Message, ResponseFormat } from "../../../core/conversation/conversation.ts";
import type { WebSearch } from "../../../core/conversation/web-search.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { ModelNameConfig } from "../../models/configured-models.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { DeclaredTools } from "../shared/declared-tools.ts";
import { jsonObject, optionalBoolean, optionalNumber, unsupportedField } from "../shared/field-schemas.ts";
import { getChatOptions, getThinkingBudget, toGenerationOptions } from "../shared/generation-options.ts";
import { optionalString, unknownValueError } from "../shared/members.ts";
import { readSessionId } from "../shared/session-id.ts";
import { toThinkingDefault, wantsThinking } from "../shared/thinking.ts";
import { toToolChoice } from "../shared/tool-choice.ts";
import { MessageBuilder } from "./message-builder.ts";
import { DIALECT_ID } from "./names.ts";

/** Value of `include` that asks for log probabilities. */
const LOGPROBS_INCLUDE = "message.output_text.logprobs";

/**
 * The body of `POST /v1/responses` (docs/contract/generations.md). Fields without effect here (`client_metadata` and
 * similar) are accepted and ignored. Items and tools are validated one by one, so that an unknown type is not an error.
 */
export const responsesRequestSchema = lazyLooseObject(() => ({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(z.unknown()), jsonObject]).nullish(),
  messages: z.array(z.unknown()).nullish(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: unsupportedField("is not supported: send the items, or previous_response_id"),
  prompt: unsupportedField("is not supported: templates are not kept here, send their text"),
  background: z.literal(false, "is not supported: a response is answered at once").nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: optionalBoolean,
  temperature: z.unknown().optional(),
  top_p: optionalNumber,
  max_output_tokens: optionalNumber,
  top_logprobs: optionalNumber,
  reasoning: z.unknown().optional(),
  reasoning_effort: z.string().nullish(),
  thinking: z.unknown().optional(),
  enable_thinking: optionalBoolean,
  text: z.looseObject({ format: jsonObject.nullish(), verbosity: z.string().nullish() }).nullish(),
  metadata: jsonObject.nullish(),
}));

export type ResponsesRequest = z.output<typeof responsesRequestSchema>;

/** Returns the options of the vendor's web search tool if the request declares it and `tool_choice` allows tools. */
function findWebSearch({ webSearch }: DeclaredTools, choice: unknown): { webSearch?: WebSearch } {
  if (webSearch === undefined || choice === "none") return {};
  const isForced = isObject(choice) && String(choice["type"]).startsWith("web_search");
  return { webSearch: isForced ? { ...webSearch, isRequested: true } : webSearch };
}

/** A translated responses request. */
export interface TranslatedResponsesRequest {
  readonly conversation: Conversation;
  readonly tools: DeclaredTools;
  /** The messages that a later turn continues: all messages except the instructions. */
  readonly history: readonly Message[];
}

/**
 * Returns the items of a request in order: `input`, or `messages` if there is no `input`.
 *
 * @throws GatewayError 400 if the request has neither.
 */
export function getInputItems(body: ResponsesRequest): readonly unknown[] {
  const input = body.input ?? body.messages;
  if (input === null || input === undefined) {
    throw invalidRequest("one of input and messages is required", "input");
  }
  return Array.isArray(input) ? input : [input];
}

/**
 * Returns whether the caller wants to see reasoning (docs/contract.md, tool rule 9). The model thinks unless the
 * request disables it. Like the real service, the gateway shows reasoning only to callers that set a reasoning option.
 */
function wantsReasoning(body: ResponsesRequest): boolean {
  const { reasoning, thinking } = body;
  if (typeof body.reasoning_effort === "string" || body.enable_thinking === true) return true;
  if (isObject(thinking) || thinking === true) return true;
  if (!isObject(reasoning)) return reasoning === true || typeof reasoning === "string";
  if (reasoning["summary"] === "none") return false;
  return Object.values(reasoning).some((value) => value !== null);
}

function parseEffort(body: ResponsesRequest): string | undefined {
  const { reasoning } = body;
  const effort = isObject(reasoning) ? optionalString(reasoning, "effort") : undefined;
  return effort ?? body.reasoning_effort ?? undefined;
}

/** Returns the number of alternatives per token, 0 if only `include` asks for log probabilities, else undefined. */
function parseLogprobs(body: ResponsesRequest): number | undefined {
  const topLogprobs = body.top_logprobs ?? 0;
  const included = Array.isArray(body["include"]) && body["include"].includes(LOGPROBS_INCLUDE);
  return topLogprobs > 0 || included ? topLogprobs : undefined;
}

function toFormat(format: JsonObject | null | undefined): ResponseFormat {
  const type = format?.["type"] ?? "text";
  if (type === "text") return { type };
  if (type === "json_object") return { type: "json" };
  if (!format || type !== "json_schema")
    throw unknownValueError(type, "text.format.type", ["text", "json_object", "json_schema"]);
  const nested = isObject(format["json_schema"]) ? format["json_schema"] : format;
  const schema = nested["schema"];
  if (!isObject(schema)) throw invalidRequest("text.format.schema must be an object", "text.format.schema");
  const name = optionalString(nested, "name");
  const strict = nested["strict"] === true ? ({ strict: true } as const) : {};
  return { type: "json-schema", schema, ...(name === undefined ? {} : { name }), ...strict };
}

/** Adds the tools that input items declare: tools found by a search, or added later. */
function addItemTools(items: readonly unknown[], field: string, tools: DeclaredTools): void {
  for (const [index, item] of items.entries()) {
    if (!isObject(item)) continue;
    if (item["type"] !== "additional_tools" && item["type"] !== "tool_search_output") continue;
    tools.add(item["tools"], `${field}[${index}].tools`);
  }
}

/**
 * Translates a responses request.
 *
 * @param items the request's items, with references resolved.
 * @param previousMessages the messages of the conversation that the request continues.
 * @throws GatewayError 400 that names the invalid field.
 */
export function translateResponsesRequest(
  body: ResponsesRequest,
  items: readonly unknown[],
  previousMessages: readonly Message[],
  nameConfig: ModelNameConfig,
): TranslatedResponsesRequest {
  const model = resolveModel(body.model, nameConfig);
  const field = body.input === null || body.input === undefined ? "messages" : "input";
  const tools = new DeclaredTools();
  tools.add(body.tools, "tools");
  addItemTools(items, field, tools);
  const builder = new MessageBuilder(tools, previousMessages);
  for (const [index, item] of items.entries()) builder.add(item, `${field}[${index}]`);
  const history = builder.finish();
  if (history.length === 0) throw invalidRequest(`${field} holds no message`, field);
  const { instructions } = body;
  const system: Message[] =
    instructions === null || instructions === undefined || instructions === ""
      ? []
      : [{ role: "system", parts: [{ type: "text", text: instructions }] }];
  const thinking = model.thinking && wantsThinking(body);
  const conversation: Conversation = {
    dialect: DIALECT_ID,
    contentField: "input",
    model,
    messages: [...system, ...history],
    ...readSessionId(body),
    toolChoice: toToolChoice(body.tool_choice, tools),
    tools: tools.definitions,
    parallelToolCalls: body.parallel_tool_calls ?? true,
    ...findWebSearch(tools, body.tool_choice),
    thinking,
    ...toThinkingDefault(body),
    showReasoning: thinking && wantsReasoning(body),
    options: toGenerationOptions({
      ...getChatOptions(body),
      maxTokens: body.max_output_tokens,
      reasoningEffort: parseEffort(body),
      thinkingBudget: getThinkingBudget(body.thinking),
      verbosity: body.text?.verbosity,
      logprobs: parseLogprobs(body),
    }),
    optionNames: { logprobs: "top_logprobs" },
    responseFormat: toFormat(body.text?.format),
    stream: body.stream ?? false,
  };
  return { conversation, tools, history };
}
