import * as z from "zod";
import type { Message, Part, ToolCall } from "../../../core/conversation/conversation.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseAttachmentSource } from "../shared/attachments.ts";
import { markLast, parseCacheControl } from "../shared/cache-control.ts";
import { requireObject, requireString, unknownContentError, unknownValueError } from "../shared/members.ts";
import type { PendingToolCalls } from "../shared/pending-tool-calls.ts";

const partSchema = lazyLooseObject(() => ({ type: z.string() }));
const contentSchema = () => z.union([z.string(), z.array(partSchema)]).nullish();

/** One message of the chat-completions style. The responses style accepts it too. */
export const messageSchema = lazyLooseObject(() => ({
  role: z.string(),
  content: contentSchema(),
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
}));

function toFilePart(file: Record<string, unknown>, fieldPath: string): Part {
  const filename = typeof file["filename"] === "string" ? { filename: file["filename"] } : {};
  if (typeof file["file_id"] === "string") {
    return { type: "file", source: { kind: "file", fileId: file["file_id"] }, ...filename };
  }
  return {
    type: "file",
    source: parseAttachmentSource(requireString(file, "file_data", fieldPath), fieldPath),
    ...filename,
  };
}

/** Converts one content part (docs/clients.md, assertions 1 and 3). */
function toPart(part: z.output<typeof partSchema>, fieldPath: string): Part {
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
      return { type: "text", text: requireString(part, "text", fieldPath) };
    case "refusal":
      return { type: "text", text: requireString(part, "refusal", fieldPath) };
    case "image_url": {
      if (typeof part["image_url"] === "string") {
        return { type: "image", source: parseAttachmentSource(part["image_url"], `${fieldPath}.image_url`) };
      }
      const image = requireObject(part, "image_url", fieldPath);
      const source = parseAttachmentSource(
        requireString(image, "url", `${fieldPath}.image_url`),
        `${fieldPath}.image_url.url`,
      );
      return typeof image["detail"] === "string"
        ? { type: "image", source, detail: image["detail"] }
        : { type: "image", source };
    }
    case "file":
      return toFilePart(requireObject(part, "file", fieldPath), `${fieldPath}.file`);
    default:
      throw unknownContentError(part.type, fieldPath);
  }
}

function toParts(content: z.output<ReturnType<typeof contentSchema>>, fieldPath: string): Part[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map((part, index) => ({
    ...toPart(part, `${fieldPath}[${index}]`),
    ...parseCacheControl(part),
  }));
}

/** Returns the arguments as JSON text. Some clients send an object instead. */
function toArgumentsText(value: unknown): string {
  if (typeof value === "string") return value.trim() === "" ? "{}" : value;
  return value === undefined || value === null ? "{}" : JSON.stringify(value);
}

function toToolCalls(
  message: z.output<typeof messageSchema>,
  fieldPath: string,
  calls: PendingToolCalls,
): ToolCall[] {
  const toolCalls = (message.tool_calls ?? []).map(
    ({ id, function: functionCall, custom }, index): ToolCall => {
      if (functionCall !== undefined) {
        const { name } = functionCall;
        return { id: calls.register(id, name), name, arguments: toArgumentsText(functionCall.arguments) };
      }
      if (custom !== undefined) {
        const { name, input } = custom;
        return { id: calls.register(id, name), name, arguments: JSON.stringify({ input: input ?? "" }) };
      }
      const callPath = `${fieldPath}.tool_calls[${index}]`;
      throw invalidRequest(`${callPath}.function is required`, callPath);
    },
  );
  const legacy = message.function_call;
  if (legacy !== null && legacy !== undefined && toolCalls.length === 0) {
    const { name } = legacy;
    toolCalls.push({ id: calls.register(null, name), name, arguments: toArgumentsText(legacy.arguments) });
  }
  return toolCalls;
}

/**
 * Translates one message. `fieldPath` names the message in errors. `calls` are the calls of earlier messages that have no
 * result yet.
 *
 * @throws GatewayError 400
 */
export function toMessage(
  message: z.output<typeof messageSchema>,
  fieldPath: string,
  calls: PendingToolCalls,
): Message {
  const mark = parseCacheControl(message);
  const endsWithCalls = message.role === "assistant" && (message.tool_calls?.length ?? 0) > 0;
  const parts = markLast(toParts(message.content, `${fieldPath}.content`), endsWithCalls ? {} : mark);
  const name = message.name ?? undefined;
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", parts };
    case "user":
      return name === undefined ? { role: "user", parts } : { role: "user", parts, name };
    case "assistant": {
      const reasoning = message.reasoning_content ?? message.reasoning ?? undefined;
      const toolCalls = markLast(toToolCalls(message, fieldPath, calls), mark);
      return reasoning === undefined
        ? { role: "assistant", parts, toolCalls }
        : { role: "assistant", parts, toolCalls, reasoning };
    }
    case "tool":
    case "function": {
      const { callId } = calls.resolve(message.tool_call_id, name);
      // Backends cache a result as a whole.
      const cache = parts.findLast((part) => part.cache !== undefined)?.cache ?? mark.cache;
      const plainParts = parts.map(({ cache: _, ...part }): Part => part);
      return {
        role: "tool",
        callId,
        parts: plainParts,
        ...(name === undefined ? {} : { name }),
        ...(cache === undefined ? {} : { cache }),
      };
    }
    default:
      throw unknownValueError(message.role, `${fieldPath}.role`, [
        "system",
        "developer",
        "user",
        "assistant",
        "tool",
      ]);
  }
}
