import type { AttachmentSource, Message, Part, ToolCall } from "../../../core/conversation/conversation.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseAttachmentSource } from "../shared/attachments.ts";
import { markLast, parseCacheControl } from "../shared/cache-control.ts";
import { optionalString, requireObject, requireString, unknownContentError } from "../shared/members.ts";

/** A content block of any type. */
export type Block = JsonObject & { type: string };

/** `content` of a message, of the system prompt or of a tool result: a string, blocks, or absent. */
export type Content = string | readonly Block[] | null | undefined;

/** Parses the source of an image or document: `base64`, `url` or `file` (docs/clients.md, assertion 24). */
function toAttachmentSource(source: JsonObject, fieldPath: string): AttachmentSource {
  switch (source["type"]) {
    case "base64":
      return {
        kind: "inline",
        data: requireString(source, "data", fieldPath),
        mediaType: requireString(source, "media_type", fieldPath),
      };
    case "url":
      return parseAttachmentSource(requireString(source, "url", fieldPath), `${fieldPath}.url`);
    case "file":
      return { kind: "file", fileId: requireString(source, "file_id", fieldPath) };
    default:
      throw invalidRequest(`${fieldPath}.type must be base64, url or file`, `${fieldPath}.type`);
  }
}

/** Converts a document: text becomes text parts, other documents become attachments. */
function toDocumentParts(block: Block, fieldPath: string): Part[] {
  const source = requireObject(block, "source", fieldPath);
  const title = optionalString(block, "title");
  const heading = [title, optionalString(block, "context")].filter((line) => line !== undefined);
  const withHeading = (parts: Part[]): Part[] =>
    heading.length === 0 ? parts : [{ type: "text", text: `${heading.join("\n")}\n\n` }, ...parts];
  if (source["type"] === "text") {
    return withHeading([{ type: "text", text: requireString(source, "data", `${fieldPath}.source`) }]);
  }
  if (source["type"] === "content") {
    return withHeading(
      toParts(readContentMember(source, "content", `${fieldPath}.source`), `${fieldPath}.source.content`),
    );
  }
  const file: Part = { type: "file", source: toAttachmentSource(source, `${fieldPath}.source`) };
  return [title === undefined ? file : { ...file, filename: title }];
}

/**
 * Reads `content` inside a block: a string, an array of blocks, or absent.
 *
 * @throws GatewayError 400 for anything else.
 */
function readContentMember(block: JsonObject, name: string, fieldPath: string): Content {
  const value = block[name];
  if (value === undefined || value === null || typeof value === "string") return value;
  if (!Array.isArray(value))
    throw invalidRequest(`${fieldPath}.${name} must be a string or an array`, fieldPath);
  return value.map((item: unknown, index): Block => {
    const blockPath = `${fieldPath}.${name}[${index}]`;
    if (!isObject(item)) throw invalidRequest(`${blockPath} must be an object`, blockPath);
    return { ...item, type: requireString(item, "type", blockPath) };
  });
}

/** Adds the parts in a loop: spreading them into `push` fails for too many arguments. */
function appendParts(parts: Part[], added: readonly Part[]): void {
  for (const part of added) parts.push(part);
}

/** Converts a block to parts. Its cache mark applies to the last part. */
function toBlockParts(block: Block, fieldPath: string): Part[] {
  const parts = toPartsWithoutCacheMark(block, fieldPath);
  return "cache_control" in block ? markLast(parts, parseCacheControl(block)) : parts;
}

function toPartsWithoutCacheMark(block: Block, fieldPath: string): Part[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: requireString(block, "text", fieldPath) }];
    case "image":
      return [
        {
          type: "image",
          source: toAttachmentSource(requireObject(block, "source", fieldPath), `${fieldPath}.source`),
        },
      ];
    case "document":
      return toDocumentParts(block, fieldPath);
    case "search_result": {
      const head = [optionalString(block, "title"), optionalString(block, "source")].filter(Boolean);
      return [
        { type: "text", text: `${head.join("\n")}\n` },
        ...toParts(readContentMember(block, "content", fieldPath), `${fieldPath}.content`),
      ];
    }
    case "container_upload":
      return [{ type: "file", source: { kind: "file", fileId: requireString(block, "file_id", fieldPath) } }];
    case "tool_reference":
      return [{ type: "text", text: requireString(block, "tool_name", fieldPath) }];
    default:
      throw unknownContentError(block.type, fieldPath);
  }
}

/** Converts a content without tool blocks to parts. A string that is empty gives no part. */
export function toParts(content: Content, fieldPath: string): Part[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.flatMap((block, index) => toBlockParts(block, `${fieldPath}[${index}]`));
}

function toToolMessage(block: Block, fieldPath: string): Message {
  return {
    role: "tool",
    callId: requireString(block, "tool_use_id", fieldPath),
    parts: toParts(readContentMember(block, "content", fieldPath), `${fieldPath}.content`),
    ...(block["is_error"] === true ? { isError: true } : {}),
    ...parseCacheControl(block),
  };
}

/**
 * Converts a user message. Each tool result becomes its own message, and other content keeps its position between the
 * results, so the caller's order is preserved (docs/clients.md, assertions 25 and 26).
 */
export function toUserMessages(content: Content, fieldPath: string): Message[] {
  if (content === null || content === undefined || typeof content === "string") {
    return [{ role: "user", parts: toParts(content, fieldPath) }];
  }
  const messages: Message[] = [];
  let parts: Part[] = [];
  const flush = () => {
    if (parts.length > 0) messages.push({ role: "user", parts });
    parts = [];
  };
  content.forEach((block, index) => {
    const blockPath = `${fieldPath}[${index}]`;
    if (block.type === "tool_result") {
      flush();
      messages.push(toToolMessage(block, blockPath));
    } else appendParts(parts, toBlockParts(block, blockPath));
  });
  flush();
  return messages.length === 0 ? [{ role: "user", parts: [] }] : messages;
}

/**
 * Converts an assistant message of the history. The gateway ignores signatures, redacted thinking and the blocks of server
 * tools, because the model cannot read them.
 */
export function toAssistantMessage(content: Content, fieldPath: string): Message {
  if (content === null || content === undefined || typeof content === "string") {
    return { role: "assistant", parts: toParts(content, fieldPath), toolCalls: [] };
  }
  const parts: Part[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning = "";
  content.forEach((block, index) => {
    const blockPath = `${fieldPath}[${index}]`;
    switch (block.type) {
      case "thinking":
        reasoning += optionalString(block, "thinking") ?? "";
        break;
      case "tool_use":
        toolCalls.push({
          id: requireString(block, "id", blockPath),
          name: requireString(block, "name", blockPath),
          arguments: JSON.stringify(block["input"] ?? {}),
          ...parseCacheControl(block),
        });
        break;
      case "text":
      case "image":
      case "document":
        appendParts(parts, toBlockParts(block, blockPath));
        break;
    }
  });
  return { role: "assistant", parts, toolCalls, ...(reasoning === "" ? {} : { reasoning }) };
}
