import type { AnswerToken, GenerationEvent } from "../../../core/conversation/events.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import type { StreamRenderer } from "../../generation/stream.ts";
import { toLogprobs } from "../shared/token-logprobs.ts";
import { type AnswerFormat, type Stopwatch, toClosingFields, toRunnerToolCall } from "./answer-format.ts";
import { RUNNER_FAMILY } from "./family.ts";

/** Media type of a stream of JSON lines. */
export const JSON_LINES = "application/x-ndjson";

/**
 * Renders a local-runner stream: one JSON object per line. Each tool call is sent complete, in its own line. The text that
 * all lines share is built once, so a line costs one `JSON.stringify` of its own text.
 */
export class RunnerStream implements StreamRenderer {
  /** A space: JSON parsers skip it, but some clients reject an empty line. */
  readonly keepAlive = " ";
  readonly #format: AnswerFormat;
  readonly #stopwatch: Stopwatch;
  readonly #head: string;
  #refused = false;
  #call = { id: "", name: "", arguments: "" };

  constructor(info: AnswerInfo, shape: AnswerFormat, stopwatch: Stopwatch) {
    this.#format = shape;
    this.#stopwatch = stopwatch;
    const model = JSON.stringify(info.conversation.model.requested);
    this.#head = `{"model":${model},"created_at":"${new Date(stopwatch.startedAt).toISOString()}",`;
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case "start":
        return "";
      case "reasoning":
        return this.#line(this.#format.thinkingFields(JSON.stringify(event.text)));
      case "text":
        return this.#line(
          this.#format.textFields(JSON.stringify(event.text)) + toLogprobsField(event.tokens),
        );
      case "refusal":
        this.#refused = true;
        return this.#line(this.#format.textFields(JSON.stringify(event.text)));
      case "tool-call":
        this.#call = { id: event.id, name: event.name, arguments: "" };
        return "";
      case "tool-arguments":
        this.#call.arguments += event.delta;
        return "";
      case "tool-call-end":
        return this.#line(this.#format.callFields(JSON.stringify(toRunnerToolCall(this.#call, event.index))));
      case "finish": {
        const last = {
          ...this.#format.answerFields(null),
          ...toClosingFields(this.#refused ? "content_filter" : event.reason, event.usage, this.#stopwatch),
        };
        return `${this.#head}${JSON.stringify(last).slice(1)}\n`;
      }
      case "error":
        return `${JSON.stringify(RUNNER_FAMILY.formatError(event.error))}\n`;
    }
  }

  #line(members: string): string {
    return `${this.#head}${members},"done":false}\n`;
  }
}

/** Returns the `toLogprobsField` field of a line, or an empty string without tokens. */
function toLogprobsField(tokens: readonly AnswerToken[] | undefined): string {
  return tokens === undefined ? "" : `,"logprobs":${JSON.stringify(toLogprobs(tokens))}`;
}
