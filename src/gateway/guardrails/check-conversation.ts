import {
  type Conversation,
  joinText,
  type Message,
  type Part,
} from "../../core/conversation/conversation.ts";
import type { ToolDefinition } from "../../core/conversation/tool.ts";
import { isObject } from "../../core/encoding/json.ts";
import type { TextChecker } from "./text-checker.ts";

/**
 * Returns a conversation with masked texts: messages, reasoning, arguments and results of tools, and the descriptions of
 * tools.
 *
 * @throws GatewayError if a rule denies one of them
 */
export function maskConversation(conversation: Conversation, checker: TextChecker): Conversation {
  return {
    ...conversation,
    messages: conversation.messages.map((message) => maskMessage(message, checker)),
    tools: conversation.tools.map((tool) => maskTool(tool, checker)),
  };
}

function maskMessage(message: Message, checker: TextChecker): Message {
  const parts = maskParts(message.parts, checker);
  if (message.role !== "assistant") return { ...message, parts };
  const { reasoning } = message;
  return {
    ...message,
    parts,
    ...(reasoning === undefined ? {} : { reasoning: checker.mask(reasoning) }),
    toolCalls: message.toolCalls.map((call) => ({ ...call, arguments: checker.maskJson(call.arguments) })),
  };
}

/**
 * Masks the texts of a message as one text, because the model may read them as one. If that changes them, the first part
 * has all of the text.
 */
function maskParts(parts: readonly Part[], checker: TextChecker): readonly Part[] {
  const text = joinText(parts);
  const masked = checker.mask(text);
  if (masked === text) return parts;
  const first = parts.findIndex(({ type }) => type === "text");
  return parts.flatMap((part, index): Part[] => {
    if (part.type !== "text") return [part];
    return index === first ? [{ ...part, text: masked }] : [];
  });
}

function maskTool(tool: ToolDefinition, checker: TextChecker): ToolDefinition {
  const { description, parameters } = tool;
  const masked = parameters === undefined ? undefined : checker.maskStrings(parameters);
  return {
    ...tool,
    ...(description === undefined ? {} : { description: checker.mask(description) }),
    ...(isObject(masked) ? { parameters: masked } : {}),
  };
}
