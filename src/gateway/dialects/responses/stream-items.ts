import type { AnswerToken } from "../../../core/conversation/events.ts";
import type { DeclaredTool } from "../shared/declared-tools.ts";
import { FreeTextDecoder } from "../shared/free-text.ts";
import { toLogprobs } from "../shared/token-logprobs.ts";
import { createItemId, type ItemPrefix } from "./ids.ts";
import {
  type Annotation,
  type ItemStatus,
  type OutputItem,
  type OutputPart,
  toCallItem,
  toMessageItem,
  toReasoningItem,
  toRefusalPart,
  toTextPart,
} from "./output.ts";

/** States of a web search, each with an event `response.web_search_call.<state>`. */
export const SEARCH_STATES = ["in_progress", "searching", "completed"] as const;

const NO_TOKENS: readonly AnswerToken[] = [];

/** The end mark of a stream. */
export const DONE_EVENT = "data: [DONE]\n\n";

/** Writes the numbered events of one response. */
export class EventWriter {
  readonly #after: number;
  #next = 0;

  /** Events up to the number `after` are counted but not written. */
  constructor(after = -1) {
    this.#after = after;
  }

  /** Writes one event. `fields` are JSON members without braces. */
  write(type: string, fields: string): string {
    const number = this.#next;
    this.#next += 1;
    if (number <= this.#after) return "";
    return `event: ${type}\ndata: {"type":"${type}",${fields},"sequence_number":${number}}\n\n`;
  }
}

/** Position of an item in a response. */
export interface ItemPosition {
  readonly events: EventWriter;
  readonly responseId: string;
  /** The item's index in `output`. */
  readonly index: number;
  /** Number of items started before this one. It can exceed `index`, because `output` omits calls that were cut off. */
  readonly ordinal: number;
}

/** An output item while it is being streamed. The fields that all its events share are built once. */
export interface OpenItem {
  readonly kind: "reasoning" | "message" | "refusal" | "call";
  begin(): string;
  /** Adds a piece of text, with its tokens if they are known. */
  delta(piece: string, tokens?: readonly AnswerToken[]): string;
  /** Closes the item. Afterwards {@link item} is final. */
  end(status: ItemStatus): string;
  /** Returns the item in its current state. */
  item(status: ItemStatus): OutputItem;
}

/** Common base of all items: the id, the position, and the events that open and close the item. */
abstract class StreamedItem implements OpenItem {
  abstract readonly kind: OpenItem["kind"];
  protected readonly id: string;
  protected readonly events: EventWriter;
  /** Fields of every event of the item: `response_id`, `item_id`, `output_index`. */
  protected readonly place: string;
  protected text = "";
  #begun = false;

  constructor(position: ItemPosition, prefix: ItemPrefix) {
    const { responseId, index, ordinal } = position;
    this.events = position.events;
    this.id = createItemId(prefix, responseId, ordinal);
    this.place = `"response_id":"${responseId}","item_id":"${this.id}","output_index":${index}`;
  }

  begin(): string {
    const added = this.#frame("added", this.empty());
    this.#begun = true;
    return added + this.beginPart();
  }

  end(status: ItemStatus): string {
    return this.endPart() + this.#frame("done", this.item(status));
  }

  item(status: ItemStatus): OutputItem {
    return this.#begun ? this.whole(status) : this.empty();
  }

  abstract delta(piece: string, tokens?: readonly AnswerToken[]): string;
  protected abstract empty(): OutputItem;
  protected abstract whole(status: ItemStatus): OutputItem;
  protected abstract beginPart(): string;
  protected abstract endPart(): string;

  #frame(phase: "added" | "done", item: OutputItem): string {
    return this.events.write(`response.output_item.${phase}`, `${this.place},"item":${JSON.stringify(item)}`);
  }
}

/** A message with one content part. */
abstract class SinglePartMessage extends StreamedItem {
  /** Fields of every event of the part: `place` and `content_index`. */
  protected readonly part: string;

  constructor(position: ItemPosition) {
    super(position, "msg");
    this.part = `${this.place},"content_index":0`;
  }

  /** Returns the part in its current state. */
  protected abstract content(): OutputPart;
  /** Writes the event after the last piece. */
  protected abstract textDone(): string;

  protected empty(): OutputItem {
    return toMessageItem(this.id, null, "in_progress");
  }

  protected whole(status: ItemStatus): OutputItem {
    return toMessageItem(this.id, this.content(), status);
  }

  protected beginPart(): string {
    return this.#frame("added");
  }

  protected endPart(): string {
    return this.textDone() + this.#frame("done");
  }

  #frame(phase: "added" | "done"): string {
    const content = JSON.stringify(this.content());
    return this.events.write(`response.content_part.${phase}`, `${this.part},"part":${content}`);
  }
}

/** A message with one text part. */
export class OpenMessage extends SinglePartMessage {
  readonly kind = "message";
  readonly #tokens: AnswerToken[] = [];
  #annotations: readonly Annotation[] = [];

  delta(piece: string, tokens: readonly AnswerToken[] = NO_TOKENS): string {
    this.text += piece;
    for (const token of tokens) this.#tokens.push(token);
    const logprobs = tokens.length === 0 ? "[]" : JSON.stringify(toLogprobs(tokens));
    return this.events.write(
      "response.output_text.delta",
      `${this.part},"delta":${JSON.stringify(piece)},"logprobs":${logprobs}`,
    );
  }

  /** Writes the citations of the text. Call it when the text is complete. */
  annotate(annotations: readonly Annotation[]): string {
    this.#annotations = annotations;
    return annotations
      .map((annotation, index) =>
        this.events.write(
          "response.output_text.annotation.added",
          `${this.part},"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`,
        ),
      )
      .join("");
  }

  protected content(): OutputPart {
    return toTextPart(this.text, this.#tokens, this.#annotations);
  }

  protected textDone(): string {
    return this.events.write(
      "response.output_text.done",
      `${this.part},"text":${JSON.stringify(this.text)},"logprobs":${JSON.stringify(toLogprobs(this.#tokens))}`,
    );
  }
}

/** A message with one refusal part. */
export class OpenRefusal extends SinglePartMessage {
  readonly kind = "refusal";

  delta(piece: string): string {
    this.text += piece;
    return this.events.write("response.refusal.delta", `${this.part},"delta":${JSON.stringify(piece)}`);
  }

  protected content(): OutputPart {
    return toRefusalPart(this.text);
  }

  protected textDone(): string {
    return this.events.write("response.refusal.done", `${this.part},"refusal":${JSON.stringify(this.text)}`);
  }
}

/** A reasoning item with a summary of one part. */
export class OpenReasoning extends StreamedItem {
  readonly kind = "reasoning";
  readonly #part: string;

  constructor(position: ItemPosition) {
    super(position, "rs");
    this.#part = `${this.place},"summary_index":0`;
  }

  protected empty(): OutputItem {
    return toReasoningItem(this.id, null);
  }

  protected whole(): OutputItem {
    return toReasoningItem(this.id, this.text);
  }

  protected beginPart(): string {
    return this.events.write(
      "response.reasoning_summary_part.added",
      `${this.#part},"part":{"type":"summary_text","text":""}`,
    );
  }

  delta(piece: string): string {
    this.text += piece;
    return this.events.write(
      "response.reasoning_summary_text.delta",
      `${this.#part},"delta":${JSON.stringify(piece)}`,
    );
  }

  protected endPart(): string {
    const text = JSON.stringify(this.text);
    return (
      this.events.write("response.reasoning_summary_text.done", `${this.#part},"text":${text}`) +
      this.events.write(
        "response.reasoning_summary_part.done",
        `${this.#part},"part":{"type":"summary_text","text":${text}}`,
      )
    );
  }
}

/** A call of a function or a free-text tool. */
export class OpenCall extends StreamedItem {
  readonly kind = "call";
  readonly #callId: string;
  readonly #tool: DeclaredTool;
  readonly #input: FreeTextDecoder | null;
  readonly #part: string;

  constructor(position: ItemPosition, callId: string, tool: DeclaredTool) {
    super(position, tool.kind === "custom" ? "ctc" : "fc");
    this.#callId = callId;
    this.#tool = tool;
    this.#input = tool.kind === "custom" ? new FreeTextDecoder() : null;
    this.#part = `${this.place},"call_id":${JSON.stringify(callId)}`;
  }

  protected empty(): OutputItem {
    return toCallItem(this.id, this.#callId, this.#tool, "", "in_progress");
  }

  protected whole(status: ItemStatus): OutputItem {
    return toCallItem(this.id, this.#callId, this.#tool, this.text, status);
  }

  protected beginPart(): string {
    return "";
  }

  delta(piece: string): string {
    return this.#write(this.#input === null ? piece : this.#input.push(piece));
  }

  protected endPart(): string {
    const rest = this.#input === null ? "" : this.#write(this.#input.finish());
    const field = this.#input === null ? "arguments" : "input";
    return (
      rest +
      this.events.write(
        `${this.#event}.done`,
        `${this.#part},"name":${JSON.stringify(this.#tool.name)},"${field}":${JSON.stringify(this.text)}`,
      )
    );
  }

  get #event(): string {
    return this.#input === null ? "response.function_call_arguments" : "response.custom_tool_call_input";
  }

  #write(piece: string): string {
    if (piece === "") return "";
    this.text += piece;
    return this.events.write(`${this.#event}.delta`, `${this.#part},"delta":${JSON.stringify(piece)}`);
  }
}
