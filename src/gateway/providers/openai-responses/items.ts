import type { Conversation, Message } from "../../../core/conversation/conversation.ts";
import { renderToolCalls, renderToolResult } from "../../tools/instructions.ts";
import { CallsWithoutResult } from "../requests/calls-without-result.ts";
import { joinParagraphList, joinParagraphs, joinTextParts } from "../requests/prompt-text.ts";
import type { AttachedPart } from "../requests/request-attachments.ts";
import { UniqueCallIds } from "../requests/unique-call-ids.ts";
import type { WireItem, WirePart, WireReasoningItem, WireText } from "./wire.ts";

/** The longest call id that the public API accepts, in characters. */
const MAX_CALL_ID = 64;

/** How to translate a conversation into items. */
export interface ItemOptions {
  /** Text that is appended to the first system message, or becomes one; blank: none. */
  readonly rules: string;
  /** Whether tool calls and results are written as text instead of items of their own. */
  readonly toolCallsAsText: boolean;
  /** Text that is appended to the last user message; blank: none. */
  readonly injection: string;
  /** User text that ends the conversation (a follow-up turn); blank: none. */
  readonly suffix: string;
  readonly partOf: (part: AttachedPart) => WirePart;
  /** The reasoning items before a call; empty: none, or not known. */
  readonly thoughtsBefore: (callId: string) => readonly WireReasoningItem[];
}

/**
 * Translates a conversation. System messages at the beginning become one message, because many chat templates accept
 * only one. They are not sent as `instructions`: before the public API answers with a JSON object, it looks for the word
 * JSON in the input, but not in `instructions`.
 */
export function toWireItems({ messages }: Conversation, options: ItemOptions): readonly WireItem[] {
  const first = messages.findIndex((message) => message.role !== "system");
  const leading = messages.slice(0, first === -1 ? messages.length : first);
  const lastUser = messages.findLast((message) => message.role === "user");
  const items = new Items();
  items.addMessageItem(
    "system",
    joinParagraphList([...leading.map(({ parts }) => joinTextParts(parts)), options.rules]),
  );
  for (const message of messages.slice(leading.length)) {
    addMessage(items, message, options);
    if (message === lastUser) items.appendUserText(options.injection);
  }
  items.appendUserText(options.suffix);
  return items.finish();
}

function addMessage(items: Items, message: Message, options: ItemOptions): void {
  switch (message.role) {
    case "system":
      items.addMessageItem("system", joinTextParts(message.parts));
      break;
    case "user": {
      // The protocol has no field for a user's name.
      const name = message.name === undefined ? "" : `[${message.name}]`;
      items.addMessageItem("user", toContent([toTextPart(name), ...toWireParts(message, options)]));
      break;
    }
    case "assistant": {
      // Reasoning text alone is not sent: the protocol accepts reasoning only with its encrypted content.
      const messageText = joinTextParts(message.parts);
      if (options.toolCallsAsText) {
        items.addMessageItem("assistant", joinParagraphs(messageText, renderToolCalls(message.toolCalls)));
        break;
      }
      const calls = message.toolCalls.map((call) => ({ ...call, thoughts: options.thoughtsBefore(call.id) }));
      items.addAnswer(messageText, calls);
      break;
    }
    case "tool":
      addToolResult(items, message, options);
      break;
  }
}

function addToolResult(
  items: Items,
  message: Extract<Message, { role: "tool" }>,
  options: ItemOptions,
): void {
  const { callId: id, name, isError = false } = message;
  const parts = toWireParts(message, options);
  // The protocol has no field for an error.
  const marked = isError ? [toTextPart("Error:"), ...parts] : parts;
  if (!options.toolCallsAsText && items.recordResult(id, toContent(marked))) return;
  // A result whose call is missing, or already has a result, is written as text.
  const resultText = joinParagraphList(parts.map((part) => (part.type === "input_text" ? part.text : "")));
  const renderedResult = renderToolResult({
    id,
    text: resultText,
    isError,
    ...(name === undefined ? {} : { name }),
  });
  items.addMessageItem(
    "user",
    toContent([toTextPart(renderedResult), ...parts.filter((part) => part.type !== "input_text")]),
  );
}

function toWireParts({ parts }: Message, options: ItemOptions): WirePart[] {
  return parts.map((part) => (part.type === "text" ? toTextPart(part.text) : options.partOf(part)));
}

function toTextPart(text: string): WireText {
  return { type: "input_text", text };
}

/** Returns parts that are all text as one string, which every backend accepts. Empty texts are left out. */
function toContent(parts: readonly WirePart[]): string | readonly WirePart[] {
  const nonEmptyParts = parts.filter((part) => part.type !== "input_text" || part.text !== "");
  const texts = nonEmptyParts.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  return texts.length === nonEmptyParts.length ? joinParagraphList(texts) : nonEmptyParts;
}

/** A tool call of an earlier answer, and the reasoning items before it. */
interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly thoughts: readonly WireReasoningItem[];
}

/** Keeps the rules of the protocol: each call has a unique id and exactly one result, and each result has a call. */
class Items {
  readonly #items: WireItem[] = [];
  /** The sent ids of the calls that have no result yet. */
  readonly #callsWithoutResult = new CallsWithoutResult<string>();
  readonly #ids = new UniqueCallIds();
  /** User texts that will be appended to the last message, if that is a user message. */
  #pendingUserTexts: string[] = [];

  /** Adds a message. An empty message is left out. */
  addMessageItem(role: "system" | "user" | "assistant", content: string | readonly WirePart[]): void {
    this.#addMissingResults();
    this.#flushUserTexts();
    if (content.length > 0) this.#items.push({ type: "message", role, content });
  }

  /** Adds user text: to the last item if that is a user message, otherwise as a new message. */
  appendUserText(text: string): void {
    if (text === "") return;
    const last = this.#items.at(-1);
    if (last?.type === "message" && last.role === "user") this.#pendingUserTexts.push(text);
    else this.addMessageItem("user", text);
  }

  /** Adds an assistant message. The reasoning before its first call comes first. */
  addAnswer(answerText: string, calls: readonly AnsweredCall[]): void {
    this.#addMissingResults();
    this.#flushUserTexts();
    for (const thought of calls[0]?.thoughts ?? []) this.#items.push(thought);
    this.addMessageItem("assistant", answerText);
    for (const [position, call] of calls.entries()) {
      if (position > 0) for (const thought of call.thoughts) this.#items.push(thought);
      const id = this.#uniqueId(call.id);
      this.#callsWithoutResult.add(call.id, id);
      const { name, arguments: text } = call;
      this.#items.push({ type: "function_call", call_id: id, name, arguments: text });
    }
  }

  /** Adds the result of a call. Returns false if no call of the last answer with this id waits for a result. */
  recordResult(callId: string, output: string | readonly WirePart[]): boolean {
    const id = this.#callsWithoutResult.take(callId);
    if (id === undefined) return false;
    this.#addResult(id, output);
    return true;
  }

  /** Returns all items: at least one, as the protocol requires. */
  finish(): readonly WireItem[] {
    this.#addMissingResults();
    this.#flushUserTexts();
    if (this.#items.length === 0) this.addMessageItem("user", "Begin.");
    return this.#items;
  }

  /** Adds a result for each call that the caller left without one. */
  #addMissingResults(): void {
    for (const id of this.#callsWithoutResult.takeAll()) this.#addResult(id, "There is no result.");
  }

  #addResult(id: string, output: string | readonly WirePart[]): void {
    this.#items.push({ type: "function_call_output", call_id: id, output });
  }

  #flushUserTexts(): void {
    const last = this.#items.at(-1);
    const added = this.#pendingUserTexts;
    if (added.length === 0 || last?.type !== "message") return;
    this.#pendingUserTexts = [];
    const { content } = last;
    const joinedContent =
      typeof content === "string"
        ? joinParagraphList([content, ...added])
        : [...content, ...added.map(toTextPart)];
    this.#items[this.#items.length - 1] = { ...last, content: joinedContent };
  }

  /** The id that a call is sent with. The protocol requires unique ids of limited length. */
  #uniqueId(id: string): string {
    const truncatedId = id.slice(0, MAX_CALL_ID) || "call";
    return this.#ids.assign(truncatedId, truncatedId.slice(0, MAX_CALL_ID - 12));
  }
}
