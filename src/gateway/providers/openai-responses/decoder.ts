import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { TypedEventDecoder } from "../answers/event-stream.ts";
import { readLogprobs } from "../answers/logprobs.ts";
import {
  mayBeTruncated,
  type ProviderEvent,
  type ProviderFinish,
  type ProviderUsage,
  TEXT_SEPARATOR,
  toQueryEvents,
} from "../answers/provider-events.ts";
import { ToolCallAssembler } from "../answers/tool-call-assembler.ts";
import { linkRangeIn, objectsIn, readUsage, stringIn } from "../json.ts";
import { readFailure } from "./errors.ts";
import type { WireReasoningItem } from "./wire.ts";

/** What the decoder of one answer needs. */
export interface AnswerContext {
  /** The account's token. No error message may contain it. */
  readonly secret: string;
  /** Creates an id for a call or a response that the backend sent without one. */
  readonly newId: () => string;
  /** Called for each tool call, with the reasoning items before it. */
  readonly rememberReasoning?: (callId: string, thoughts: readonly WireReasoningItem[]) => void;
}

/** State of an output item that has not ended. */
interface OpenItem {
  /** Whether the start of the item was processed. */
  hasStarted: boolean;
  /** Whether any content of the item was emitted: text, refusal, reasoning or arguments. */
  hasContent: boolean;
  /** Where the text of each content part begins in the answer's text, in characters. */
  readonly partOffsets: Map<unknown, number>;
  readonly citations: JsonObject[];
}

/** Parses the events of one answer. A whole (not streamed) answer is processed item by item. */
class AnswerParser {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #context: AnswerContext;
  readonly #calls: ToolCallAssembler;
  readonly #open = new Map<unknown, OpenItem>();
  /** Reasoning items since the last call. */
  #thoughts: WireReasoningItem[] = [];
  /** Reasoning items before each call, in the order of the calls. */
  readonly #thoughtsBefore: (readonly WireReasoningItem[])[] = [];
  #started = false;
  /** Whether any item or content came. */
  #hasOutput = false;
  /** Characters of text so far, and search results so far. */
  #textLength = 0;
  #searchResultCount = 0;
  /** How many pages the backend's own search tool searched for and opened. */
  readonly #webRequests = { searches: 0, fetches: 0 };
  /** Whether a message has begun since the last text. */
  #isNewMessage = false;
  /** The part of the last reasoning text. A blank line separates two parts. */
  #lastReasoningPart: string | null = null;

  constructor(emit: (event: ProviderEvent) => void, context: AnswerContext) {
    this.#emit = emit;
    this.#context = context;
    this.#calls = new ToolCallAssembler(
      (event) => {
        if (event.type === "tool-call") {
          context.rememberReasoning?.(event.id, this.#thoughtsBefore[event.index] ?? []);
        }
        emit(event);
      },
      () => `call_${context.newId().replaceAll("-", "")}`,
    );
  }

  /** Processes one event. Returns true for the last event. Events of an unknown type are ignored. */
  take(type: unknown, event: JsonObject): boolean {
    const { delta, item, response } = event;
    // Compatible servers may omit `output_index`.
    const key = event["output_index"] ?? event["item_id"];
    switch (type) {
      case "response.created":
      case "response.in_progress":
      case "response.queued":
        this.#start(response);
        break;
      case "response.output_item.added":
        this.#start(null);
        if (isObject(item)) this.#begin(key, item);
        break;
      case "response.output_text.delta":
        this.#emitText(key, event["content_index"], delta, event["logprobs"]);
        break;
      case "response.refusal.delta":
        this.#emitRefusal(key, delta);
        break;
      case "response.reasoning_summary_text.delta":
        this.#emitReasoning(key, `summary ${String(event["summary_index"])}`, delta);
        break;
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
        this.#emitReasoning(key, `content ${String(event["content_index"])}`, delta);
        break;
      case "response.function_call_arguments.delta":
        this.#addArguments(key, delta);
        break;
      case "response.output_text.annotation.added":
        if (isObject(event["annotation"])) this.#item(key).citations.push(event["annotation"]);
        break;
      case "response.output_item.done":
        if (isObject(item)) this.#end(key, item);
        break;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.#finish(type, isObject(response) ? response : {});
        return true;
      case "error":
        throw readFailure(event, this.#context.secret);
    }
    return false;
  }

  /** Processes a whole (not streamed) response. */
  takeWhole(response: JsonObject): void {
    const { error, status, output } = response;
    if (isObject(error) || status === "failed") throw readFailure(response, this.#context.secret);
    const unfinished = status === "in_progress" || status === "queued" || status === "cancelled";
    if (!Array.isArray(output) || unfinished) {
      throw new ProviderError("cut", "the provider's answer has no end");
    }
    this.#finish("", response);
  }

  #start(response: unknown): void {
    if (this.#started) return;
    this.#started = true;
    const id = isObject(response) ? stringIn(response, "id") : "";
    this.#emit({ type: "start", messageId: id === "" ? `resp_${this.#context.newId()}` : id });
  }

  #finish(type: string, response: JsonObject): void {
    const { error, status, output, usage, incomplete_details: details } = response;
    if (type === "response.failed" || status === "failed" || isObject(error)) {
      throw readFailure(response, this.#context.secret);
    }
    this.#start(response);
    // Some servers stream only the last event, which contains the whole output.
    if (!this.#hasOutput && Array.isArray(output)) {
      for (const [index, item] of output.entries()) {
        if (!isObject(item)) continue;
        this.#begin(index, item);
        this.#end(index, item);
      }
    }
    const isIncomplete = type === "response.incomplete" || status === "incomplete" || status === "cancelled";
    const reason = isIncomplete ? incompleteFinishReason(isObject(details) ? details["reason"] : "") : "stop";
    this.#calls.finish(mayBeTruncated(reason));
    this.#emitAccountState(response["conversation"], "id");
    if (isObject(usage)) this.#emit({ type: "usage", usage: this.#toUsage(usage) });
    this.#emit({ type: "finish", reason: this.#calls.any && reason === "stop" ? "tool_calls" : reason });
  }

  #begin(key: unknown, item: JsonObject): void {
    this.#hasOutput = true;
    this.#item(key).hasStarted = true;
    if (item["type"] === "message") this.#isNewMessage = true;
    if (isOtherCall(item["type"])) this.#emit({ type: "server-tool" });
    if (item["type"] !== "function_call") {
      this.#calls.settle();
      return;
    }
    this.#thoughtsBefore.push(this.#thoughts);
    this.#thoughts = [];
    // The arguments follow, or are part of the finished item.
    this.#calls.take({ index: callIndex(key), id: item["call_id"], function: { name: item["name"] } });
  }

  /** Ends an item. Emits the content that was not streamed. */
  #end(key: unknown, item: JsonObject): void {
    if (!this.#item(key).hasStarted) this.#begin(key, item);
    const { hasContent } = this.#item(key);
    this.#emitAccountState(item, "container_id");
    this.#emitAccountState(item["environment"], "container_id");
    switch (item["type"]) {
      case "message":
        if (!hasContent) this.#emitWholeMessage(key, item);
        this.#emitCitations(key, item);
        break;
      case "reasoning":
        if (!hasContent) this.#emitWholeReasoning(key, item);
        this.#keepReasoning(item);
        break;
      case "function_call":
        if (!hasContent) this.#addArguments(key, item["arguments"]);
        this.#calls.settle();
        break;
      case "web_search_call":
        this.#countWebRequest(item);
        this.#emitSearchResults(item);
        break;
    }
    this.#open.delete(key);
  }

  /** Emits the id of a container or a conversation, which later requests name. */
  #emitAccountState(object: unknown, member: string): void {
    const id = isObject(object) ? stringIn(object, member) : "";
    if (id !== "") this.#emit({ type: "account-state", id });
  }

  #item(key: unknown): OpenItem {
    const item = this.#open.get(key) ?? {
      hasStarted: false,
      hasContent: false,
      partOffsets: new Map(),
      citations: [],
    };
    this.#open.set(key, item);
    return item;
  }

  #emitText(key: unknown, part: unknown, text: unknown, logprobs: unknown): void {
    const item = this.#item(key);
    if (typeof text === "string" && text !== "") this.#separateMessages();
    if (!item.partOffsets.has(part)) item.partOffsets.set(part, this.#textLength);
    const tokens = readLogprobs(logprobs);
    if (tokens.length > 0) this.#emit({ type: "tokens", tokens });
    if (!this.#markContent(item, text)) return;
    this.#calls.settle();
    this.#textLength += text.length;
    this.#emit({ type: "text", text });
  }

  /** Separates the text of a message from the text of the message before it. */
  #separateMessages(): void {
    const isSeparate = this.#isNewMessage && this.#textLength > 0;
    this.#isNewMessage = false;
    if (!isSeparate) return;
    this.#calls.settle();
    this.#textLength += TEXT_SEPARATOR.length;
    this.#emit({ type: "text", text: TEXT_SEPARATOR, isSeparator: true });
  }

  #emitRefusal(key: unknown, text: unknown): void {
    if (this.#markContent(this.#item(key), text)) this.#emit({ type: "refusal", text });
  }

  #emitReasoning(key: unknown, part: string, text: unknown): void {
    if (!this.#markContent(this.#item(key), text)) return;
    this.#calls.settle();
    const partKey = `${String(key)} ${part}`;
    if (this.#lastReasoningPart !== null && this.#lastReasoningPart !== partKey)
      this.#emit({ type: "reasoning", text: "\n\n" });
    this.#lastReasoningPart = partKey;
    this.#emit({ type: "reasoning", text });
  }

  #addArguments(key: unknown, text: unknown): void {
    // Some servers send an object instead of its JSON text.
    if (!isObject(text) && !this.#markContent(this.#item(key), text)) return;
    this.#calls.take({ index: callIndex(key), function: { arguments: text } });
  }

  /** Whether `text` is not empty. If so, marks that the item has content. */
  #markContent(item: OpenItem, text: unknown): text is string {
    if (typeof text !== "string" || text === "") return false;
    this.#start(null);
    this.#hasOutput = true;
    item.hasContent = true;
    return true;
  }

  #emitWholeMessage(key: unknown, { content }: JsonObject): void {
    for (const [index, part] of objectsIn(content).entries()) {
      if (part["type"] === "refusal") this.#emitRefusal(key, part["refusal"]);
      else this.#emitText(key, index, part["text"], part["logprobs"]);
    }
  }

  #emitWholeReasoning(key: unknown, { summary, content }: JsonObject): void {
    for (const [index, { text }] of objectsIn(summary).entries())
      this.#emitReasoning(key, `summary ${index}`, text);
    for (const [index, { text }] of objectsIn(content).entries())
      this.#emitReasoning(key, `content ${index}`, text);
  }

  /** Keeps a reasoning item for later requests if it has an id, and encrypted or plain content that can be sent back. */
  #keepReasoning({ id, summary, content, encrypted_content: sealed }: JsonObject): void {
    const isSealed = typeof sealed === "string" && sealed !== "";
    const contentParts = objectsIn(content);
    if (typeof id !== "string" || (!isSealed && contentParts.length === 0)) return;
    this.#thoughts.push({
      type: "reasoning",
      id,
      summary: objectsIn(summary),
      ...(contentParts.length === 0 ? {} : { content: contentParts }),
      ...(isSealed ? { encrypted_content: sealed } : {}),
    });
  }

  /** The usage does not state requests of the search tool, so its items count. Looking within a page is no request. */
  #countWebRequest({ action }: JsonObject): void {
    const kind = isObject(action) ? action["type"] : "search";
    if (kind === "search") this.#webRequests.searches += 1;
    else if (kind === "open_page") this.#webRequests.fetches += 1;
  }

  #toUsage(usage: JsonObject): ProviderUsage {
    const { searches, fetches } = this.#webRequests;
    return {
      ...toUsage(usage),
      ...(searches === 0 ? {} : { webSearches: searches }),
      ...(fetches === 0 ? {} : { webFetches: fetches }),
    };
  }

  /** Emits the pages that a search found, if the server lists them. */
  #emitSearchResults({ action }: JsonObject): void {
    const { query, queries } = isObject(action) ? action : {};
    for (const event of toQueryEvents(Array.isArray(queries) ? queries : [query])) this.#emit(event);
    const sources = isObject(action) ? objectsIn(action["sources"]) : [];
    const results = sources.flatMap((source) => {
      const url = stringIn(source, "url");
      if (url === "") return [];
      this.#searchResultCount += 1;
      return [{ index: this.#searchResultCount, url, title: stringIn(source, "title") || url }];
    });
    if (results.length > 0) this.#emit({ type: "search", results });
  }

  /** Emits the citations of pages. Their offsets count from the beginning of their content part. */
  #emitCitations(key: unknown, { content }: JsonObject): void {
    const { partOffsets, citations } = this.#item(key);
    const parts = objectsIn(content);
    const listed = parts.flatMap((part, index) =>
      objectsIn(part["annotations"]).map((annotation) => ({ annotation, from: partOffsets.get(index) ?? 0 })),
    );
    const [first = 0] = partOffsets.values();
    const located = listed.length > 0 ? listed : citations.map((annotation) => ({ annotation, from: first }));
    for (const { annotation, from } of located) {
      const url = stringIn(annotation, "url");
      if (annotation["type"] !== "url_citation" || url === "") continue;
      const title = stringIn(annotation, "title") || url;
      this.#emit({ type: "citation", url, title, ...linkRangeIn(annotation, from, this.#textLength) });
    }
  }
}

/** Decodes a streamed response. The response is complete only after its last event (completed, incomplete or failed). */
export class ResponseStreamDecoder extends TypedEventDecoder {
  constructor(context: AnswerContext) {
    super((emit) => new AnswerParser(emit, context));
  }
}

/** Decodes a whole (not streamed) response. Throws the same errors as the stream decoder. */
export function decodeWholeResponse(response: JsonObject, context: AnswerContext): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  new AnswerParser((event) => events.push(event), context).takeWhole(response);
  return events;
}

/** Whether an output item is a call other than of a function, for example of a tool that the server runs itself. */
function isOtherCall(type: unknown): boolean {
  return typeof type === "string" && type.endsWith("_call") && type !== "function_call";
}

/** The index of a call; null if the server sends none: calls then come one after the other. */
function callIndex(key: unknown): number | null {
  return typeof key === "number" ? key : null;
}

function toUsage(usage: JsonObject): ProviderUsage {
  const { input_tokens: prompt, output_tokens: completion } = usage;
  const { input_tokens_details: read, output_tokens_details: written } = usage;
  return readUsage({
    prompt,
    completion,
    reasoning: isObject(written) ? written["reasoning_tokens"] : undefined,
    cached: isObject(read) ? read["cached_tokens"] : undefined,
    cacheWritten: isObject(read) ? read["cache_write_tokens"] : undefined,
  });
}

/** The finish reason of an incomplete answer: every reason except the content filter counts as `length`. */
function incompleteFinishReason(reason: unknown): ProviderFinish {
  return reason === "content_filter" ? "content_filter" : "length";
}
