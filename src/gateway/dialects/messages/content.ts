import type { CacheBreakpoint } from "../../../core/conversation/cache-breakpoint.ts";
import type { AttachmentSource, Message, Part, ToolCall } from "../../../core/conversation/conversation.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseAttachmentSource } from "../shared/attachments.ts";
import { optionalString, requireObject, requireString, unknownContentError } from "../shared/members.ts";

/** A content block of any type. */
export type Block = JsonObject & { type: string };

/** `content` of a message, of the system prompt or of a tool result: a string, blocks, or absent. */
export type Content = string | readonly Block[] | null | undefined;

/** Parses the source of an image or document: `base64`, `url` or `file` (client assertion 24). */
function toAttachmentSource(source: JsonObject, where: string): AttachmentSource {
  switch (source["type"]) {
    case "base64":
      return {
        kind: "inline",
        data: requireString(source, "data", where),
        mediaType: requireString(source, "media_type", where),
      };
    case "url":
      return parseAttachmentSource(requireString(source, "url", where), `${where}.url`);
    case "file":
      return { kind: "file", fileId: requireString(source, "file_id", where) };
    default:
      throw invalidRequest(`${where}.type must be base64, url or file`, `${where}.type`);
  }
}

/** Converts a document: text becomes text parts, other documents become attachments. */
function toDocumentParts(block: Block, where: string): Part[] {
  const source = requireObject(block, "source", where);
  const title = optionalString(block, "title");
  const heading = [title, optionalString(block, "context")].filter((line) => line !== undefined);
  const headed = (parts: Part[]): Part[] =>
    heading.length === 0 ? parts : [{ type: "text", text: `${heading.join("\n")}\n\n` }, ...parts];
  if (source["type"] === "text") {
    return headed([{ type: "text", text: requireString(source, "data", `${where}.source`) }]);
  }
  if (source["type"] === "content") {
    return headed(
      toParts(readContentMember(source, "content", `${where}.source`), `${where}.source.content`),
    );
  }
  const file: Part = { type: "file", source: toAttachmentSource(source, `${where}.source`) };
  return [title === undefined ? file : { ...file, filename: title }];
}

/**
 * Reads `content` inside a block: a string, an array of blocks, or absent.
 *
 * @throws GatewayError 400 for anything else.
 */
function readContentMember(block: JsonObject, name: string, where: string): Content {
  const value = block[name];
  if (value === undefined || value === null || typeof value === "string") return value;
  if (!Array.isArray(value)) throw invalidRequest(`${where}.${name} must be a string or an array`, where);
  return value.map((item: unknown, index): Block => {
    const at = `${where}.${name}[${index}]`;
    if (!isObject(item)) throw invalidRequest(`${at} must be an object`, at);
    return { ...item, type: requireString(item, "type", at) };
  });
}

/** Adds the parts in a loop: spreading them into `push` fails for too many arguments. */
function appendParts(parts: Part[], more: readonly Part[]): void {
  for (const part of more) parts.push(part);
}

/** Reads `cache_control` of a block, a tool or a request. Any value that is not an object is ignored. */
export function parseCacheControl(marked: JsonObject): { cache?: CacheBreakpoint } {
  const control = marked["cache_control"];
  if (!isObject(control)) return {};
  const { ttl } = control;
  return { cache: typeof ttl === "string" ? { ttl } : {} };
}

/** Converts a block to parts. Its cache mark applies to the last part. */
function toBlockParts(block: Block, where: string): Part[] {
  const parts = toPartsWithoutCacheMark(block, where);
  const last = parts.at(-1);
  if (last === undefined || !("cache_control" in block)) return parts;
  return [...parts.slice(0, -1), { ...last, ...parseCacheControl(block) }];
}

function toPartsWithoutCacheMark(block: Block, where: string): Part[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: requireString(block, "text", where) }];
    case "image":
      return [
        {
          type: "image",
          source: toAttachmentSource(requireObject(block, "source", where), `${where}.source`),
        },
      ];
    case "document":
      return toDocumentParts(block, where);
    case "search_result": {
      const head = [optionalString(block, "title"), optionalString(block, "source")].filter(Boolean);
      return [
        { type: "text", text: `${head.join("\n")}\n` },
        ...toParts(readContentMember(block, "content", where), `${where}.content`),
      ];
    }
    case "container_upload":
      return [{ type: "file", source: { kind: "file", fileId: requireString(block, "file_id", where) } }];
    case "tool_reference":
      return [{ type: "text", text: requireString(block, "tool_name", where) }];
    default:
      throw unknownContentError(block.type, where);
  }
}

/** Converts a content without tool blocks to parts. A string that is empty gives no part. */
export function toParts(content: Content, where: string): Part[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.flatMap((block, index) => toBlockParts(block, `${where}[${index}]`));
}

function toToolMessage(block: Block, where: string): Message {
  return {
    role: "tool",
    callId: requireString(block, "tool_use_id", where),
    parts: toParts(readContentMember(block, "content", where), `${where}.content`),
    ...(block["is_error"] === true ? { isError: true } : {}),
    ...parseCacheControl(block),
  };
}

/**
 * Converts a user message. Each tool result becomes its own message, and other content keeps its position between the
 * results, so the caller's order is preserved (client assertions 25 and 26).
 */
export function toUserMessages(content: Content, where: string): Message[] {
  if (content === null || content === undefined || typeof content === "string") {
    return [{ role: "user", parts: toParts(content, where) }];
  }
  const messages: Message[] = [];
  let parts: Part[] = [];
  const flush = () => {
    if (parts.length > 0) messages.push({ role: "user", parts });
    parts = [];
  };
  content.forEach((block, index) => {
    const at = `${where}[${index}]`;
    if (block.type === "tool_result") {
      flush();
      messages.push(toToolMessage(block, at));
    } else appendParts(parts, toBlockParts(block, at));
  });
  flush();
  return messages.length === 0 ? [{ role: "user", parts: [] }] : messages;
}

/**
 * Converts an assistant message of the history. The gateway ignores signatures, redacted thinking and the blocks of server
 * tools, because the model cannot read them.
 */
export function toAssistantMessage(content: Content, where: string): Message {
  if (content === null || content === undefined || typeof content === "string") {
    return { role: "assistant", parts: toParts(content, where), toolCalls: [] };
  }
  const parts: Part[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning = "";
  content.forEach((block, index) => {
    const at = `${where}[${index}]`;
    switch (block.type) {
      case "thinking":
        reasoning += optionalString(block, "thinking") ?? "";
        break;
      case "tool_use":
        toolCalls.push({
          id: requireString(block, "id", at),
          name: requireString(block, "name", at),
          arguments: JSON.stringify(block["input"] ?? {}),
          ...parseCacheControl(block),
        });
        break;
      case "text":
      case "image":
      case "document":
        appendParts(parts, toBlockParts(block, at));
        break;
    }
  });
  return { role: "assistant", parts, toolCalls, ...(reasoning === "" ? {} : { reasoning }) };
}
