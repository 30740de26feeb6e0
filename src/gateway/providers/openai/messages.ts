import type { Conversation, Message, Part, ToolCall } from "../../../core/conversation/conversation.ts";
import { renderToolCalls, renderToolResult } from "../../tools/instructions.ts";
import { CallsWithoutResult } from "../requests/calls-without-result.ts";
import { joinParagraphList, joinParagraphs, joinTextParts } from "../requests/prompt-text.ts";
import { UniqueCallIds } from "../requests/unique-call-ids.ts";
import type { WireMessage, WirePart } from "./wire.ts";

/** Converts an attachment into the message part that carries it. */
export type PartOf = (part: Exclude<Part, { type: "text" }>) => WirePart;

/** Options for converting a conversation into messages. */
export interface MessageOptions {
  /** Whether to write tool calls and results as text instead of in their own fields. */
  readonly markup: boolean;
  /** Added to the first system message, or sent as one. Blank: nothing. */
  readonly rules: string;
  /** Added to the last user message. Blank: nothing. */
  readonly injection: string;
  /** Added at the end of the conversation as user text (a follow-up turn). Blank: nothing. */
  readonly suffix: string;
  readonly partOf: PartOf;
}

/** Converts a conversation into chat-completions messages, in the same order. */
export function wireMessages(conversation: Conversation, options: MessageOptions): readonly WireMessage[] {
  const { messages } = conversation;
  const lastUser = messages.findLastIndex((message) => message.role === "user");
  const out: Draft[] = [];
  const { leading, others: rest } = leadingSystem(messages);
  const system = joinParagraphList([
    ...leading.map((message) => joinTextParts(message.parts)),
    options.rules,
  ]);
  if (system !== "") out.push(toDraft({ role: "system", content: system }));
  // The sent ids of the last answer's calls without a result. The protocol refuses an answer without all its results.
  const callsWithoutResult = new CallsWithoutResult<string>();
  const closeCalls = () => {
    for (const id of callsWithoutResult.takeAll()) out.push(toDraft(toolMessage(id, "There is no result.")));
  };
  // A tool message can hold only text, so a user message after the result carries the attachments that a tool
  // returned.
  let pendingParts: WirePart[] = [];
  const flush = () => {
    closeCalls();
    if (pendingParts.length > 0) out.push(toDraft({ role: "user", content: pendingParts }));
    pendingParts = [];
  };
  for (const message of rest) {
    if (message.role === "tool") {
      const sentId = callsWithoutResult.take(message.callId);
      if (sentId === undefined) closeCalls();
      for (const part of addResult(out, message, sentId, options)) pendingParts.push(part);
      continue;
    }
    flush();
    const injection = message === messages[lastUser] ? options.injection : "";
    if (message.role === "assistant" && !options.markup) {
      const toolCalls = withUniqueIds(message.toolCalls, callsWithoutResult);
      out.push(toDraft(toWireMessage({ ...message, toolCalls }, injection, options)));
    } else out.push(toDraft(toWireMessage(message, injection, options)));
  }
  flush();
  if (options.suffix !== "") addUserText(out, options.suffix);
  return out.map(({ message, added }) =>
    message.role === "user" ? { ...message, content: withTexts(message.content, added) } : message,
  );
}

/** A message, and the user texts to add to it. They are joined once, so any number of them takes linear time. */
interface Draft {
  readonly message: WireMessage;
  readonly added: string[];
}

function toDraft(message: WireMessage): Draft {
  return { message, added: [] };
}

/**
 * Separates the leading system messages, which become one: many chat templates accept a single system message, only
 * at the start.
 */
function leadingSystem(messages: readonly Message[]) {
  const first = messages.findIndex((message) => message.role !== "system");
  const index = first === -1 ? messages.length : first;
  return { leading: messages.slice(0, index), others: messages.slice(index) };
}

function toWireMessage(
  message: Exclude<Message, { role: "tool" }>,
  injection: string,
  options: MessageOptions,
): WireMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: joinTextParts(message.parts) };
    case "user": {
      const content = withTexts(toContent(message.parts, options.partOf), [injection]);
      return { role: "user", content, ...(message.name === undefined ? {} : { name: message.name }) };
    }
    case "assistant": {
      const text = joinTextParts(message.parts);
      const { toolCalls, reasoning } = message;
      const thought = reasoning === undefined || reasoning === "" ? {} : { reasoning_content: reasoning };
      if (toolCalls.length === 0) return { role: "assistant", content: text, ...thought };
      if (options.markup) {
        return { role: "assistant", content: joinParagraphs(text, renderToolCalls(toolCalls)), ...thought };
      }
      return {
        role: "assistant",
        content: text === "" ? null : text,
        ...thought,
        tool_calls: toolCalls.map((call) => ({
          id: call.id,
          type: "function",
          function: { name: call.name, arguments: call.arguments },
        })),
      };
    }
  }
}

/**
 * Returns the calls of an answer with the ids to send, and adds them to `callsWithoutResult`. Ids must be unique only
 * within an answer, because the results follow directly.
 */
function withUniqueIds(
  calls: readonly ToolCall[],
  callsWithoutResult: CallsWithoutResult<string>,
): readonly ToolCall[] {
  const ids = new UniqueCallIds();
  return calls.map((call) => {
    const id = ids.assign(call.id);
    callsWithoutResult.add(call.id, id);
    return { ...call, id };
  });
}

function toolMessage(id: string, content: string): WireMessage {
  return { role: "tool", tool_call_id: id, content };
}

/** Adds a tool's result, as text if `sentId` names no call. Returns the attachments in the result. */
function addResult(
  out: Draft[],
  message: Extract<Message, { role: "tool" }>,
  sentId: string | undefined,
  options: MessageOptions,
): WirePart[] {
  const parts = message.parts.map((part) => (part.type === "text" ? part : options.partOf(part)));
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  const attached = parts.filter((part) => part.type !== "text");
  const { callId: id, name, isError = false } = message;
  if (sentId === undefined) {
    addUserText(out, renderToolResult({ id, text, isError, ...(name === undefined ? {} : { name }) }));
  } else {
    // The protocol has no field for the error mark.
    out.push(toDraft(toolMessage(sentId, isError ? `Error: ${text}` : text)));
  }
  if (attached.length === 0) return [];
  return [{ type: "text", text: `Returned by the tool call ${sentId ?? id}:` }, ...attached];
}

/** Adds user text to the last message if that is a user message: many chat templates require alternating roles. */
function addUserText(out: Draft[], text: string): void {
  const last = out.at(-1);
  if (last?.message.role === "user") last.added.push(text);
  else out.push(toDraft({ role: "user", content: text }));
}

function toContent(parts: readonly Part[], toWirePart: PartOf): string | readonly WirePart[] {
  if (parts.every((part) => part.type === "text")) return joinTextParts(parts);
  return parts.map((part) => (part.type === "text" ? { type: "text", text: part.text } : toWirePart(part)));
}

function withTexts(
  content: string | readonly WirePart[],
  texts: readonly string[],
): string | readonly WirePart[] {
  const added = texts.filter((text) => text !== "");
  if (added.length === 0) return content;
  if (typeof content === "string") return joinParagraphList([content, ...added]);
  return [...content, ...added.map((text): WirePart => ({ type: "text", text }))];
}
