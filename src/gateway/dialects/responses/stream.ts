import type { AnswerToken, GenerationEvent } from "../../../core/conversation/events.ts";
import type { Citation, Sources } from "../../../core/conversation/sources.ts";
import type { GatewayError } from "../../../core/errors/gateway-error.ts";
import { KEEP_ALIVE_COMMENT } from "../../../core/http/event-stream.ts";
import type { StreamRenderer } from "../../generation/stream.ts";
import type { DeclaredTools } from "../shared/declared-tools.ts";
import { createItemId } from "./ids.ts";
import { type ItemStatus, type OutputItem, toAnnotations, toSearchItem } from "./output.ts";
import { type ResponseObjectBuilder, type ResponseState, toResponseStatus } from "./response.ts";
import {
  DONE_EVENT,
  EventWriter,
  OpenCall,
  type OpenItem,
  OpenMessage,
  OpenReasoning,
  OpenRefusal,
  SEARCH_STATES,
} from "./stream-items.ts";

const ITEM_CLASSES = { reasoning: OpenReasoning, message: OpenMessage, refusal: OpenRefusal };

/**
 * Renders a responses stream (docs/contract/answers.md, Responses stream). Its events have the fields of the contract
 * and those of the real API. Items are written one after another, in the order of the model's output.
 */
export class ResponsesStream implements StreamRenderer {
  readonly keepAlive = KEEP_ALIVE_COMMENT;
  readonly #response: ResponseObjectBuilder;
  readonly #tools: DeclaredTools;
  readonly #now: () => number;
  readonly #isSearchRequested: boolean;
  readonly #events = new EventWriter();
  readonly #output: OutputItem[] = [];
  #open: OpenItem | null = null;
  /** Length of the answer's text so far, and its length before the open item, in characters. */
  #textLength = 0;
  #itemTextOffset = 0;
  /** Number of items started. */
  #startedItems = 0;
  #isCreatedSent = false;

  /** The final response object as JSON text, once `finish` or `error` has been rendered. */
  finalJson: string | null = null;

  /** `now` returns milliseconds since the epoch. */
  constructor(
    response: ResponseObjectBuilder,
    tools: DeclaredTools,
    now: () => number,
    isSearchRequested = false,
  ) {
    this.#response = response;
    this.#tools = tools;
    this.#now = now;
    this.#isSearchRequested = isSearchRequested;
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case "start":
        return this.#writeCreated();
      case "reasoning":
        return this.#write("reasoning", event.text);
      case "text":
        if (event.separator !== undefined) return this.#endText(event.text, event.separator.citations);
        return this.#write("message", event.text, event.tokens);
      case "refusal":
        return this.#write("refusal", event.text);
      case "tool-call": {
        const tool = this.#tools.findCalledTool(event.name);
        return this.#closeForNextItem() + this.#begin(new OpenCall(this.#nextPosition(), event.id, tool));
      }
      case "tool-arguments":
        return this.#open?.delta(event.delta) ?? "";
      case "tool-call-end":
        return this.#close("completed");
      case "finish":
        return this.#finish(event);
      case "error":
        return this.#fail(event.error);
    }
  }

  /** Writes `response.created` and `response.in_progress` once, before all other events. */
  #writeCreated(): string {
    if (this.#isCreatedSent) return "";
    this.#isCreatedSent = true;
    const state: ResponseState = { status: "in_progress" };
    const fields = this.#lifecycle("in_progress", JSON.stringify(this.#response.build(state, [])));
    return (
      this.#events.write("response.created", fields) + this.#events.write("response.in_progress", fields)
    );
  }

  /** Clients of the contract read `id` and `status` at the top level, SDKs read `response`. */
  #lifecycle(status: string, json: string): string {
    return `"id":"${this.#response.id}","status":"${status}","response":${json}`;
  }

  #nextPosition() {
    const { length: index } = this.#output;
    return { events: this.#events, responseId: this.#response.id, index, ordinal: this.#startedItems };
  }

  #begin(item: OpenItem): string {
    this.#open = item;
    this.#startedItems += 1;
    return item.begin();
  }

  #write(kind: keyof typeof ITEM_CLASSES, text: string, tokens?: readonly AnswerToken[]): string {
    const textOffset = this.#textLength;
    if (kind === "message") this.#textLength += text.length;
    if (this.#open?.kind === kind) return this.#open.delta(text, tokens);
    const closed = this.#closeForNextItem();
    this.#itemTextOffset = textOffset;
    const item = new ITEM_CLASSES[kind](this.#nextPosition());
    return closed + this.#begin(item) + item.delta(text, tokens);
  }

  /** Ends a text before another one. It gets a message of its own. */
  #endText(separator: string, citations: readonly Citation[]): string {
    this.#textLength += separator.length;
    if (!(this.#open instanceof OpenMessage)) return "";
    return this.#open.annotate(toAnnotations(citations, this.#itemTextOffset)) + this.#close("completed");
  }

  /** Closes the current item before the next one starts. Complete calls are already closed. */
  #closeForNextItem(): string {
    this.#dropOpenCall();
    return this.#close("completed");
  }

  /**
   * Drops a call that was cut off: it is neither closed nor listed, because clients run a closed call at once. The next
   * item takes its index.
   */
  #dropOpenCall(): void {
    if (this.#open?.kind === "call") this.#open = null;
  }

  #close(status: ItemStatus): string {
    const item = this.#open;
    if (item === null) return "";
    this.#open = null;
    const doneEvents = item.end(status);
    this.#output.push(item.item(status));
    return doneEvents;
  }

  #finish(event: Extract<GenerationEvent, { type: "finish" }>): string {
    const { reason, usage } = event;
    const status = toResponseStatus(reason);
    this.#dropOpenCall();
    // Citations are known only at the end of a text. A message that is followed by calls is already closed and gets none.
    const annotated =
      this.#open instanceof OpenMessage
        ? this.#open.annotate(toAnnotations(event.sources?.citations ?? [], this.#itemTextOffset))
        : "";
    const createdEvents =
      this.#writeCreated() + annotated + this.#close(status) + this.#writeSearch(event.sources);
    const completedAt = Math.floor(this.#now() / 1000);
    const object = this.#response.build({ status: "ended", reason, usage, completedAt }, this.#output);
    this.finalJson = JSON.stringify(object);
    const last = this.#events.write(`response.${status}`, this.#lifecycle(status, this.finalJson));
    return createdEvents + last + DONE_EVENT;
  }

  /** Writes the item of the web searches, which are known at the end alone. */
  #writeSearch(sources: Sources | undefined): string {
    const { responseId, index, ordinal } = this.#nextPosition();
    const createId = () => createItemId("ws", responseId, ordinal);
    const item = toSearchItem(createId, sources, this.#isSearchRequested);
    if (item === null) return "";
    this.#startedItems += 1;
    this.#output.push(item);
    const place = `"response_id":"${responseId}","item_id":"${item.id}","output_index":${index}`;
    const frame = (phase: "added" | "done", shown: OutputItem) =>
      this.#events.write(`response.output_item.${phase}`, `${place},"item":${JSON.stringify(shown)}`);
    const added = frame("added", { ...item, status: "in_progress" });
    const states = SEARCH_STATES.map((state) =>
      this.#events.write(`response.web_search_call.${state}`, place),
    );
    return added + states.join("") + frame("done", item);
  }

  #fail(error: GatewayError): string {
    const createdEvents = this.#writeCreated();
    this.#dropOpenCall();
    const item = this.#open;
    this.#open = null;
    const output = item === null ? this.#output : [...this.#output, item.item("incomplete")];
    this.finalJson = JSON.stringify(this.#response.build({ status: "failed", error }, output));
    return (
      createdEvents +
      this.#events.write("response.failed", this.#lifecycle("failed", this.finalJson)) +
      DONE_EVENT
    );
  }
}
