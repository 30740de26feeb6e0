import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { optionalString } from "../shared/members.ts";
import { createInputItemId } from "./ids.ts";
import { isStandalonePart } from "./parts.ts";

/** Matches the item types that have a status. */
const TYPES_WITH_STATUS = /_(call|output)$/;

/** Converts a content part to the form of the real API. Unknown values stay unchanged. */
function toPublicPart(part: unknown, assistant: boolean): unknown {
  if (typeof part === "string") return toPublicPart({ type: "text", text: part }, assistant);
  if (!isObject(part)) return part;
  const { type } = part;
  const text = optionalString(part, "text");
  if (text !== undefined && type !== "refusal") {
    return assistant
      ? {
          type: "output_text",
          text,
          annotations: part["annotations"] ?? [],
          logprobs: part["logprobs"] ?? [],
        }
      : { type: "input_text", text };
  }
  if (type === "input_image" || type === "image_url") {
    const nested = part["image_url"];
    const url = isObject(nested) ? nested["url"] : nested;
    const detail = part["detail"] ?? (isObject(nested) ? nested["detail"] : undefined) ?? "auto";
    return { ...part, type: "input_image", detail, image_url: url ?? null };
  }
  if (type === "file" && isObject(part["file"])) return { type: "input_file", ...part["file"] };
  return part;
}

function toPublicContent(content: unknown, assistant: boolean): unknown[] {
  if (content === null || content === undefined || content === "") return [];
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((part) => toPublicPart(part, assistant));
}

/** Converts a message of the chat-completions style to items. */
function toItemsOfChatMessage(message: JsonObject): JsonObject[] {
  const { role, content } = message;
  if (role === "tool" || role === "function") {
    const output = Array.isArray(content) ? toPublicContent(content, false) : String(content ?? "");
    return [{ type: "function_call_output", call_id: message["tool_call_id"] ?? message["name"], output }];
  }
  const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"].filter(isObject) : [];
  const messages = content === null || content === undefined || content === "" ? [] : [{ role, content }];
  return [
    ...messages,
    ...calls.map((call) => {
      const named = isObject(call["function"]) ? call["function"] : {};
      return {
        type: "function_call",
        call_id: call["id"],
        name: named["name"],
        arguments: named["arguments"] ?? "{}",
      };
    }),
  ];
}

function isChatMessage(item: JsonObject): boolean {
  return item["role"] === "tool" || item["role"] === "function" || Array.isArray(item["tool_calls"]);
}

/** Converts one item to the form in which the real API lists it, without an id. */
function toPublicItem(item: JsonObject): JsonObject {
  const type = optionalString(item, "type");
  if (isStandalonePart(type)) return toPublicItem({ role: "user", content: [item] });
  if (type === undefined || type === "message") {
    const role = item["role"] ?? "user";
    const content = toPublicContent(item["content"], role === "assistant");
    return { ...item, type: "message", status: "completed", role, content };
  }
  return TYPES_WITH_STATUS.test(type) && item["status"] === undefined
    ? { ...item, status: "completed" }
    : item;
}

/**
 * Converts the items of a request to the form of `GET …/input_items`: strings become messages, content becomes parts, and
 * every item gets an id. An id that the caller set stays.
 */
export function toPublicInputItems(items: readonly unknown[], responseId: string): JsonObject[] {
  const publicItems = items.flatMap((item): JsonObject[] => {
    if (typeof item === "string") return [{ role: "user", content: item }];
    if (!isObject(item)) return [];
    return isChatMessage(item) ? toItemsOfChatMessage(item) : [item];
  });
  return publicItems.map((item, index) => {
    const publicItem = toPublicItem(item);
    const type = String(publicItem["type"]);
    return {
      ...publicItem,
      id: optionalString(publicItem, "id") ?? createInputItemId(type, responseId, index),
    };
  });
}
