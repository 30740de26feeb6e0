import type { Conversation, Message } from "../../conversation/conversation.ts";
import { objectIn } from "../../encoding/json.ts";
import { renderToolCalls, renderToolResult } from "../../tools/instructions.ts";
import { OwnIds } from "../own-ids.ts";
import { joined, paragraphs, textOf } from "../prose.ts";
import type { AttachedPart } from "../request-attachments.ts";
import type { WireCall, WireContent, WirePart, WireResult } from "./wire.ts";

/** How to translate a conversation into contents. */
export interface ContentOptions {
  /** Whether tool calls and results are written as text instead of parts of their own. */
  readonly markup: boolean;
  /** Text that is appended to the last user message; blank: none. */
  readonly injection: string;
  /** User text that ends the conversation (a follow-up turn); blank: none. */
  readonly suffix: string;
  readonly partOf: (part: AttachedPart) => WirePart;
  /** The thought signature of a call; undefined: none, or not known. */
  readonly signatureOf: (callId: string) => string | undefined;
}

/** A conversation in the protocol's form. */
export interface WireConversation {
  /** The text of the system messages at the beginning. */
  readonly system: string;
  readonly contents: readonly WireContent[];
}

/**
 * Translates a conversation. System messages at the beginning become the system instruction. Later ones stay in place as
 * user text in a `system` tag, because the protocol has no such role.
 */
export function wireConversation(conversation: Conversation, options: ContentOptions): WireConversation {
  const { messages } = conversation;
  const first = messages.findIndex((message) => message.role !== "system");
  const leading = messages.slice(0, first === -1 ? messages.length : first);
  const lastUser = messages.findLast((message) => message.role === "user");
  const contents = new Contents();
  for (const message of messages.slice(leading.length)) {
    add(contents, message, options);
    if (message === lastUser) contents.say("user", [{ text: options.injection }]);
  }
  contents.say("user", [{ text: options.suffix }]);
  return { system: joined(leading.map(({ parts }) => textOf(parts))), contents: contents.finish() };
}

function add(contents: Contents, message: Message, options: ContentOptions): void {
  switch (message.role) {
    case "system": {
      const said = textOf(message.parts);
      if (said !== "") contents.say("user", [{ text: `<system>\n${said}\n</system>` }]);
      break;
    }
    case "user": {
      // The protocol has no field for a user's name.
      const name = message.name === undefined ? "" : `[${message.name}]`;
      contents.say("user", [{ text: name }, ...partsOf(message, options)]);
      break;
    }
    case "assistant": {
      // Reasoning text alone is not sent: the model cannot use it.
      const said = textOf(message.parts);
      if (options.markup) {
        contents.say("model", [{ text: paragraphs(said, renderToolCalls(message.toolCalls)) }]);
        break;
      }
      contents.say("model", [{ text: said }]);
      for (const { id, name, arguments: input } of message.toolCalls) {
        contents.call(id, name, objectIn(input), options.signatureOf(id));
      }
      break;
    }
    case "tool":
      addResult(contents, message, options);
      break;
  }
}

function addResult(
  contents: Contents,
  message: Extract<Message, { role: "tool" }>,
  options: ContentOptions,
): void {
  const { callId: id, name, isError = false } = message;
  const parts = partsOf(message, options);
  const text = joined(parts.map((part) => ("text" in part ? part.text : "")));
  const attached = parts.filter((part) => !("text" in part));
  if (!options.markup && contents.result(id, isError ? { error: text } : { output: text }, attached)) return;
  // A result whose call is missing, or already has a result, is written as text.
  const told = renderToolResult({ id, text, isError, ...(name === undefined ? {} : { name }) });
  contents.say("user", [{ text: told }, ...attached]);
}

function partsOf({ parts }: Message, options: ContentOptions): WirePart[] {
  return parts.map((part) => (part.type === "text" ? { text: part.text } : options.partOf(part)));
}

type Outcome = WireResult["functionResponse"]["response"];

/** A call of the last answer. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
  outcome: Outcome | null;
}

/**
 * Keeps the order that the protocol requires: the user begins, and calls are followed by as many results in the same
 * order.
 */
class Contents {
  readonly #contents: { readonly role: WireContent["role"]; readonly parts: WirePart[] }[] = [];
  #open: OpenCall[] = [];
  /** Open calls that wait for their result, by the caller's id. */
  readonly #waiting = new Map<string, OpenCall[]>();
  /** Attachments of tool results. They follow the results in the user's turn. */
  #attached: WirePart[] = [];
  readonly #ids = new OwnIds();
  /** Whether any of the open calls has its result. */
  #answered = false;
  /** Whether the last turn contains results. It may contain nothing else. */
  #closed = false;

  /** Adds parts to the turn of a role. Blank text is left out, because the protocol rejects it. */
  say(role: WireContent["role"], parts: readonly WirePart[]): void {
    const saying = parts.filter((part) => !("text" in part) || part.text.trim() !== "");
    if (saying.length === 0) return;
    this.#settle();
    const turn = this.#turn(role);
    for (const part of saying) turn.push(part);
  }

  /** Adds a tool call to an answer. */
  call(callId: string, name: string, args: Readonly<Record<string, unknown>>, signature?: string): void {
    if (this.#answered) this.#settle();
    const id = this.#ids.take(callId || "call");
    const open: OpenCall = { id, name, outcome: null };
    this.#open.push(open);
    const waiting = this.#waiting.get(callId);
    if (waiting === undefined) this.#waiting.set(callId, [open]);
    else waiting.push(open);
    const call: WireCall = {
      functionCall: { id, name, args },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    };
    this.#turn("model").push(call);
  }

  /** Adds the result of a call. Returns false if no call of the last answer with this id waits for a result. */
  result(callId: string, outcome: Outcome, attached: readonly WirePart[]): boolean {
    const call = this.#waiting.get(callId)?.shift();
    if (call === undefined) return false;
    call.outcome = outcome;
    this.#answered = true;
    if (attached.length > 0) {
      this.#attached.push({ text: `Returned by the tool call ${call.id}:` }, ...attached);
    }
    return true;
  }

  /** Returns all turns: at least one, and the first is the user's. */
  finish(): readonly WireContent[] {
    this.#settle();
    if (this.#contents[0]?.role !== "user") {
      this.#contents.unshift({ role: "user", parts: [{ text: "Begin." }] });
    }
    return this.#contents;
  }

  /** Adds the results of the last answer's calls. A call that the caller left without a result gets an error. */
  #settle(): void {
    if (this.#open.length === 0) return;
    const parts = this.#open.map(({ id, name, outcome }): WireResult => {
      const response = outcome ?? { error: "There is no result." };
      return { functionResponse: { id, name, response } };
    });
    this.#contents.push({ role: "user", parts });
    this.#closed = true;
    this.#open = [];
    this.#waiting.clear();
    this.#answered = false;
    const attached = this.#attached;
    this.#attached = [];
    if (attached.length > 0) this.say("user", attached);
  }

  #turn(role: WireContent["role"]): WirePart[] {
    const last = this.#contents.at(-1);
    if (last?.role === role && !this.#closed) return last.parts;
    this.#closed = false;
    const parts: WirePart[] = [];
    this.#contents.push({ role, parts });
    return parts;
  }
}
