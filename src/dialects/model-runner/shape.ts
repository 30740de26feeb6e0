import type { CompletedToolCall, Completion, FinishReason, Usage } from "../../conversation/events.ts";
import { inputObject } from "../shared/tool-input.ts";

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
function doneReason(reason: FinishReason): string {
  return reason === "tool_calls" ? "stop" : reason;
}

const nanoseconds = (milliseconds: number): number => Math.max(1, Math.round(milliseconds * 1_000_000));

/** Builds the fields of the last line: finish reason, token counts, and durations in nanoseconds. */
export function closing(reason: FinishReason, usage: Usage, watch: Stopwatch): Record<string, unknown> {
  const total = nanoseconds(watch.now() - watch.startedAt);
  const reading = Math.min(nanoseconds(watch.firstTokenMs()), total);
  return {
    done: true,
    done_reason: doneReason(reason),
    total_duration: total,
    load_duration: 0,
    prompt_eval_count: usage.prompt,
    prompt_eval_duration: reading,
    eval_count: usage.completion,
    // At least 1, because clients divide by it.
    eval_duration: Math.max(1, total - reading),
  };
}

/** Converts a tool call. In this style, the arguments are an object. */
export function toolCall({ id, name, arguments: text }: CompletedToolCall, index: number) {
  return { id, function: { index, name, arguments: inputObject(text) } };
}

/** Output format of one route of this style. The two routes use different field names for the answer. */
export interface Shape {
  /** Returns the fields of a line with text, as JSON text without braces. */
  text(json: string): string;
  /** Returns the fields of a line with reasoning, as JSON text without braces. */
  thinking(json: string): string;
  /** Returns the fields of a line with a tool call, as JSON text without braces. */
  call(json: string): string;
  /** Returns the fields of an answer that is not streamed. With null: of a stream's last line, which contains no text. */
  whole(completion: Completion | null): Record<string, unknown>;
}

/** Returns the answer's text. This style has no separate field for a refusal, so the refusal is appended. */
function said(completion: Completion | null): string {
  return (completion?.text ?? "") + (completion?.refusal ?? "");
}

/** `POST /api/chat`: the answer is a message. */
export const CHAT_SHAPE: Shape = {
  text: (json) => `"message":{"role":"assistant","content":${json}}`,
  thinking: (json) => `"message":{"role":"assistant","content":"","thinking":${json}}`,
  call: (json) => `"message":{"role":"assistant","content":"","tool_calls":[${json}]}`,
  whole: (completion) => ({
    message: {
      role: "assistant",
      content: said(completion),
      ...(completion === null || completion.reasoning === "" ? {} : { thinking: completion.reasoning }),
      ...(completion === null || completion.toolCalls.length === 0
        ? {}
        : { tool_calls: completion.toolCalls.map(toolCall) }),
    },
  }),
};

/** `POST /api/generate`: the answer is a text. This route offers no tools, so no tool calls occur. */
export const GENERATE_SHAPE: Shape = {
  text: (json) => `"response":${json}`,
  thinking: (json) => `"response":"","thinking":${json}`,
  call: () => `"response":""`,
  whole: (completion) => ({
    response: said(completion),
    ...(completion === null || completion.reasoning === "" ? {} : { thinking: completion.reasoning }),
    context: [],
  }),
};
