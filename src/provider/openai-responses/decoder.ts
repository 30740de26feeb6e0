import { isObject, type JsonObject } from "../../encoding/json.ts";
import { ProviderError } from "../../errors/provider-error.ts";
import { tokensOf } from "../answer-tokens.ts";
import { TypedEventDecoder } from "../event-stream.ts";
import { objectsIn, stringIn, usageOf } from "../json.ts";
import { cutsOff, type ProviderEvent, type ProviderFinish, type ProviderUsage } from "../provider.ts";
import { ToolCallAssembler } from "../tool-calls.ts";
import { failureIn } from "./errors.ts";
import type { WireThought } from "./wire.ts";

/** What a decoder of one answer needs to know. */
export interface AnswerContext {
  /** The account's token, which no message may show. */
  readonly secret: string;
  /** Makes an id for a call or a response to which the backend gave none. */
  readonly newId: () => string;
  /** Is told of each call what the model thought before it. */
  readonly remember?: (callId: string, thoughts: readonly WireThought[]) => void;
}

/** What has been told of an item that has begun. */
interface OpenItem {
  /** Whether it has been announced. */
  begun: boolean;
  /** Whether words of it have come: as text, as a refusal, as thoughts or as arguments. */
  said: boolean;
  /** Where the text of each of its parts begins in the answer's. */
  readonly starts: Map<unknown, number>;
  readonly citations: JsonObject[];
}

/** Reads the events of one answer; one that came whole is read as the items that it holds. */
class Answer {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #context: AnswerContext;
  readonly #calls: ToolCallAssembler;
  readonly #open = new Map<unknown, OpenItem>();
  /** The thoughts since the last call. */
  #thoughts: WireThought[] = [];
  /** Those before each call, in order. */
  readonly #thoughtsBefore: (readonly WireThought[])[] = [];
  #started = false;
  /** Whether there was any item. */
  #any = false;
  /** Characters of text so far, and pages that were found. */
  #length = 0;
  #found = 0;
  /** The part of a thought that came last: between two there is a blank line. */
  #thought: string | null = null;

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
      () => `call_${context.newId().replaceAll("-", "")}`,
    );
  }

  /** Takes one event; true: it was the last. Events of an unknown type are ignored. */
  take(type: unknown, event: JsonObject): boolean {
    const { delta, item, response } = event;
    // Compatible servers may leave the index out.
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
        this.#say(key, event["content_index"], delta, event["logprobs"]);
        break;
      case "response.refusal.delta":
        this.#refuse(key, delta);
        break;
      case "response.reasoning_summary_text.delta":
        this.#think(key, `summary ${String(event["summary_index"])}`, delta);
        break;
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
        this.#think(key, `content ${String(event["content_index"])}`, delta);
        break;
      case "response.function_call_arguments.delta":
        this.#argue(key, delta);
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
        throw failureIn(event, this.#context.secret);
    }
    return false;
  }

  /** Takes a response that came whole. */
  takeWhole(response: JsonObject): void {
    const { error, status, output } = response;
    if (isObject(error) || status === "failed") throw failureIn(response, this.#context.secret);
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
      throw failureIn(response, this.#context.secret);
    }
    this.#start(response);
    // Some servers stream nothing but the end, which has it all.
    if (!this.#any && Array.isArray(output)) {
      for (const [index, item] of output.entries()) {
        if (!isObject(item)) continue;
        this.#begin(index, item);
        this.#end(index, item);
      }
    }
    const cut = type === "response.incomplete" || status === "incomplete" || status === "cancelled";
    const reason = cut ? cutReason(isObject(details) ? details["reason"] : "") : "stop";
    this.#calls.finish(cutsOff(reason));
    if (isObject(usage)) this.#emit({ type: "usage", usage: usageFrom(usage) });
    this.#emit({ type: "finish", reason: this.#calls.any && reason === "stop" ? "tool_calls" : reason });
  }

  #begin(key: unknown, item: JsonObject): void {
    this.#any = true;
    this.#item(key).begun = true;
    if (item["type"] !== "function_call") {
      this.#calls.settle();
      return;
    }
    this.#thoughtsBefore.push(this.#thoughts);
    this.#thoughts = [];
    // The arguments follow, or stand in the item when it is done.
    this.#calls.take({ index: place(key), id: item["call_id"], function: { name: item["name"] } });
  }

  /** An item is complete. What of it was not streamed is told now. */
  #end(key: unknown, item: JsonObject): void {
    if (!this.#item(key).begun) this.#begin(key, item);
    const { said } = this.#item(key);
    switch (item["type"]) {
      case "message":
        if (!said) this.#sayAll(key, item);
        this.#cite(key, item);
        break;
      case "reasoning":
        if (!said) this.#thinkAll(key, item);
        this.#keep(item);
        break;
      case "function_call":
        if (!said) this.#argue(key, item["arguments"]);
        this.#calls.settle();
        break;
      case "web_search_call":
        this.#search(item);
        break;
    }
    this.#open.delete(key);
  }

  #item(key: unknown): OpenItem {
    const item = this.#open.get(key) ?? { begun: false, said: false, starts: new Map(), citations: [] };
    this.#open.set(key, item);
    return item;
  }

  #say(key: unknown, part: unknown, text: unknown, logprobs: unknown): void {
    const item = this.#item(key);
    if (!item.starts.has(part)) item.starts.set(part, this.#length);
    const tokens = tokensOf(logprobs);
    if (tokens.length > 0) this.#emit({ type: "tokens", tokens });
    if (!this.#tells(item, text)) return;
    this.#calls.settle();
    this.#length += text.length;
    this.#emit({ type: "text", text });
  }

  #refuse(key: unknown, text: unknown): void {
    if (this.#tells(this.#item(key), text)) this.#emit({ type: "refusal", text });
  }

  #think(key: unknown, part: string, text: unknown): void {
    if (!this.#tells(this.#item(key), text)) return;
    this.#calls.settle();
    const place = `${String(key)} ${part}`;
    if (this.#thought !== null && this.#thought !== place) this.#emit({ type: "reasoning", text: "\n\n" });
    this.#thought = place;
    this.#emit({ type: "reasoning", text });
  }

  #argue(key: unknown, text: unknown): void {
    // Some servers give an object instead of its text.
    if (!isObject(text) && !this.#tells(this.#item(key), text)) return;
    this.#calls.take({ index: place(key), function: { arguments: text } });
  }

  /** Whether there are words, which are then words of the item. */
  #tells(item: OpenItem, text: unknown): text is string {
    if (typeof text !== "string" || text === "") return false;
    this.#start(null);
    this.#any = true;
    item.said = true;
    return true;
  }

  #sayAll(key: unknown, { content }: JsonObject): void {
    for (const [index, part] of objectsIn(content).entries()) {
      if (part["type"] === "refusal") this.#refuse(key, part["refusal"]);
      else this.#say(key, index, part["text"], part["logprobs"]);
    }
  }

  #thinkAll(key: unknown, { summary, content }: JsonObject): void {
    for (const [index, { text }] of objectsIn(summary).entries()) this.#think(key, `summary ${index}`, text);
    for (const [index, { text }] of objectsIn(content).entries()) this.#think(key, `content ${index}`, text);
  }

  /** A thought goes back only if it is sealed, or lies open: of one that the server kept for itself nothing is left. */
  #keep({ id, summary, content, encrypted_content: sealed }: JsonObject): void {
    const isSealed = typeof sealed === "string" && sealed !== "";
    const open = objectsIn(content);
    if (typeof id !== "string" || (!isSealed && open.length === 0)) return;
    this.#thoughts.push({
      type: "reasoning",
      id,
      summary: objectsIn(summary),
      ...(open.length === 0 ? {} : { content: open }),
      ...(isSealed ? { encrypted_content: sealed } : {}),
    });
  }

  /** Pages that a search found, where the server tells them. */
  #search({ action }: JsonObject): void {
    const sources = isObject(action) ? objectsIn(action["sources"]) : [];
    const results = sources.flatMap((source) => {
      const url = stringIn(source, "url");
      if (url === "") return [];
      this.#found += 1;
      return [{ index: this.#found, url, title: stringIn(source, "title") || url }];
    });
    if (results.length > 0) this.#emit({ type: "search", results });
  }

  /** Places that refer to a page; offsets count from the beginning of their part. */
  #cite(key: unknown, { content }: JsonObject): void {
    const { starts, citations } = this.#item(key);
    const parts = objectsIn(content);
    const listed = parts.flatMap((part, index) =>
      objectsIn(part["annotations"]).map((annotation) => ({ annotation, from: starts.get(index) ?? 0 })),
    );
    const [first = 0] = starts.values();
    const told = listed.length > 0 ? listed : citations.map((annotation) => ({ annotation, from: first }));
    for (const { annotation, from } of told) {
      const { type, start_index: start, end_index: end } = annotation;
      const url = stringIn(annotation, "url");
      if (type !== "url_citation" || url === "") continue;
      if (typeof start !== "number" || typeof end !== "number") continue;
      const title = stringIn(annotation, "title") || url;
      this.#emit({ type: "citation", url, title, start: from + start, end: from + end });
    }
  }
}

/** Decodes a streamed response. It has ended when it says so, and not before. */
export class ResponseStreamDecoder extends TypedEventDecoder {
  constructor(context: AnswerContext) {
    super((emit) => new Answer(emit, context));
  }
}

/** The events of a response that came whole. Throws as a decoder does. */
export function responseEvents(response: JsonObject, context: AnswerContext): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  new Answer((event) => events.push(event), context).takeWhole(response);
  return events;
}

/** The place of a call; where the server counts nothing, calls come one after the other. */
function place(key: unknown): number | null {
  return typeof key === "number" ? key : null;
}

function usageFrom(usage: JsonObject): ProviderUsage {
  const { input_tokens: prompt, output_tokens: completion } = usage;
  const { input_tokens_details: read, output_tokens_details: written } = usage;
  return usageOf({
    prompt,
    completion,
    reasoning: isObject(written) ? written["reasoning_tokens"] : undefined,
    cached: isObject(read) ? read["cached_tokens"] : undefined,
    cacheWritten: isObject(read) ? read["cache_write_tokens"] : undefined,
  });
}

/** An answer that is not complete was cut off, whatever for. */
function cutReason(reason: unknown): ProviderFinish {
  return reason === "content_filter" ? "content_filter" : "length";
}
