import type { GenerationEvent } from "../../../core/conversation/events.ts";
import { randomId } from "../../../core/conversation/ids.ts";
import type { Citation } from "../../../core/conversation/sources.ts";
import type { GatewayError } from "../../../core/errors/gateway-error.ts";
import { namedItem } from "../../../core/http/event-stream.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import type { StreamRenderer } from "../../generation/stream.ts";
import { toCitations } from "./citations.ts";
import { MESSAGE_FAMILY } from "./family.ts";
import { renderSearchBlocks, toSearchBlocks } from "./search-blocks.ts";
import { toEndingFields, toMessageUsage, toWholeUsage } from "./usage.ts";

type OpenBlock = "none" | "text" | "thinking" | "tool_use";

const PING = namedItem("ping", '{"type":"ping"}');
const MESSAGE_STOP = namedItem("message_stop", '{"type":"message_stop"}');

/**
 * Renders a message-style stream (docs/contract/answers.md, Message-style stream). One block is open at a time, and
 * block indexes increase by 1. The text that all deltas of a block share is built once when the block opens, so a delta
 * costs one `JSON.stringify` of its own text.
 */
export class MessageStream implements StreamRenderer {
  readonly keepAlive = PING;
  readonly #info: AnswerInfo;
  #openBlockKind: OpenBlock = "none";
  /** Index of the open block, or of the last block if none is open. */
  #index = -1;
  /** Start of every delta of the open block. */
  #deltaStart = "";
  #hasInput = false;
  #refused = false;
  /** Length of the answer's text so far, and up to the last separator. The citations before that are sent. */
  #textLength = 0;
  #citedLength = 0;

  constructor(info: AnswerInfo) {
    this.#info = info;
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case "start":
        return this.#start();
      case "reasoning":
        return `${this.#ensureBlock("thinking")}${this.#deltaStart}${JSON.stringify(event.text)}}}\n\n`;
      case "refusal":
        this.#refused = true;
        return `${this.#ensureBlock("text")}${this.#deltaStart}${JSON.stringify(event.text)}}}\n\n`;
      case "text":
        this.#textLength += event.text.length;
        if (event.separator !== undefined) return this.#endText(event.separator.citations);
        return `${this.#ensureBlock("text")}${this.#deltaStart}${JSON.stringify(event.text)}}}\n\n`;
      case "tool-call":
        return this.#openToolUse(event.id, event.name);
      case "tool-arguments":
        return this.#input(event.delta);
      case "tool-call-end":
        return this.#closeBlock(true);
      case "finish":
        return this.#finish(event);
      case "error":
        // Send no `message_stop`: clients must be able to tell a failure from a normal end.
        return this.#fail(event.error);
    }
  }

  #fail(error: GatewayError): string {
    return namedItem("error", JSON.stringify(MESSAGE_FAMILY.formatError(error, this.#info.requestId)));
  }

  #start(): string {
    const message = {
      id: randomId("msg_"),
      type: "message",
      role: "assistant",
      model: this.#info.conversation.model.requested,
      content: [],
      diagnostics: null,
      ...toEndingFields(null),
      usage: toWholeUsage({ prompt: Math.max(1, this.#info.promptTokens()), completion: 0, reasoning: 0 }),
    };
    return namedItem("message_start", JSON.stringify({ type: "message_start", message }));
  }

  #ensureBlock(kind: "text" | "thinking"): string {
    if (this.#openBlockKind === kind) return "";
    return kind === "text"
      ? this.#openBlock("text", '{"type":"text","text":"","citations":null}', '"text_delta","text":')
      : this.#openBlock(
          "thinking",
          '{"type":"thinking","thinking":"","signature":""}',
          '"thinking_delta","thinking":',
        );
  }

  #openToolUse(id: string, name: string): string {
    this.#hasInput = false;
    const block = `{"type":"tool_use","id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":{},"caller":{"type":"direct"}}`;
    return this.#openBlock("tool_use", block, '"input_json_delta","partial_json":');
  }

  #openBlock(kind: OpenBlock, block: string, delta: string): string {
    const closed = this.#closeBlock();
    this.#openBlockKind = kind;
    this.#index += 1;
    this.#deltaStart = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{"type":${delta}`;
    const start = `{"type":"content_block_start","index":${this.#index},"content_block":${block}}`;
    return closed + namedItem("content_block_start", start);
  }

  #input(delta: string): string {
    if (delta === "") return "";
    this.#hasInput = true;
    return `${this.#deltaStart}${JSON.stringify(delta)}}}\n\n`;
  }

  /**
   * Closes the open block. Like the real service, it also closes a tool call that was cut off, whose input stays a
   * fragment. A complete call without input gets one `{}` delta, because agents treat a call without an input delta as
   * broken.
   */
  #closeBlock(ended = false): string {
    if (this.#openBlockKind === "none") return "";
    const input = ended && !this.#hasInput ? this.#input("{}") : "";
    this.#openBlockKind = "none";
    const stop = `{"type":"content_block_stop","index":${this.#index}}`;
    return input + namedItem("content_block_stop", stop);
  }

  /** Ends a text before another one. It gets a block of its own. */
  #endText(citations: readonly Citation[]): string {
    this.#citedLength = this.#textLength;
    return this.#openBlockKind === "text" ? this.#renderCitations(citations) + this.#closeBlock() : "";
  }

  /** Renders the citations. They are known only at the end of a text, and are sent while its block is still open. */
  #renderCitations(citations: readonly Citation[]): string {
    return toCitations(citations, this.#info)
      .map((citation) => {
        const delta = { type: "citations_delta", citation };
        return namedItem(
          "content_block_delta",
          JSON.stringify({ type: "content_block_delta", index: this.#index, delta }),
        );
      })
      .join("");
  }

  #finish(event: Extract<GenerationEvent, { type: "finish" }>): string {
    const delta = {
      type: "message_delta",
      delta: this.#refused
        ? toEndingFields("content_filter")
        : toEndingFields(event.reason, event.stopSequence),
      usage: toMessageUsage(event.usage),
    };
    const citations = event.sources?.citations.filter(({ start }) => start >= this.#citedLength) ?? [];
    const cited = this.#openBlockKind === "text" ? this.#renderCitations(citations) : "";
    const closed = cited + this.#closeBlock();
    const searches = renderSearchBlocks(toSearchBlocks(event.sources, this.#info), this.#index + 1);
    return closed + searches + namedItem("message_delta", JSON.stringify(delta)) + MESSAGE_STOP;
  }
}
