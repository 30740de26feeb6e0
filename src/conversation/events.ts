import type { GatewayError } from "../errors/gateway-error.ts";

/** Token counts of one generation. */
export interface Usage {
  readonly prompt: number;
  readonly completion: number;
  /** Part of `completion`. */
  readonly reasoning: number;
  /** Part of `prompt`: read from the provider's cache. Absent: the provider does not say. */
  readonly cached?: number;
  /** Part of `prompt`, apart from `cached`: written to the cache. Absent: the provider does not say. */
  readonly cacheWritten?: number;
}

/** Why a generation ended. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter";

/**
 * What a generation consists of, in the order in which it happens: `start` once and first; then any mixture of
 * reasoning, text and tool calls (calls are announced, filled and ended one at a time; `index` counts from 0 within
 * the response); then exactly one `finish` or `error`, last.
 *
 * A call has ended when its `tool-call-end` came: its arguments are then one JSON object. One without was cut off: what came of
 * its arguments is a fragment, which begins with `{`. A stream that has shown it leaves it as it is, whole answers leave it
 * out, and nobody closes it.
 */
export type GenerationEvent =
  | {
      readonly type: "start";
      /** The upstream chat session. */
      readonly sessionId: string;
    }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool-call"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "tool-arguments"; readonly index: number; readonly delta: string }
  | { readonly type: "tool-call-end"; readonly index: number }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      /** The stop sequence of the request at which the answer stopped (`stop`). Absent: at none, or nobody says at which. */
      readonly stopSequence?: string;
      readonly usage: Usage;
    }
  | { readonly type: "error"; readonly error: GatewayError };

/** A tool call that has ended. `arguments` is the text of one JSON object. */
export interface CompletedToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A generation folded into one value: what a non-streaming answer is rendered from. */
export interface Completion {
  readonly sessionId: string;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly CompletedToolCall[];
  readonly finishReason: FinishReason;
  readonly stopSequence?: string;
  readonly usage: Usage;
}
