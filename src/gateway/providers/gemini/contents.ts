import type { Conversation, Message } from "../../../core/conversation/conversation.ts";
import { parseObjectExactly } from "../../../core/encoding/json.ts";
import { renderToolCalls, renderToolResult } from "../../tools/instructions.ts";
import { CallsWithoutResult } from "../requests/calls-without-result.ts";
import { joinParagraphList, joinParagraphs, joinTextParts } from "../requests/prompt-text.ts";
import type { AttachedPart } from "../requests/request-attachments.ts";
import { UniqueCallIds } from "../requests/unique-call-ids.ts";
import type { WireContent, WirePart, WireToolCall, WireToolResult } from "./wire.ts";

/** How to translate a conversation into contents. */
export interface ContentOptions {
  /** Whether tool calls and results are written as text instead of parts of their own. */
  readonly toolCallsAsText: boolean;
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
export function toWireConversation(conversation: Conversation, options: ContentOptions): WireConversation {
  const { messages } = conversation;
  const first = messages.findIndex((message) => message.role !== "system");
  const leading = messages.slice(0, first === -1 ? messages.length : first);
  const lastUser = messages.findLast((message) => message.role === "user");
  const contents = new Contents();
  for (const message of messages.slice(leading.length)) {
    addMessage(contents, message, options);
    if (message === lastUser) contents.addParts("user", [{ text: options.injection }]);
  }
  contents.addParts("user", [{ text: options.suffix }]);
  return {
    system: joinParagraphList(leading.map(({ parts }) => joinTextParts(parts))),
    contents: contents.finish(),
  };
}

function addMessage(contents: Contents, message: Message, options: ContentOptions): void {
  switch (message.role) {
    case "system": {
      const messageText = joinTextParts(message.parts);
      if (messageText !== "") contents.addParts("user", [{ text: `<system>\n${messageText}\n</system>` }]);
      break;
    }
    case "user": {
      // The protocol has no field for a user's name.
      const name = message.name === undefined ? "" : `[${message.name}]`;
      contents.addParts("user", [{ text: name }, ...toWireParts(message, options)]);
      break;
    }
    case "assistant": {
      // Reasoning text alone is not sent: the model cannot use it.
      const messageText = joinTextParts(message.parts);
      if (options.toolCallsAsText) {
        contents.addParts("model", [
          { text: joinParagraphs(messageText, renderToolCalls(message.toolCalls)) },
        ]);
        break;
      }
      contents.addParts("model", [{ text: messageText }]);
      for (const { id, name, arguments: input } of message.toolCalls) {
        contents.addCall(id, name, parseObjectExactly(input), options.signatureOf(id));
      }
      break;
    }
    case "tool":
      addToolResult(contents, message, options);
      break;
  }
}

function addToolResult(
  contents: Contents,
  message: Extract<Message, { role: "tool" }>,
  options: ContentOptions,
): void {
  const { callId: id, name, isError = false } = message;
  const parts = toWireParts(message, options);
  const text = joinParagraphList(parts.map((part) => ("text" in part ? part.text : "")));
  const attached = parts.filter((part) => !("text" in part));
  if (
    !options.toolCallsAsText &&
    contents.recordResult(id, isError ? { error: text } : { output: text }, attached)
  )
    return;
  // A result whose call is missing, or already has a result, is written as text.
  const resultText = renderToolResult({ id, text, isError, ...(name === undefined ? {} : { name }) });
  contents.addParts("user", [{ text: resultText }, ...attached]);
}

function toWireParts({ parts }: Message, options: ContentOptions): WirePart[] {
  return parts.map((part) => (part.type === "text" ? { text: part.text } : options.partOf(part)));
}

type Outcome = WireToolResult["functionResponse"]["response"];

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
  #openCalls: OpenCall[] = [];
  /** Open calls that wait for their result. */
  readonly #callsWithoutResult = new CallsWithoutResult<OpenCall>();
  /** Attachments of tool results. They follow the results in the user's turn. */
  #attached: WirePart[] = [];
  readonly #ids = new UniqueCallIds();
  /** Whether any of the open calls has its result. */
  #hasResult = false;
  /** Whether the last turn contains results. It may contain nothing else. */
  #isResultTurn = false;

  /** Adds parts to the turn of a role. Blank text is left out, because the protocol rejects it. */
  addParts(role: WireContent["role"], parts: readonly WirePart[]): void {
    const nonEmptyParts = parts.filter((part) => !("text" in part) || part.text.trim() !== "");
    if (nonEmptyParts.length === 0) return;
    this.#flushResults();
    const turn = this.#getOrAddTurn(role);
    for (const part of nonEmptyParts) turn.push(part);
  }

  /** Adds a tool call to an answer. */
  addCall(callId: string, name: string, args: Readonly<Record<string, unknown>>, signature?: string): void {
    if (this.#hasResult) this.#flushResults();
    const id = this.#ids.assign(callId || "call");
    const openCall: OpenCall = { id, name, outcome: null };
    this.#openCalls.push(openCall);
    this.#callsWithoutResult.add(callId, openCall);
    const call: WireToolCall = {
      functionCall: { id, name, args },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    };
    this.#getOrAddTurn("model").push(call);
  }

  /** Adds the result of a call. Returns false if no call of the last answer with this id waits for a result. */
  recordResult(callId: string, outcome: Outcome, attached: readonly WirePart[]): boolean {
    const call = this.#callsWithoutResult.take(callId);
    if (call === undefined) return false;
    call.outcome = outcome;
    this.#hasResult = true;
    if (attached.length > 0) {
      this.#attached.push({ text: `Returned by the tool call ${call.id}:` }, ...attached);
    }
    return true;
  }

  /** Returns all turns: at least one, and the first is the user's. */
  finish(): readonly WireContent[] {
    this.#flushResults();
    if (this.#contents[0]?.role !== "user") {
      this.#contents.unshift({ role: "user", parts: [{ text: "Begin." }] });
    }
    return this.#contents;
  }

  /** Adds the results of the last answer's calls. A call that the caller left without a result gets an error. */
  #flushResults(): void {
    if (this.#openCalls.length === 0) return;
    const parts = this.#openCalls.map(({ id, name, outcome }): WireToolResult => {
      const response = outcome ?? { error: "There is no result." };
      return { functionResponse: { id, name, response } };
    });
    this.#contents.push({ role: "user", parts });
    this.#isResultTurn = true;
    this.#openCalls = [];
    this.#callsWithoutResult.takeAll();
    this.#hasResult = false;
    const attached = this.#attached;
    this.#attached = [];
    if (attached.length > 0) this.addParts("user", attached);
  }

  #getOrAddTurn(role: WireContent["role"]): WirePart[] {
    const last = this.#contents.at(-1);
    if (last?.role === role && !this.#isResultTurn) return last.parts;
    this.#isResultTurn = false;
    const parts: WirePart[] = [];
    this.#contents.push({ role, parts });
    return parts;
  }
}
