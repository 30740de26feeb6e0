import type { GenerationEvent } from "../../../core/conversation/events.ts";
import { dataItem, KEEP_ALIVE_COMMENT } from "../../../core/http/event-stream.ts";
import { STANDARD_FAMILY } from "../../../core/routing/error-formats.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import type { StreamRenderer } from "../../generation/stream.ts";
import { toChatUsage } from "../chat-completions/usage.ts";
import { type TextLogprobs, TextLogprobsBuilder } from "./logprobs.ts";
import { buildCompletionHead, finishReason, wantsAlternatives } from "./response.ts";

/**
 * Renders a text-completions stream (docs/contract/answers.md, Text-completions stream). The text that all chunks share
 * is built once, so a chunk costs one `JSON.stringify` of its own text.
 */
export class CompletionStream implements StreamRenderer {
  readonly keepAlive = KEEP_ALIVE_COMMENT;
  readonly #head: string;
  readonly #echo: string;
  readonly #includeUsage: boolean;
  readonly #tokens: TextLogprobsBuilder;
  #refused = false;

  /** `echo` is the repeated prompt at the start of the text. `includeUsage`: the caller asked for the usage chunk. */
  constructor(info: AnswerInfo, echo: string, includeUsage: boolean) {
    this.#head = `data: ${JSON.stringify(buildCompletionHead(info)).slice(0, -1)}`;
    this.#echo = echo;
    this.#includeUsage = includeUsage;
    this.#tokens = new TextLogprobsBuilder(echo.length, wantsAlternatives(info));
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case "start":
        return this.#echo === "" ? "" : this.#chunk(this.#echo, "null");
      case "refusal":
        this.#refused = true;
        return this.#chunk(event.text, "null");
      case "text":
        return this.#chunk(event.text, "null", this.#tokens.next(event.tokens));
      // The style has no field for reasoning, and no tools.
      case "reasoning":
      case "tool-call":
      case "tool-arguments":
      case "tool-call-end":
        return "";
      case "finish": {
        const last = this.#chunk("", `"${finishReason(event.reason, this.#refused)}"`);
        const usage = JSON.stringify(toChatUsage(event.usage));
        const usageChunk = this.#includeUsage ? `${this.#head},"choices":[],"usage":${usage}}\n\n` : "";
        return `${last}${usageChunk}${dataItem("[DONE]")}`;
      }
      case "error":
        // Send no [DONE]: clients must be able to tell a failure from a normal end.
        return dataItem(JSON.stringify(STANDARD_FAMILY.formatError(event.error)));
    }
  }

  #chunk(text: string, reason: string, logprobs: TextLogprobs | null = null): string {
    const logprobsJson = logprobs === null ? "null" : JSON.stringify(logprobs);
    return `${this.#head},"choices":[{"text":${JSON.stringify(text)},"index":0,"logprobs":${logprobsJson},"finish_reason":${reason}}]}\n\n`;
  }
}
