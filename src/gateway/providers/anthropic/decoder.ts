import { isObject, type JsonObject, parseObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { TypedEventDecoder } from "../answers/event-stream.ts";
import {
  mayBeTruncated,
  type ProviderEvent,
  type ProviderFinish,
  TEXT_SEPARATOR,
  toQueryEvents,
} from "../answers/provider-events.ts";
import { ToolCallAssembler } from "../answers/tool-call-assembler.ts";
import { toProviderError } from "../errors/error-response.ts";
import { stringIn } from "../json.ts";
import { STREAM_ERROR_KINDS } from "./errors.ts";
import { UsageCollector } from "./usage.ts";
import type { WireThinkingBlock } from "./wire.ts";

/** What the decoder of one answer needs. */
export interface AnswerContext {
  /** The account's token. No error message may contain it. */
  readonly secret: string;
  /** Creates an id for a call or a message that the backend sent without one. */
  readonly newId: () => string;
  /** Called for each tool call, with the thinking blocks before it. */
  readonly rememberThinking?: (callId: string, thoughts: readonly WireThinkingBlock[]) => void;
}

/** A content block that has started and not ended. */
type OpenBlock =
  | { readonly type: "text"; readonly start: number; readonly citations: unknown[] }
  | { readonly type: "thinking"; thinking: string; signature: string }
  | { readonly type: "tool_use"; readonly input: unknown; hasArguments: boolean }
  /** The provider's own web search. `json`: the pieces of its input. */
  | { readonly type: "search"; readonly input: unknown; json: string };

/** The longest input of a web search that is read, in characters. */
const MAX_SEARCH_INPUT = 10_000;

/** Parses the events of one answer. A whole (not streamed) answer is processed as the events of a stream. */
class AnswerParser {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #context: AnswerContext;
  readonly #calls: ToolCallAssembler;
  readonly #usage = new UsageCollector();
  readonly #open = new Map<unknown, OpenBlock>();
  /** Thinking blocks since the last call. */
  #thoughts: WireThinkingBlock[] = [];
  /** Thinking blocks before each call, in the order of the calls. */
  readonly #thoughtsBefore: (readonly WireThinkingBlock[])[] = [];
  /** Ids of the calls in the first event. */
  readonly #startCallIds = new Set<unknown>();
  /** Characters of text so far, and search results so far. */
  #textLength = 0;
  #searchResultCount = 0;
  /** Whether a server tool has run since the last text. Other text blocks in a row are one text. */
  #hasServerTool = false;
  #reason = "";
  #stopSequence: string | null = null;
  /** Index of the last call, if it ended without arguments. Only a following block shows that the call has none. */
  #emptyCallIndex: unknown = null;

  constructor(emit: (event: ProviderEvent) => void, context: AnswerContext) {
    this.#emit = emit;
    this.#context = context;
    this.#calls = new ToolCallAssembler(
      (event) => {
        if (event.type === "tool-call") {
          context.rememberThinking?.(event.id, this.#thoughtsBefore[event.index] ?? []);
        }
        emit(event);
      },
      () => `toolu_${context.newId().replaceAll("-", "")}`,
    );
  }

  /** Processes one event. Returns true for the last event. Events of an unknown type are ignored. */
  take(type: unknown, event: JsonObject): boolean {
    switch (type) {
      case "message_start":
        this.#startStream(isObject(event["message"]) ? event["message"] : {});
        break;
      case "content_block_start":
        if (isObject(event["content_block"]) && !this.#isKnownCall(event["content_block"])) {
          this.#begin(event["index"], event["content_block"]);
        }
        break;
      case "content_block_delta":
        if (isObject(event["delta"])) this.#add(event["index"], event["delta"]);
        break;
      case "content_block_stop":
        this.#end(event["index"]);
        break;
      case "message_delta":
        this.stop(isObject(event["delta"]) ? event["delta"] : {});
        this.#usage.add(event["usage"]);
        break;
      case "message_stop":
        this.finish();
        return true;
      case "error":
        throw toProviderError(event, 0, this.#context.secret, STREAM_ERROR_KINDS);
    }
    return false;
  }

  /**
   * Processes a whole answer. If the answer was cut off, a tool call at its end is dropped: the call's input is an
   * object even if it is incomplete.
   */
  takeWhole(message: JsonObject): void {
    const { type, content, stop_reason: reason } = message;
    if (type === "error") throw toProviderError(message, 0, this.#context.secret, STREAM_ERROR_KINDS);
    if (!Array.isArray(content)) throw new ProviderError("cut", "the provider's answer has no content");
    this.start(message);
    const isCut = typeof reason === "string" && mayBeTruncated(finishReason(reason));
    for (const [index, block] of content.entries()) {
      if (!isObject(block)) continue;
      if (isCut && index === content.length - 1 && block["type"] === "tool_use") continue;
      this.#begin(index, block);
      this.#end(index);
    }
    this.stop(message);
    this.finish();
  }

  /** Starts a streamed message. Its first event may contain complete blocks, for example calls. */
  #startStream(message: JsonObject): void {
    this.#endOpenBlocks();
    this.start(message);
    for (const [index, block] of readList(message, "content").entries()) {
      if (!isObject(block)) continue;
      if (block["type"] === "tool_use") this.#startCallIds.add(block["id"]);
      this.#begin(index, block);
      this.#end(index);
    }
    this.#completeEmptyCall();
  }

  /** Ends the blocks that are open when a message begins again. A call that is not complete cannot be continued. */
  #endOpenBlocks(): void {
    for (const [index, block] of [...this.#open]) {
      if (block.type === "tool_use" && !(block.hasArguments && this.#calls.complete)) {
        throw new ProviderError("cut", "the provider began its answer again within a tool call");
      }
      this.#end(index);
    }
    this.#completeEmptyCall();
  }

  /** Whether the block is a call that the first event already contained. */
  #isKnownCall({ type, id }: JsonObject): boolean {
    return type === "tool_use" && id !== undefined && this.#startCallIds.has(id);
  }

  /** The container in which the provider ran code. Later requests name it. */
  #emitContainer(container: unknown): void {
    const id = isObject(container) ? stringIn(container, "id") : "";
    if (id !== "") this.#emit({ type: "account-state", id });
  }

  start(message: JsonObject): void {
    const { id, usage } = message;
    const messageId = typeof id === "string" && id !== "" ? id : `msg_${this.#context.newId()}`;
    this.#emit({ type: "start", messageId });
    this.#emitContainer(message["container"]);
    this.#usage.add(usage);
    // An answer that is interrupted never states its final counts.
    const initial = this.#usage.total();
    if (initial?.prompt !== undefined && initial.completion !== undefined) {
      this.#emit({ type: "usage", usage: initial });
    }
  }

  stop({ stop_reason: reason, stop_sequence: sequence, container }: JsonObject): void {
    this.#emitContainer(container);
    if (typeof reason === "string") this.#reason = reason;
    if (typeof sequence === "string") this.#stopSequence = sequence;
  }

  finish(): void {
    for (const index of [...this.#open.keys()]) this.#end(index);
    const reason = finishReason(this.#reason);
    this.#calls.finish(mayBeTruncated(reason));
    const usage = this.#usage.total();
    if (usage !== null) this.#emit({ type: "usage", usage });
    // Compatible servers may send `end_turn` after tool calls.
    const reportedReason = this.#calls.any && reason === "stop" ? "tool_calls" : reason;
    const stopFields = this.#stopSequence === null ? {} : { stopSequence: this.#stopSequence };
    this.#emit({ type: "finish", reason: reportedReason, ...stopFields });
  }

  #begin(index: unknown, block: JsonObject): void {
    this.#completeEmptyCall();
    switch (block["type"]) {
      case "text":
        this.#separateTexts();
        this.#open.set(index, {
          type: "text",
          start: this.#textLength,
          citations: readList(block, "citations"),
        });
        this.#emitText("text", block["text"]);
        break;
      case "web_search_tool_result":
        this.#hasServerTool = true;
        this.#emitSearchResults(readList(block, "content"));
        break;
      case "thinking":
        this.#open.set(index, {
          type: "thinking",
          thinking: stringIn(block, "thinking"),
          signature: stringIn(block, "signature"),
        });
        this.#emitText("reasoning", block["thinking"]);
        break;
      case "redacted_thinking":
        this.#thoughts.push({ type: "redacted_thinking", data: stringIn(block, "data") });
        break;
      case "tool_use":
        this.#open.set(index, { type: "tool_use", input: block["input"], hasArguments: false });
        this.#thoughtsBefore.push(this.#thoughts);
        this.#thoughts = [];
        this.#calls.take({ index, id: block["id"], function: { name: block["name"] } });
        break;
      default:
        this.#hasServerTool = true;
        if (block["type"] === "server_tool_use" || block["type"] === "mcp_tool_use")
          this.#emit({ type: "server-tool" });
        if (block["type"] === "server_tool_use" && block["name"] === "web_search")
          this.#open.set(index, { type: "search", input: block["input"], json: "" });
    }
  }

  #add(index: unknown, delta: JsonObject): void {
    const block = this.#open.get(index);
    if (block?.type === "text") {
      if (delta["type"] === "citations_delta") block.citations.push(delta["citation"]);
      else this.#emitText("text", delta["text"]);
    } else if (block?.type === "thinking") {
      block.thinking += stringIn(delta, "thinking");
      block.signature = stringIn(delta, "signature") || block.signature;
      this.#emitText("reasoning", delta["thinking"]);
    } else if (block?.type === "search") {
      if (block.json.length < MAX_SEARCH_INPUT) block.json += stringIn(delta, "partial_json");
    } else if (block?.type === "tool_use" && stringIn(delta, "partial_json") !== "") {
      block.hasArguments = true;
      this.#calls.take({ index, function: { arguments: delta["partial_json"] } });
    }
  }

  #end(index: unknown): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block?.type === "text") {
      for (const citation of block.citations) this.#emitCitation(citation, block.start);
    } else if (block?.type === "thinking") {
      const { type, thinking, signature } = block;
      this.#thoughts.push({ type, thinking, signature });
    } else if (block?.type === "search") {
      const stated = block.json === "" ? block.input : parseObject(block.json);
      for (const event of toQueryEvents(isObject(stated) ? [stated["query"]] : [])) this.#emit(event);
    } else if (block?.type === "tool_use") {
      // A call without arguments has no deltas. Some servers send all arguments in the first event instead.
      const hasInput = isObject(block.input) && Object.keys(block.input).length > 0;
      if (!block.hasArguments && hasInput) this.#calls.take({ index, function: { arguments: block.input } });
      else if (!block.hasArguments) this.#emptyCallIndex = index;
      this.#calls.settle();
    }
  }

  #completeEmptyCall(): void {
    if (this.#emptyCallIndex === null) return;
    this.#calls.take({ index: this.#emptyCallIndex, function: { arguments: {} } });
    this.#emptyCallIndex = null;
    this.#calls.settle();
  }

  /** Separates the texts before and after a server tool. */
  #separateTexts(): void {
    const isSeparate = this.#hasServerTool && this.#textLength > 0;
    this.#hasServerTool = false;
    if (!isSeparate) return;
    this.#textLength += TEXT_SEPARATOR.length;
    this.#emit({ type: "text", text: TEXT_SEPARATOR, isSeparator: true });
  }

  #emitText(type: "text" | "reasoning", text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    if (type === "text") this.#textLength += text.length;
    this.#emit({ type, text });
  }

  /** Emits the pages that a search found. A failed search has no pages. */
  #emitSearchResults(entries: readonly unknown[]): void {
    const results = entries.filter(isObject).filter(({ type }) => type === "web_search_result");
    if (results.length === 0) return;
    const pages = results.map((page) => {
      this.#searchResultCount += 1;
      return { index: this.#searchResultCount, url: stringIn(page, "url"), title: stringIn(page, "title") };
    });
    this.#emit({ type: "search", results: pages });
  }

  /** Emits a citation. It applies to the whole text block that contains it. */
  #emitCitation(citation: unknown, start: number): void {
    if (!isObject(citation) || citation["type"] !== "web_search_result_location") return;
    const quoted = stringIn(citation, "cited_text");
    const end = this.#textLength;
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

/** Decodes a streamed message. The message is complete only after its `message_stop` event. */
export class MessageStreamDecoder extends TypedEventDecoder {
  constructor(context: AnswerContext) {
    super((emit) => new AnswerParser(emit, context));
  }
}

/** Decodes a whole (not streamed) message. Throws the same errors as the stream decoder. */
export function decodeWholeMessage(message: JsonObject, context: AnswerContext): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  new AnswerParser((event) => events.push(event), context).takeWhole(message);
  return events;
}

function readList(object: JsonObject, name: string): unknown[] {
  const value = object[name];
  return Array.isArray(value) ? [...value] : [];
}

/**
 * An unknown reason counts as `stop`: the provider said that it has finished. A paused turn stays `incomplete`: only a
 * request with the unfinished work of the server's tools could continue it.
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
