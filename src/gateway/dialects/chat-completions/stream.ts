import type { AnswerToken, GenerationEvent } from "../../../core/conversation/events.ts";
import { dataItem, KEEP_ALIVE_COMMENT } from "../../../core/http/event-stream.ts";
import { errorObject } from "../../../core/routing/error-formats.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import type { StreamRenderer } from "../../generation/stream.ts";
import { toLogprobs } from "../shared/token-logprobs.ts";
import { toAnnotations } from "./annotations.ts";
import { finishReason, ToolCallDeltaWriter } from "./calls.ts";
import type { CallerTools } from "./tools.ts";
import { toChatUsage } from "./usage.ts";

/**
 * Renders a chat-completions stream (docs/contract/answers.md, Chat-completions stream). The text that all chunks share
 * is built once, so a chunk costs one `JSON.stringify` of its own text.
 */
export class ChatStream implements StreamRenderer {
  readonly keepAlive = KEEP_ALIVE_COMMENT;
  readonly #info: AnswerInfo;
  readonly #callerTools: CallerTools;
  readonly #calls: ToolCallDeltaWriter;
  readonly #includeUsage: boolean;
  #chunkStart = "";
  #roleSent = false;

  /** `includeUsage`: the caller asked for the usage in an extra chunk (`stream_options.include_usage`). */
  constructor(info: AnswerInfo, callerTools: CallerTools, includeUsage: boolean) {
    this.#info = info;
    this.#callerTools = callerTools;
    this.#calls = new ToolCallDeltaWriter(callerTools);
    this.#includeUsage = includeUsage;
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case "start": {
        const model = JSON.stringify(this.#info.conversation.model.id);
        const id = JSON.stringify(event.sessionId);
        this.#chunkStart = `data: {"id":${id},"object":"chat.completion.chunk","created":${this.#info.created},"model":${model}`;
        return "";
      }
      case "reasoning":
        return this.#delta(null, `{"reasoning_content":${JSON.stringify(event.text)}}`);
      case "text":
        return this.#delta("", `{"content":${JSON.stringify(event.text)}}`, event.tokens);
      case "refusal":
        return this.#delta(null, `{"refusal":${JSON.stringify(event.text)}}`);
      case "tool-call":
        return this.#delta(null, this.#calls.begin(event.index, event.id, event.name));
      case "tool-arguments":
        return this.#delta(null, this.#calls.append(event.index, event.delta));
      case "tool-call-end":
        return this.#delta(null, this.#calls.end(event.index));
      case "finish":
        return this.#finish(event);
      case "error":
        // Send no [DONE]: clients must be able to tell a failure from a normal end.
        return dataItem(JSON.stringify({ error: errorObject(event.error) }));
    }
  }

  #delta(content: "" | null, delta: string, tokens?: readonly AnswerToken[]): string {
    if (delta === "") return "";
    const logprobs =
      tokens === undefined
        ? ""
        : `"logprobs":${JSON.stringify({ content: toLogprobs(tokens), refusal: null })},`;
    return `${this.#roleChunk(content)}${this.#chunkStart},"choices":[{"index":0,"delta":${delta},${logprobs}"finish_reason":null}]}\n\n`;
  }

  /**
   * Returns the role chunk before the first delta, and nothing later. `content` is null unless text follows, because
   * clients concatenate the fields of all deltas.
   */
  #roleChunk(content: "" | null): string {
    if (this.#roleSent) return "";
    this.#roleSent = true;
    return `${this.#chunkStart},"choices":[{"index":0,"delta":{"role":"assistant","content":${JSON.stringify(content)}},"finish_reason":null}]}\n\n`;
  }

  #finish(event: Extract<GenerationEvent, { type: "finish" }>): string {
    const usage = JSON.stringify(toChatUsage(event.usage));
    const annotations = toAnnotations(event);
    const cited =
      annotations.length === 0 ? "" : this.#delta("", `{"annotations":${JSON.stringify(annotations)}}`);
    const reason = finishReason(event.reason, this.#callerTools);
    const end = `${cited}${this.#roleChunk("")}${this.#chunkStart},"choices":[{"index":0,"delta":{},"finish_reason":"${reason}"}]`;
    // Some clients add up the usage of all chunks, so only one chunk has it.
    const last = this.#includeUsage
      ? `${end}}\n\n${this.#chunkStart},"choices":[],"usage":${usage}}\n\n`
      : `${end},"usage":${usage}}\n\n`;
    return `${last}data: [DONE]\n\n`;
  }
}
