import * as z from "zod";
import type { Conversation, Message, Part, ResponseFormat } from "../../../core/conversation/conversation.ts";
import type { ResolvedModel } from "../../../core/conversation/model.ts";
import type { ToolDefinition } from "../../../core/conversation/tool.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseAttachmentSource } from "../shared/attachments.ts";
import { jsonObject } from "../shared/field-schemas.ts";
import { getChatOptions, toGenerationOptions } from "../shared/generation-options.ts";
import { buildInsertionInstructions } from "../shared/insertion-prompt.ts";
import { unknownValueError } from "../shared/members.ts";
import { PendingToolCalls } from "../shared/pending-tool-calls.ts";
import { toThinkingDefault } from "../shared/thinking.ts";
import { DIALECT_ID } from "./names.ts";

const imagesSchema = once(() => z.array(z.string()).nullish());

const sharedFields = once(() => ({
  model: z.string().min(1),
  stream: z.boolean().nullish(),
  think: z.union([z.boolean(), z.enum(["", "low", "medium", "high", "max"])]).nullish(),
  format: z.union([z.enum(["", "json"]), jsonObject], 'must be "json" or a JSON schema').nullish(),
  options: z
    .looseObject({
      temperature: z.unknown().optional(),
      top_p: z.unknown().optional(),
      seed: z.unknown().optional(),
      num_predict: z.unknown().optional(),
      stop: z.union([z.string(), z.array(z.string())]).nullish(),
    })
    .nullish(),
  keep_alive: z.unknown().optional(),
}));

const messageSchema = lazyLooseObject(() => ({
  role: z.string(),
  content: z.string().nullish(),
  thinking: z.string().nullish(),
  images: imagesSchema(),
  tool_name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string().nullish(),
        function: z.looseObject({ name: z.string().min(1), arguments: z.unknown().optional() }),
      }),
    )
    .nullish(),
}));

const toolSchema = lazyLooseObject(() => ({
  function: z.looseObject({
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: jsonObject.nullish(),
  }),
}));

/** The body of `POST /api/chat`. */
export const chatSchema = lazyLooseObject(() => ({
  ...sharedFields(),
  messages: z.array(messageSchema).nullish(),
  tools: z.array(toolSchema).nullish(),
}));

/** The body of `POST /api/generate`. */
export const generateSchema = lazyLooseObject(() => ({
  ...sharedFields(),
  prompt: z.string().nullish(),
  suffix: z.string().nullish(),
  system: z.string().nullish(),
  template: z.string().nullish(),
  raw: z.boolean().nullish(),
  context: z.array(z.unknown()).nullish(),
  images: imagesSchema(),
}));

type GenerateRequest = z.output<typeof generateSchema>;

type RunnerRequest = z.output<typeof chatSchema> | z.output<typeof generateSchema>;

function toImageParts(images: readonly string[] | null | undefined, fieldPath: string): Part[] {
  return (images ?? []).map((data, index) => ({
    type: "image",
    source: parseAttachmentSource(data, `${fieldPath}[${index}]`, detectImageType(data)),
  }));
}

/** Detects the media type of base64 image data from its first bytes, because this style does not send it. */
function detectImageType(data: string): string {
  if (data.startsWith("/9j/")) return "image/jpeg";
  if (data.startsWith("R0lGOD")) return "image/gif";
  if (data.startsWith("UklGR")) return "image/webp";
  return "image/png";
}

function toTextParts(text: string | null | undefined): Part[] {
  return text === undefined || text === null || text === "" ? [] : [{ type: "text", text }];
}

function toMessages(messages: readonly z.output<typeof messageSchema>[]): Message[] {
  const calls = new PendingToolCalls();
  return messages.map((message, index): Message => {
    const fieldPath = `messages[${index}]`;
    const parts = [...toTextParts(message.content), ...toImageParts(message.images, `${fieldPath}.images`)];
    switch (message.role) {
      case "system":
        return { role: "system", parts };
      case "user":
        return { role: "user", parts };
      case "assistant": {
        const toolCalls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({
          id: calls.register(id, name),
          name,
          arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}),
        }));
        const reasoning = message.thinking ?? "";
        return { role: "assistant", parts, toolCalls, ...(reasoning === "" ? {} : { reasoning }) };
      }
      case "tool":
        return { role: "tool", parts, ...calls.resolve(message.tool_call_id, message.tool_name) };
      default:
        throw unknownValueError(message.role, `${fieldPath}.role`, ["system", "user", "assistant", "tool"]);
    }
  });
}

function toTools(tools: z.output<typeof chatSchema>["tools"]): ToolDefinition[] {
  return (tools ?? []).map(({ function: functionTool }): ToolDefinition => {
    const definition: ToolDefinition = { name: functionTool.name };
    if (typeof functionTool.description === "string") definition.description = functionTool.description;
    if (functionTool.parameters) definition.parameters = functionTool.parameters;
    return definition;
  });
}

function toFormat(format: RunnerRequest["format"]): ResponseFormat {
  if (!format) return { type: "text" };
  return format === "json" ? { type: "json" } : { type: "json-schema", schema: format };
}

/**
 * Builds the fields that both routes share. Streaming is the default of this style, and so is thinking for models that
 * support it.
 */
function toSharedConversation(body: RunnerRequest, model: ResolvedModel) {
  const { options } = body;
  const thinking = model.thinking && body.think !== false;
  const numPredict = options?.num_predict;
  return {
    dialect: DIALECT_ID,
    contentField: "messages",
    model,
    toolChoice: { type: "auto" },
    parallelToolCalls: true,
    thinking,
    ...toThinkingDefault({ thinking: body.think }),
    showReasoning: thinking,
    options: toGenerationOptions({
      ...getChatOptions(options ?? {}),
      repetitionPenalty: options?.["repeat_penalty"],
      logprobs: body["logprobs"] === true ? (body["top_logprobs"] ?? 0) : undefined,
      // Negative numbers mean "no limit".
      maxTokens: typeof numPredict === "number" && numPredict > 0 ? numPredict : undefined,
      reasoningEffort: typeof body.think === "string" && body.think !== "" ? body.think : undefined,
    }),
    responseFormat: toFormat(body.format),
    stream: body.stream ?? true,
  } as const;
}

/**
 * Translates `POST /api/chat`.
 *
 * @throws GatewayError 400 that names the invalid field.
 */
export function translateRunnerChatRequest(
  body: z.output<typeof chatSchema>,
  model: ResolvedModel,
): Conversation {
  return {
    ...toSharedConversation(body, model),
    messages: toMessages(body.messages ?? []),
    tools: toTools(body.tools),
  };
}

/** Matches templates that contain only the prompt. */
const PLAIN_TEMPLATE = /^\s*(?:\{\{-?\s*\.Prompt\s*-?\}\}\s*)?$/;

/** Rejects unsupported fields that would change the answer. */
function rejectUnsupportedFields({ template, raw, context, system }: GenerateRequest): void {
  if (raw === true && (template || system || context?.length)) {
    throw invalidRequest("raw mode does not support template, system, or context", "raw");
  }
  if (!PLAIN_TEMPLATE.test(template ?? "")) {
    throw invalidRequest("template: the model's own template cannot be replaced: use system", "template");
  }
  if (context?.length) {
    throw invalidRequest("context is not kept: send the conversation to /api/chat", "context");
  }
}

/**
 * Translates `POST /api/generate`. With a `suffix`, the model writes the text between the prompt and the suffix.
 *
 * @throws GatewayError 400 that names the invalid field.
 */
export function translateRunnerGenerateRequest(body: GenerateRequest, model: ResolvedModel): Conversation {
  rejectUnsupportedFields(body);
  const system = [
    ...toTextParts(body.system),
    ...(body.suffix ? buildInsertionInstructions(body.suffix) : []),
  ];
  return {
    ...toSharedConversation(body, model),
    contentField: "prompt",
    messages: [
      ...(system.length === 0 ? [] : [{ role: "system", parts: system } as const]),
      { role: "user", parts: [...toTextParts(body.prompt), ...toImageParts(body.images, "images")] },
    ],
    tools: [],
  };
}
