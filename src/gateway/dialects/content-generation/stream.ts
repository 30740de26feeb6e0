import type { AnswerToken, GenerationEvent } from "../../../core/conversation/events.ts";
import { dataItem } from "../../../core/http/event-stream.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import type { StreamRenderer } from "../../generation/stream.ts";
import { normalizeToolInput } from "../shared/tool-input.ts";
import { CONTENT_FAMILY } from "./family.ts";
import { groundingMetadata } from "./grounding.ts";
import { toLogprobsResult } from "./logprobs.ts";
import { FINISH_REASONS, usageMetadata } from "./usage.ts";

const CHUNK_START = 'data: {"candidates":[{"content":{"role":"model","parts":[';

/**
 * Renders a content-generation stream (docs/contract/answers.md). Text and thoughts are sent at once; function calls
 * are sent together in the last chunk. Every chunk has a part, because SDK chats drop a turn with an empty chunk. The
 * text that all chunks share is built once, so a chunk costs one `JSON.stringify` of its own text.
 */
export class ContentStream implements StreamRenderer {
  /**
   * An empty line. SDKs of this style split the stream with a regular expression and lose every chunk after a comment.
   */
  readonly keepAlive = "\n";
  readonly #info: AnswerInfo;
  readonly #calls: { head: string; args: string; ended: boolean }[] = [];
  /** The fields after `candidates`, the same in every chunk. */
  #tail = "";
  #refused = false;

  /** The answer's text so far. The positions of citations refer to it. */
  #answerText = "";

  constructor(info: AnswerInfo) {
    this.#info = info;
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case "start": {
        const model = JSON.stringify(this.#info.conversation.model.id);
        this.#tail = `"modelVersion":${model},"responseId":${JSON.stringify(event.sessionId)}}\n\n`;
        return "";
      }
      case "reasoning":
        return `${CHUNK_START}{"text":${JSON.stringify(event.text)},"thought":true}]},"index":0}],${this.#tail}`;
      case "text":
        this.#answerText += event.text;
        return this.#text(event.text, event.tokens);
      case "refusal":
        this.#refused = true;
        return this.#text(event.text);
      case "tool-call":
        this.#calls[event.index] = {
          head: `{"functionCall":{"id":${JSON.stringify(event.id)},"name":${JSON.stringify(event.name)},"args":`,
          args: "",
          ended: false,
        };
        return "";
      case "tool-arguments": {
        const call = this.#calls[event.index];
        if (call !== undefined) call.args += event.delta;
        return "";
      }
      case "tool-call-end": {
        const call = this.#calls[event.index];
        if (call !== undefined) call.ended = true;
        return "";
      }
      case "finish":
        return this.#finish(event);
      case "error":
        return dataItem(JSON.stringify(CONTENT_FAMILY.formatError(event.error)));
    }
  }

  #text(text: string, tokens?: readonly AnswerToken[]): string {
    const logprobsJson =
      tokens === undefined ? "" : `,${JSON.stringify(toLogprobsResult(tokens)).slice(1, -1)}`;
    return `${CHUNK_START}{"text":${JSON.stringify(text)}}]},"index":0${logprobsJson}}],${this.#tail}`;
  }

  #finish(event: Extract<GenerationEvent, { type: "finish" }>): string {
    // The arguments keep their text: parsing and printing them again can change the digits of numbers.
    const calls = this.#calls
      .filter(({ ended }) => ended)
      .map(({ head, args }) => `${head}${normalizeToolInput(args)}}}`);
    const parts = calls.length === 0 ? '{"text":""}' : calls.join(",");
    const reason = FINISH_REASONS[this.#refused ? "content_filter" : event.reason];
    const usage = JSON.stringify(usageMetadata(event.usage));
    const { sources } = event;
    const grounding =
      sources === undefined
        ? ""
        : `,"groundingMetadata":${JSON.stringify(groundingMetadata(sources, this.#answerText))}`;
    return `${CHUNK_START}${parts}]},"finishReason":"${reason}","index":0${grounding}}],"usageMetadata":${usage},${this.#tail}`;
  }
}
