import type {
  CompletedToolCall,
  Completion,
  FinishReason,
  Usage,
} from "../../../core/conversation/events.ts";
import { parseToolInput } from "../shared/tool-input.ts";

/** Start time and current time of a request, in milliseconds since the epoch. */
export interface Stopwatch {
  readonly startedAt: number;
  now(): number;
  /** Time to the answer's first token, in milliseconds; 0 before the first token. */
  firstTokenMs(): number;
}

/**
 * Maps to `done_reason`, a free string. This style has no value for tool calls; filtered answers keep `content_filter`.
 */
function toDoneReason(reason: FinishReason): string {
  return reason === "tool_calls" ? "stop" : reason;
}

const toNanoseconds = (milliseconds: number): number => Math.max(1, Math.round(milliseconds * 1_000_000));

/** Builds the fields of the last line: finish reason, token counts, and durations in nanoseconds. */
export function toClosingFields(
  reason: FinishReason,
  usage: Usage,
  stopwatch: Stopwatch,
): Record<string, unknown> {
  const total = toNanoseconds(stopwatch.now() - stopwatch.startedAt);
  const promptDuration = Math.min(toNanoseconds(stopwatch.firstTokenMs()), total);
  return {
    done: true,
    done_reason: toDoneReason(reason),
    total_duration: total,
    load_duration: 0,
    prompt_eval_count: usage.prompt,
    prompt_eval_duration: promptDuration,
    eval_count: usage.completion,
    // At least 1, because clients divide by it.
    eval_duration: Math.max(1, total - promptDuration),
  };
}

/** Converts a tool call. In this style, the arguments are an object. */
export function toRunnerToolCall({ id, name, arguments: text }: CompletedToolCall, index: number) {
  return { id, function: { index, name, arguments: parseToolInput(text) } };
}

/** Output format of one route of this style. The two routes use different field names for the answer. */
export interface AnswerFormat {
  /** Returns the fields of a line with text, as JSON text without braces. */
  textFields(json: string): string;
  /** Returns the fields of a line with reasoning, as JSON text without braces. */
  thinkingFields(json: string): string;
  /** Returns the fields of a line with a tool call, as JSON text without braces. */
  callFields(json: string): string;
  /** Returns the fields of an answer that is not streamed. With null: of a stream's last line, which contains no text. */
  answerFields(completion: Completion | null): Record<string, unknown>;
}

/** Returns the answer's text. This style has no separate field for a refusal, so the refusal is appended. */
function toAnswerText(completion: Completion | null): string {
  return (completion?.text ?? "") + (completion?.refusal ?? "");
}

/** `POST /api/chat`: the answer is a message. */
export const CHAT_FORMAT: AnswerFormat = {
  textFields: (json) => `"message":{"role":"assistant","content":${json}}`,
  thinkingFields: (json) => `"message":{"role":"assistant","content":"","thinking":${json}}`,
  callFields: (json) => `"message":{"role":"assistant","content":"","tool_calls":[${json}]}`,
  answerFields: (completion) => ({
    message: {
      role: "assistant",
      content: toAnswerText(completion),
      ...(completion === null || completion.reasoning === "" ? {} : { thinking: completion.reasoning }),
      ...(completion === null || completion.toolCalls.length === 0
        ? {}
        : { tool_calls: completion.toolCalls.map(toRunnerToolCall) }),
    },
  }),
};

/** `POST /api/generate`: the answer is a text. This route offers no tools, so no tool calls occur. */
export const GENERATE_FORMAT: AnswerFormat = {
  textFields: (json) => `"response":${json}`,
  thinkingFields: (json) => `"response":"","thinking":${json}`,
  callFields: () => `"response":""`,
  answerFields: (completion) => ({
    response: toAnswerText(completion),
    ...(completion === null || completion.reasoning === "" ? {} : { thinking: completion.reasoning }),
    context: [],
  }),
};
