import type { CompletedToolCall, Completion, FinishReason, Usage } from "../../conversation/events.ts";
import { inputObject } from "../shared/tool-input.ts";

/** When a request began, and what time it is: milliseconds since the epoch. */
export interface Stopwatch {
  readonly startedAt: number;
  now(): number;
  /** How long the answer's first token took, in milliseconds; 0 while there is none. */
  firstTokenMs(): number;
}

/** `done_reason`, which is any word: this style has none of its own for tool calls, nor for what a filter withheld. */
function doneReason(reason: FinishReason): string {
  return reason === "tool_calls" ? "stop" : reason;
}

const nanoseconds = (milliseconds: number): number => Math.max(1, Math.round(milliseconds * 1_000_000));

/** What the last line says: why it ended, token counts, and durations in nanoseconds. */
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
    // Clients divide by it.
    eval_duration: Math.max(1, total - reading),
  };
}

/** A tool call: arguments are an object in this style. */
export function toolCall({ id, name, arguments: text }: CompletedToolCall, index: number) {
  return { id, function: { index, name, arguments: inputObject(text) } };
}

/** The two routes of this style differ in how they name the answer. */
export interface Shape {
  /** The members of a line that carries `text`, as JSON text without braces. */
  text(json: string): string;
  /** The members of a line that carries reasoning, as JSON text without braces. */
  thinking(json: string): string;
  /** The members of a line that carries a tool call, as JSON text without braces. */
  call(json: string): string;
  /** The answer in a body that is not streamed, or nothing in a stream's last line. */
  whole(completion: Completion | null): Record<string, unknown>;
}

/** The answer's words; this style has no place of their own for those that decline. */
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

/** `POST /api/generate`: the answer is a text. It offers no tools, so that there are no calls. */
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
