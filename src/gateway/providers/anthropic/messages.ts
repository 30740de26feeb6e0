import type { CacheBreakpoint } from "../../../core/conversation/cache-breakpoint.ts";
import type { Conversation, Message } from "../../../core/conversation/conversation.ts";
import { parseObjectExactly } from "../../../core/encoding/json.ts";
import { renderToolCalls, renderToolResult } from "../../tools/instructions.ts";
import { joinParagraphList, joinParagraphs, joinTextParts } from "../requests/prompt-text.ts";
import type { AttachedPart } from "../requests/request-attachments.ts";
import { cacheControl } from "./cache-control.ts";
import { Turns } from "./turns.ts";
import type { WireMessage, WirePart, WireText, WireThinkingBlock } from "./wire.ts";

/** What is known about the model's earlier thinking. */
export interface ThinkingHistory {
  /** The thinking blocks before a call; undefined: not known. */
  blocksBefore(callId: string): readonly WireThinkingBlock[] | undefined;
  /** Whether the model continues to think only if all earlier thinking blocks are known. */
  readonly mustBeComplete: boolean;
}

/** How to translate a conversation into messages. */
export interface MessageOptions {
  /** Whether tool calls and results are written as text instead of blocks of their own. */
  readonly toolCallsAsText: boolean;
  /** Text that is appended to the last user message; blank: none. */
  readonly injection: string;
  /** User text that ends the conversation (a follow-up turn); blank: none. */
  readonly suffix: string;
  readonly partOf: (part: AttachedPart) => WirePart;
  readonly thoughts: ThinkingHistory;
}

/** A conversation in the protocol's form. */
export interface WireConversation {
  /** The texts of the system messages at the beginning. */
  readonly system: readonly WireText[];
  readonly messages: readonly WireMessage[];
  /** Whether the model may think in its answer (see `Turns.finish`). */
  readonly mayThink: boolean;
}

/**
 * Translates a conversation. System messages at the beginning become the system prompt. Later ones stay in place as user
 * text in a `system` tag, because not every model accepts a system message there.
 */
export function toWireConversation(conversation: Conversation, options: MessageOptions): WireConversation {
  const { messages } = conversation;
  const first = messages.findIndex((message) => message.role !== "system");
  const leading = messages.slice(0, first === -1 ? messages.length : first);
  const lastUser = messages.findLast((message) => message.role === "user");
  const turns = new Turns();
  for (const message of messages.slice(leading.length)) {
    addMessage(turns, message, options);
    if (message === lastUser) turns.addParts("user", [toWireText(options.injection)]);
  }
  turns.addParts("user", [toWireText(options.suffix)]);
  const finished = turns.finish(options.thoughts.mustBeComplete);
  const system = leading.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" ? [toWireText(part.text, part.cache)] : [])),
  );
  return { system, ...finished };
}

function addMessage(turns: Turns, message: Message, options: MessageOptions): void {
  switch (message.role) {
    case "system": {
      const messageText = joinTextParts(message.parts);
      if (messageText !== "") {
        const cache = findLastMark(message.parts);
        turns.addParts("user", [toWireText(`<system>\n${messageText}\n</system>`, cache)]);
      }
      break;
    }
    case "user": {
      // The protocol has no field for a user's name.
      const name = message.name === undefined ? "" : `[${message.name}]`;
      turns.addParts("user", [toWireText(name), ...toWireParts(message, options)]);
      break;
    }
    case "assistant":
      addAssistantMessage(turns, message, options);
      break;
    case "tool":
      addToolResult(turns, message, options);
      break;
  }
}

/**
 * Adds an assistant message. Reasoning text alone is not sent: the protocol accepts reasoning only with its signature.
 */
function addAssistantMessage(
  turns: Turns,
  { parts, toolCalls }: Extract<Message, { role: "assistant" }>,
  options: MessageOptions,
): void {
  const messageText = joinTextParts(parts);
  const cache = findLastMark(parts);
  if (options.toolCallsAsText) {
    turns.addParts("assistant", [
      toWireText(joinParagraphs(messageText, renderToolCalls(toolCalls)), findLastMark(toolCalls) ?? cache),
    ]);
    return;
  }
  const calls = toolCalls.map(({ id, name, arguments: input, cache: breakpoint }) => ({
    id,
    name,
    input: parseObjectExactly(input),
    thoughts: options.thoughts.blocksBefore(id),
    ...(breakpoint === undefined ? {} : { cache: breakpoint }),
  }));
  turns.addAnswer(toWireText(messageText, cache), calls);
}

function addToolResult(
  turns: Turns,
  message: Extract<Message, { role: "tool" }>,
  options: MessageOptions,
): void {
  const { callId: id, name, isError = false } = message;
  const parts = toWireParts(message, options).filter((part) => part.type !== "text" || part.text !== "");
  if (!options.toolCallsAsText && turns.recordResult(id, parts, isError, message.cache)) return;
  // A result whose call is missing, or already has a result, is written as text.
  const resultText = joinParagraphList(parts.map((part) => (part.type === "text" ? part.text : "")));
  const result = { id, text: resultText, isError, ...(name === undefined ? {} : { name }) };
  turns.addParts("user", [
    toWireText(renderToolResult(result), message.cache),
    ...parts.filter((part) => part.type !== "text"),
  ]);
}

function toWireParts({ parts }: Message, options: MessageOptions): WirePart[] {
  return parts.map((part) =>
    part.type === "text"
      ? toWireText(part.text, part.cache)
      : { ...options.partOf(part), ...cacheControl(part.cache) },
  );
}

function toWireText(value: string, cache?: CacheBreakpoint): WireText {
  return { type: "text", text: value, ...cacheControl(cache) };
}

/** The last cache breakpoint of items that are joined: there, the cached part of the prompt ends. */
function findLastMark(items: readonly { readonly cache?: CacheBreakpoint }[]): CacheBreakpoint | undefined {
  return items.findLast(({ cache }) => cache !== undefined)?.cache;
}
