import { isObject, type JsonObject } from "../../encoding/json.ts";
import { ProviderError } from "../../errors/provider-error.ts";
import { TypedEventDecoder } from "../event-stream.ts";
import { stringIn } from "../json.ts";
import { cutsOff, type ProviderEvent, type ProviderFinish } from "../provider.ts";
import { errorFrom } from "../refusal.ts";
import { ToolCallAssembler } from "../tool-calls.ts";
import { STREAM_ERRORS } from "./errors.ts";
import { UsageCount } from "./usage.ts";
import type { WireThought } from "./wire.ts";

/** What a decoder of one answer needs to know. */
export interface AnswerContext {
  /** The account's token, which no message may show. */
  readonly secret: string;
  /** Makes an id for a call or a message to which the backend gave none. */
  readonly newId: () => string;
  /** Is told of each call what the model thought before it. */
  readonly remember?: (callId: string, thoughts: readonly WireThought[]) => void;
}

/** A content block that has begun and not ended. */
type OpenBlock =
  | { readonly type: "text"; readonly start: number; readonly citations: unknown[] }
  | { readonly type: "thinking"; thinking: string; signature: string }
  | { readonly type: "tool_use"; readonly input: unknown; filled: boolean };

/** Reads the events of one answer; one that came whole is read as the events that it would have come in. */
class Answer {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #context: AnswerContext;
  readonly #calls: ToolCallAssembler;
  readonly #usage = new UsageCount();
  readonly #open = new Map<unknown, OpenBlock>();
  /** The thoughts since the last call. */
  #thoughts: WireThought[] = [];
  /** Those before each call, in order. */
  readonly #thoughtsBefore: (readonly WireThought[])[] = [];
  /** Characters of text so far, and pages that were found. */
  #said = 0;
  #found = 0;
  #reason = "";
  #stopSequence: string | null = null;
  /** The last call, if it ended without any arguments. Only what follows shows that it has none. */
  #blank: unknown = null;

  constructor(emit: (event: ProviderEvent) => void, context: AnswerContext) {
    this.#emit = emit;
    this.#context = context;
    this.#calls = new ToolCallAssembler(
      (event) => {
        if (event.type === "tool-call") {
          context.remember?.(event.id, this.#thoughtsBefore[event.index] ?? []);
        }
        emit(event);
      },
      () => `toolu_${context.newId().replaceAll("-", "")}`,
    );
  }

  /** Takes one event; true: it was the last. Events of an unknown type are ignored. */
  take(type: unknown, event: JsonObject): boolean {
    switch (type) {
      case "message_start":
        this.start(isObject(event["message"]) ? event["message"] : {});
        break;
      case "content_block_start":
        if (isObject(event["content_block"])) this.#begin(event["index"], event["content_block"]);
        break;
      case "content_block_delta":
        if (isObject(event["delta"])) this.#add(event["index"], event["delta"]);
        break;
      case "content_block_stop":
        this.#end(event["index"]);
        break;
      case "message_delta":
        this.stop(isObject(event["delta"]) ? event["delta"] : {});
        this.#usage.take(event["usage"]);
        break;
      case "message_stop":
        this.finish();
        return true;
      case "error":
        throw errorFrom(event, 0, this.#context.secret, STREAM_ERRORS);
    }
    return false;
  }

  /**
   * Takes an answer that came whole. A call that stands last in one that was cut off is left out: its input is an object
   * whether all of it came or not.
   */
  takeWhole(message: JsonObject): void {
    const { type, content, stop_reason: reason } = message;
    if (type === "error") throw errorFrom(message, 0, this.#context.secret, STREAM_ERRORS);
    if (!Array.isArray(content)) throw new ProviderError("cut", "the provider's answer has no content");
    this.start(message);
    const cut = typeof reason === "string" && cutsOff(finishReason(reason));
    for (const [index, block] of content.entries()) {
      if (!isObject(block)) continue;
      if (cut && index === content.length - 1 && block["type"] === "tool_use") continue;
      this.#begin(index, block);
      this.#end(index);
    }
    this.stop(message);
    this.finish();
  }

  start(message: JsonObject): void {
    const { id, usage } = message;
    const messageId = typeof id === "string" && id !== "" ? id : `msg_${this.#context.newId()}`;
    this.#emit({ type: "start", messageId });
    this.#usage.take(usage);
  }

  stop({ stop_reason: reason, stop_sequence: sequence }: JsonObject): void {
    if (typeof reason === "string") this.#reason = reason;
    if (typeof sequence === "string") this.#stopSequence = sequence;
  }

  finish(): void {
    for (const index of [...this.#open.keys()]) this.#end(index);
    const reason = finishReason(this.#reason);
    this.#calls.finish(cutsOff(reason));
    const usage = this.#usage.stated();
    if (usage !== null) this.#emit({ type: "usage", usage });
    // Compatible servers may say `end_turn` after calls.
    const told = this.#calls.any && reason === "stop" ? "tool_calls" : reason;
    const at = this.#stopSequence === null ? {} : { stopSequence: this.#stopSequence };
    this.#emit({ type: "finish", reason: told, ...at });
  }

  #begin(index: unknown, block: JsonObject): void {
    this.#fillBlank();
    switch (block["type"]) {
      case "text":
        this.#open.set(index, { type: "text", start: this.#said, citations: listIn(block, "citations") });
        this.#say("text", block["text"]);
        break;
      case "web_search_tool_result":
        this.#take(listIn(block, "content"));
        break;
      case "thinking":
        this.#open.set(index, {
          type: "thinking",
          thinking: stringIn(block, "thinking"),
          signature: stringIn(block, "signature"),
        });
        this.#say("reasoning", block["thinking"]);
        break;
      case "redacted_thinking":
        this.#thoughts.push({ type: "redacted_thinking", data: stringIn(block, "data") });
        break;
      case "tool_use":
        this.#open.set(index, { type: "tool_use", input: block["input"], filled: false });
        this.#thoughtsBefore.push(this.#thoughts);
        this.#thoughts = [];
        this.#calls.take({ index, id: block["id"], function: { name: block["name"] } });
        break;
    }
  }

  #add(index: unknown, delta: JsonObject): void {
    const block = this.#open.get(index);
    if (block?.type === "text") {
      if (delta["type"] === "citations_delta") block.citations.push(delta["citation"]);
      else this.#say("text", delta["text"]);
    } else if (block?.type === "thinking") {
      block.thinking += stringIn(delta, "thinking");
      block.signature = stringIn(delta, "signature") || block.signature;
      this.#say("reasoning", delta["thinking"]);
    } else if (block?.type === "tool_use" && stringIn(delta, "partial_json") !== "") {
      block.filled = true;
      this.#calls.take({ index, function: { arguments: delta["partial_json"] } });
    }
  }

  #end(index: unknown): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block?.type === "text") {
      for (const citation of block.citations) this.#cite(citation, block.start);
    } else if (block?.type === "thinking") {
      const { type, thinking, signature } = block;
      this.#thoughts.push({ type, thinking, signature });
    } else if (block?.type === "tool_use") {
      // A call without arguments comes without deltas; some servers give all of them at once.
      const whole = isObject(block.input) && Object.keys(block.input).length > 0;
      if (!block.filled && whole) this.#calls.take({ index, function: { arguments: block.input } });
      else if (!block.filled) this.#blank = index;
      this.#calls.settle();
    }
  }

  #fillBlank(): void {
    if (this.#blank === null) return;
    this.#calls.take({ index: this.#blank, function: { arguments: {} } });
    this.#blank = null;
    this.#calls.settle();
  }

  #say(type: "text" | "reasoning", text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    if (type === "text") this.#said += text.length;
    this.#emit({ type, text });
  }

  /** Pages that a search found; one that failed found none. */
  #take(found: readonly unknown[]): void {
    const results = found.filter(isObject).filter(({ type }) => type === "web_search_result");
    if (results.length === 0) return;
    const pages = results.map((page) => {
      this.#found += 1;
      return { index: this.#found, url: stringIn(page, "url"), title: stringIn(page, "title") };
    });
    this.#emit({ type: "search", results: pages });
  }

  /** A text block is what its citations are given for. */
  #cite(citation: unknown, start: number): void {
    if (!isObject(citation) || citation["type"] !== "web_search_result_location") return;
    const quoted = stringIn(citation, "cited_text");
    const end = this.#said;
    this.#emit({
      type: "citation",
      url: stringIn(citation, "url"),
      title: stringIn(citation, "title"),
      start: end,
      end,
      claim: { start, end },
      ...(quoted === "" ? {} : { quoted }),
    });
  }
}

/** Decodes a streamed message. It has ended when it says so, and not before. */
export class MessageStreamDecoder extends TypedEventDecoder {
  constructor(context: AnswerContext) {
    super((emit) => new Answer(emit, context));
  }
}

/** The events of a message that came whole. Throws as a decoder does. */
export function messageEvents(message: JsonObject, context: AnswerContext): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  new Answer((event) => events.push(event), context).takeWhole(message);
  return events;
}

function listIn(object: JsonObject, name: string): unknown[] {
  const value = object[name];
  return Array.isArray(value) ? [...value] : [];
}

/**
 * An unknown reason is a stop: the provider said that it has finished. A paused turn could only be continued with the
 * server's tools in the midst of their work: it stays `incomplete`.
 */
function finishReason(reason: string): ProviderFinish {
  switch (reason) {
    case "max_tokens":
    case "max_output_tokens":
    case "length":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "tool_calls";
    case "refusal":
    case "content_filter":
      return "content_filter";
    case "pause_turn":
      return "incomplete";
  }
  return "stop";
}
