import * as z from "zod";
import type {
  Conversation,
  Message,
  Part,
  ResponseFormat,
  ToolCall,
} from "../../conversation/conversation.ts";
import type { ToolChoice, ToolDefinition } from "../../conversation/tool.ts";
import { isObject } from "../../encoding/json.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { resolveModel } from "../../models/resolve.ts";
import { inlineOrUrl } from "../shared/attachments.ts";
import { jsonObject, optionalBoolean, optionalNumber } from "../shared/fields.ts";
import { objectMember, stringMember, unknownContent, unknownFormat } from "../shared/members.ts";
import { chatOptions, samplingOf, thinkingBudgetOf } from "../shared/sampling.ts";
import { wantsThinking } from "../shared/thinking.ts";

/** The name of the style. */
export const ID = "chat-completions";

const partSchema = z.looseObject({ type: z.string() });
const contentSchema = z.union([z.string(), z.array(partSchema)]).nullish();

/** One chat-completions message; the responses style accepts them too. */
export const messageSchema = z.looseObject({
  role: z.string(),
  content: contentSchema,
  name: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string().nullish(),
        function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }).optional(),
        custom: z.looseObject({ name: z.string(), input: z.unknown().optional() }).optional(),
      }),
    )
    .nullish(),
  function_call: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }).nullish(),
});

const toolSchema = z.looseObject({
  type: z.string().optional(),
  function: z
    .looseObject({
      name: z.string().min(1),
      description: z.string().nullish(),
      parameters: jsonObject.nullish(),
      strict: z.boolean().nullish(),
    })
    .optional(),
  custom: z.looseObject({ name: z.string().min(1), description: z.string().nullish() }).optional(),
});

/**
 * The body of `POST /v1/chat/completions` (contract). Fields that change nothing here (store, metadata and the like) are
 * accepted and ignored.
 */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z.array(toolSchema).nullish(),
  tool_choice: z.unknown().optional(),
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
  response_format: z.looseObject({ type: z.string(), json_schema: z.unknown().optional() }).nullish(),
});

export type ChatRequest = z.output<typeof chatRequestSchema>;

function filePart(file: Record<string, unknown>, where: string): Part {
  const filename = typeof file["filename"] === "string" ? { filename: file["filename"] } : {};
  if (typeof file["file_id"] === "string") {
    return { type: "file", source: { kind: "file", fileId: file["file_id"] }, ...filename };
  }
  return { type: "file", source: inlineOrUrl(stringMember(file, "file_data", where), where), ...filename };
}

/** One content part (client assertions 1 and 3). */
function toPart(part: z.output<typeof partSchema>, where: string): Part {
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
      return { type: "text", text: stringMember(part, "text", where) };
    case "refusal":
      return { type: "text", text: stringMember(part, "refusal", where) };
    case "image_url": {
      if (typeof part["image_url"] === "string") {
        return { type: "image", source: inlineOrUrl(part["image_url"], `${where}.image_url`) };
      }
      const image = objectMember(part, "image_url", where);
      const source = inlineOrUrl(stringMember(image, "url", `${where}.image_url`), `${where}.image_url.url`);
      return typeof image["detail"] === "string"
        ? { type: "image", source, detail: image["detail"] }
        : { type: "image", source };
    }
    case "file":
      return filePart(objectMember(part, "file", where), `${where}.file`);
    default:
      throw unknownContent(part.type, where);
  }
}

function toParts(content: z.output<typeof contentSchema>, where: string): Part[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map((part, index) => toPart(part, `${where}[${index}]`));
}

/** Arguments as JSON text; some clients send an object. */
function argumentText(value: unknown): string {
  if (typeof value === "string") return value.trim() === "" ? "{}" : value;
  return value === undefined || value === null ? "{}" : JSON.stringify(value);
}

function toolCallsOf(message: z.output<typeof messageSchema>, where: string): ToolCall[] {
  const calls = (message.tool_calls ?? []).map((call, index): ToolCall => {
    const id = call.id ?? `call_${where}_${index}`;
    if (call.function !== undefined) {
      return { id, name: call.function.name, arguments: argumentText(call.function.arguments) };
    }
    if (call.custom !== undefined) {
      return { id, name: call.custom.name, arguments: JSON.stringify({ input: call.custom.input ?? "" }) };
    }
    throw invalidRequest(
      `${where}.tool_calls[${index}].function is required`,
      `${where}.tool_calls[${index}]`,
    );
  });
  const legacy = message.function_call;
  if (legacy !== null && legacy !== undefined && calls.length === 0) {
    calls.push({ id: `call_${legacy.name}`, name: legacy.name, arguments: argumentText(legacy.arguments) });
  }
  return calls;
}

/** Translates one message; `where` names it in errors. Throws 400. */
export function toMessage(message: z.output<typeof messageSchema>, where: string): Message {
  const parts = toParts(message.content, `${where}.content`);
  const name = message.name ?? undefined;
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", parts };
    case "user":
      return name === undefined ? { role: "user", parts } : { role: "user", parts, name };
    case "assistant": {
      const reasoning = message.reasoning_content ?? message.reasoning ?? undefined;
      const toolCalls = toolCallsOf(message, where);
      return reasoning === undefined
        ? { role: "assistant", parts, toolCalls }
        : { role: "assistant", parts, toolCalls, reasoning };
    }
    case "tool":
    case "function": {
      const callId = message.tool_call_id ?? (name === undefined ? "" : `call_${name}`);
      return name === undefined ? { role: "tool", callId, parts } : { role: "tool", callId, parts, name };
    }
    default:
      throw invalidRequest(`${where}.role ${JSON.stringify(message.role)} is not known`, `${where}.role`);
  }
}

function toTools(tools: ChatRequest["tools"]): ToolDefinition[] {
  return (tools ?? []).flatMap((tool): ToolDefinition[] => {
    const declared = tool.function ?? tool.custom;
    if (declared === undefined) return [];
    const definition: ToolDefinition = { name: declared.name };
    if (typeof declared.description === "string") definition.description = declared.description;
    if (tool.function?.parameters !== undefined && tool.function.parameters !== null) {
      definition.parameters = tool.function.parameters;
    }
    if (tool.custom !== undefined) {
      definition.parameters = {
        type: "object",
        properties: { input: { type: "string" } },
        required: ["input"],
      };
    }
    if (tool.function?.strict === true) definition.strict = true;
    return [definition];
  });
}

const choiceSchema = z.union([
  z.enum(["auto", "none", "required", "any"]),
  z.looseObject({
    type: z.string().optional(),
    function: z.looseObject({ name: z.string() }).optional(),
    name: z.string().optional(),
  }),
]);

/** `tool_choice` in all forms that clients send. Throws 400 for anything else. */
export function toToolChoice(value: unknown): ToolChoice {
  if (value === undefined || value === null) return { type: "auto" };
  const result = choiceSchema.safeParse(value);
  if (!result.success) throw invalidRequest("tool_choice is not valid", "tool_choice");
  const choice = result.data;
  if (typeof choice === "string") return { type: choice === "any" ? "required" : choice };
  const name = choice.function?.name ?? choice.name;
  if (name !== undefined) return { type: "function", name };
  if (choice.type === "auto" || choice.type === "none" || choice.type === "required")
    return { type: choice.type };
  if (choice.type === "allowed_tools") return { type: "auto" };
  throw invalidRequest("tool_choice must name a function", "tool_choice");
}

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

/** Translates a chat-completions request. Throws 400 that names the field at fault. */
export function toConversation(body: ChatRequest, aliases: Readonly<Record<string, string>>): Conversation {
  const model = resolveModel(body.model, aliases);
  const thinking = model.thinking && wantsThinking(body);
  return {
    dialect: ID,
    contentField: "messages",
    model,
    messages: body.messages.map((message, index) => toMessage(message, `messages[${index}]`)),
    tools: toTools(body.tools),
    toolChoice: toToolChoice(body.tool_choice),
    parallelToolCalls: body.parallel_tool_calls ?? true,
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
}
