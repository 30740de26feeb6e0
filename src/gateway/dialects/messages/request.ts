import * as z from "zod";
import type { Conversation, Message, ResponseFormat } from "../../../core/conversation/conversation.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { ModelNameConfig } from "../../models/configured-models.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { parseCacheControl } from "../shared/cache-control.ts";
import { jsonObject, toFiniteNumber } from "../shared/field-schemas.ts";
import { getThinkingBudget, toGenerationOptions } from "../shared/generation-options.ts";
import { requireObject, unknownValueError } from "../shared/members.ts";
import { readSessionId } from "../shared/session-id.ts";
import { toThinkingDefault, wantsThinking } from "../shared/thinking.ts";
import { toAssistantMessage, toParts, toUserMessages } from "./content.ts";
import { findDeferredTools } from "./deferred-tools.ts";
import { DIALECT_ID } from "./names.ts";
import { findWebSearch, toolChoiceSchema, toolSchema, toToolChoice, toTools } from "./tools.ts";

const contentSchema = () =>
  z
    .union([z.string(), z.array(z.looseObject({ type: z.string() }))], {
      error: "must be a string or an array of content blocks",
    })
    .nullish();

const formatSchema = lazyLooseObject(() => ({ type: z.string(), schema: jsonObject.nullish() }));

/**
 * The body of `POST /vendorb/v1/messages` (docs/contract/generations.md). Fields without effect here (`service_tier`,
 * `context_management` and similar) are accepted and ignored. `max_tokens` is only a hint: the contract forbids
 * truncating the answer at it.
 */
export const messageRequestSchema = lazyLooseObject(() => ({
  model: z.string().min(1),
  messages: z.array(z.looseObject({ role: z.string(), content: contentSchema() })).min(1),
  system: contentSchema(),
  max_tokens: z.unknown().optional(),
  stream: z.boolean().nullish(),
  tools: z.array(toolSchema).nullish(),
  tool_choice: toolChoiceSchema().nullish(),
  thinking: z.unknown().optional(),
  temperature: z.unknown().optional(),
  top_p: z.unknown().optional(),
  stop_sequences: z.array(z.string()).nullish(),
  output_config: z.looseObject({ effort: z.string().nullish(), format: formatSchema.nullish() }).nullish(),
  output_format: formatSchema.nullish(),
  thread: z.unknown().optional(),
}));

export type MessageRequest = z.output<typeof messageRequestSchema>;

/**
 * Rejects server-side threads, which the gateway does not store. On exactly this error, the SDK sends the whole
 * conversation instead and continues (docs/clients.md, assertion 35). Ignoring the field would silently lose the history.
 */
function rejectThread(thread: unknown): void {
  if (thread === undefined || thread === null) return;
  throw new GatewayError(400, "threads are not supported: send the whole conversation", {
    code: "thread_unsupported",
    param: "thread",
    details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
  });
}

function toMessages(body: MessageRequest): Message[] {
  const messages: Message[] = [];
  const system = toParts(body.system, "system");
  if (system.length > 0) messages.push({ role: "system", parts: system });
  body.messages.forEach(({ role, content }, index) => {
    const fieldPath = `messages[${index}].content`;
    switch (role) {
      case "user":
        // Push in a loop: spreading a long array into `push` exceeds the maximum number of arguments.
        for (const message of toUserMessages(content, fieldPath)) messages.push(message);
        break;
      case "assistant":
        messages.push(toAssistantMessage(content, fieldPath));
        break;
      // Newer agents send later instructions between the messages (docs/clients.md, assertion 29).
      case "system":
        messages.push({ role: "system", parts: toParts(content, fieldPath) });
        break;
      default:
        throw unknownValueError(role, `messages[${index}].role`, ["user", "assistant", "system"]);
    }
  });
  return messages;
}

/** Reads the format of the answer from the newer field `output_config.format`, or from the older `output_format`. */
function toFormat({ output_config: config, output_format: older }: MessageRequest): ResponseFormat {
  const format = config?.format ?? older;
  const fieldPath = format === config?.format ? "output_config.format" : "output_format";
  if (!format) return { type: "text" };
  if (format.type !== "json_schema")
    throw unknownValueError(format.type, `${fieldPath}.type`, ["json_schema"]);
  return { type: "json-schema", schema: requireObject(format, "schema", fieldPath) };
}

const shownThinkingSchema = once(() =>
  z.union([
    z.literal(true),
    z.looseObject({ type: z.literal(["enabled", "adaptive"]), display: z.string().nullish() }),
  ]),
);

/**
 * Returns whether the caller wants to read the model's thinking: `thinking` is `enabled` or `adaptive`, and `display` is
 * not `omitted`. A caller that sends no `thinking` reads the first block as the answer.
 */
function wantsVisibleThinking(thinking: unknown): boolean {
  const { success, data } = shownThinkingSchema().safeParse(thinking);
  return success && (data === true || data.display !== "omitted");
}

/**
 * Translates a message-style request.
 *
 * @throws GatewayError 400 that names the invalid field.
 */
export function toConversation(body: MessageRequest, nameConfig: ModelNameConfig): Conversation {
  rejectThread(body.thread);
  const model = resolveModel(body.model, nameConfig);
  const effort = body.output_config?.effort;
  const thinkingFields = { thinking: body.thinking, reasoning_effort: effort };
  const thinking = model.thinking && wantsThinking(thinkingFields);
  const choice = body.tool_choice;
  const declared = body.tools ?? [];
  const deferred = findDeferredTools(declared, body.messages, choice);
  const tools = toTools(declared).filter(({ name }) => !deferred.has(name));
  const expectedTokens = toFiniteNumber(body.max_tokens);
  const single = typeof choice === "object" && choice?.disable_parallel_tool_use === true;
  return {
    dialect: DIALECT_ID,
    contentField: "messages",
    model,
    messages: toMessages(body),
    ...readSessionId(body),
    tools,
    toolChoice: toToolChoice(choice, declared, tools),
    parallelToolCalls: !single,
    ...findWebSearch(declared, choice),
    ...parseCacheControl(body),
    thinking,
    ...toThinkingDefault(thinkingFields),
    showReasoning: thinking && wantsVisibleThinking(body.thinking),
    options: toGenerationOptions({
      temperature: body.temperature,
      // temperature wins over top_p when both are given (docs/contract/generations.md).
      topP: body.temperature === undefined || body.temperature === null ? body.top_p : undefined,
      topK: body["top_k"],
      stop: body.stop_sequences,
      reasoningEffort: effort,
      thinkingBudget: getThinkingBudget(body.thinking),
      user: isObject(body["metadata"]) ? body["metadata"]["user_id"] : undefined,
    }),
    ...(expectedTokens === undefined ? {} : { expectedTokens }),
    responseFormat: toFormat(body),
    stream: body.stream ?? false,
  };
}
