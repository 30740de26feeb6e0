import type { Conversation, Message } from "../../conversation/conversation.ts";
import { renderToolCalls, renderToolResult } from "../../tools/instructions.ts";
import { OwnIds } from "../own-ids.ts";
import { joined, paragraphs, textOf } from "../prose.ts";
import type { AttachedPart } from "../request-attachments.ts";
import type { WireItem, WirePart, WireText, WireThought } from "./wire.ts";

/** The longest id of a call that the public API takes, in characters. */
const MAX_CALL_ID = 64;

/** How a conversation becomes items. */
export interface ItemOptions {
  /** Joins the system message at the beginning, or becomes one; blank: nothing. */
  readonly rules: string;
  /** Whether calls and results are written as text rather than as their own items. */
  readonly markup: boolean;
  /** Joins the last user message; blank: nothing. */
  readonly injection: string;
  /** Ends the conversation as the user's words (a follow-up turn); blank: nothing. */
  readonly suffix: string;
  readonly partOf: (part: AttachedPart) => WirePart;
  /** What the model thought before a call; empty: nothing, or it is not known. */
  readonly thoughtsBefore: (callId: string) => readonly WireThought[];
}

/**
 * Translates a conversation. System messages with which it begins become one: many chat templates accept no more. They are
 * no `instructions`, in which the public API does not look for the word JSON before it answers with an object.
 */
export function wireItems({ messages }: Conversation, options: ItemOptions): readonly WireItem[] {
  const first = messages.findIndex((message) => message.role !== "system");
  const leading = messages.slice(0, first === -1 ? messages.length : first);
  const lastUser = messages.findLast((message) => message.role === "user");
  const items = new Items();
  items.say("system", joined([...leading.map(({ parts }) => textOf(parts)), options.rules]));
  for (const message of messages.slice(leading.length)) {
    add(items, message, options);
    if (message === lastUser) items.sayMore(options.injection);
  }
  items.sayMore(options.suffix);
  return items.finish();
}

function add(items: Items, message: Message, options: ItemOptions): void {
  switch (message.role) {
    case "system":
      items.say("system", textOf(message.parts));
      break;
    case "user": {
      // The protocol has no place for a name.
      const name = message.name === undefined ? "" : `[${message.name}]`;
      items.say("user", contentOf([textPart(name), ...partsOf(message, options)]));
      break;
    }
    case "assistant": {
      // Reasoning of which nothing but the words is left is not sent: the protocol takes it sealed alone.
      const said = textOf(message.parts);
      if (options.markup) {
        items.say("assistant", paragraphs(said, renderToolCalls(message.toolCalls)));
        break;
      }
      const calls = message.toolCalls.map((call) => ({ ...call, thoughts: options.thoughtsBefore(call.id) }));
      items.answer(said, calls);
      break;
    }
    case "tool":
      addResult(items, message, options);
      break;
  }
}

function addResult(items: Items, message: Extract<Message, { role: "tool" }>, options: ItemOptions): void {
  const { callId: id, name, isError = false } = message;
  const parts = partsOf(message, options);
  // The protocol has no place for the error mark.
  const marked = isError ? [textPart("Error:"), ...parts] : parts;
  if (!options.markup && items.result(id, contentOf(marked))) return;
  // A result whose call is not there, or has its result already, is told in words.
  const words = joined(parts.map((part) => (part.type === "input_text" ? part.text : "")));
  const told = renderToolResult({ id, text: words, isError, ...(name === undefined ? {} : { name }) });
  items.say("user", contentOf([textPart(told), ...parts.filter((part) => part.type !== "input_text")]));
}

function partsOf({ parts }: Message, options: ItemOptions): WirePart[] {
  return parts.map((part) => (part.type === "text" ? textPart(part.text) : options.partOf(part)));
}

function textPart(text: string): WireText {
  return { type: "input_text", text };
}

/** Words alone as text, which every backend takes; blank ones are left out. */
function contentOf(parts: readonly WirePart[]): string | readonly WirePart[] {
  const saying = parts.filter((part) => part.type !== "input_text" || part.text !== "");
  const texts = saying.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  return texts.length === saying.length ? joined(texts) : saying;
}

/** A call of an earlier answer, and what the model thought before it. */
interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly thoughts: readonly WireThought[];
}

/** Keeps what the protocol demands: each call has an id of its own and one result, and each result its call. */
class Items {
  readonly #items: WireItem[] = [];
  /** Calls without a result: the caller's id, and the one that is sent. */
  readonly #open = new Map<string, string>();
  readonly #ids = new OwnIds();
  /** What of the user's words joins the last message, if that is the user's. */
  #added: string[] = [];

  /** Adds a message. One that says nothing is left out. */
  say(role: "system" | "user" | "assistant", content: string | readonly WirePart[]): void {
    this.#settle();
    this.#join();
    if (content.length > 0) this.#items.push({ type: "message", role, content });
  }

  /** Adds words of the user, to its message if that is the last item. */
  sayMore(text: string): void {
    if (text === "") return;
    const last = this.#items.at(-1);
    if (last?.type === "message" && last.role === "user") this.#added.push(text);
    else this.say("user", text);
  }

  /** Adds an answer. What was thought before its first call stands before everything else. */
  answer(said: string, calls: readonly AnsweredCall[]): void {
    this.#settle();
    this.#join();
    for (const thought of calls[0]?.thoughts ?? []) this.#items.push(thought);
    this.say("assistant", said);
    for (const [position, call] of calls.entries()) {
      if (position > 0) for (const thought of call.thoughts) this.#items.push(thought);
      const id = this.#ownId(call.id);
      this.#open.set(call.id, id);
      const { name, arguments: text } = call;
      this.#items.push({ type: "function_call", call_id: id, name, arguments: text });
    }
  }

  /** Adds the result of a call; false: no call of the last answer waits for it. */
  result(callId: string, output: string | readonly WirePart[]): boolean {
    const id = this.#open.get(callId);
    if (id === undefined) return false;
    this.#open.delete(callId);
    this.#items.push({ type: "function_call_output", call_id: id, output });
    return true;
  }

  /** All items: at least one, as the protocol demands. */
  finish(): readonly WireItem[] {
    this.#settle();
    this.#join();
    if (this.#items.length === 0) this.say("user", "Begin.");
    return this.#items;
  }

  /** Gives a result to each call that the caller has left without one. */
  #settle(): void {
    for (const id of [...this.#open.keys()]) this.result(id, "There is no result.");
  }

  #join(): void {
    const last = this.#items.at(-1);
    const added = this.#added;
    if (added.length === 0 || last?.type !== "message") return;
    this.#added = [];
    const { content } = last;
    const joint =
      typeof content === "string" ? joined([content, ...added]) : [...content, ...added.map(textPart)];
    this.#items[this.#items.length - 1] = { ...last, content: joint };
  }

  /** The id that a call is sent with: the protocol wants each id once, and none that is long. */
  #ownId(id: string): string {
    const short = id.slice(0, MAX_CALL_ID) || "call";
    return this.#ids.take(short, short.slice(0, MAX_CALL_ID - 12));
  }
}
