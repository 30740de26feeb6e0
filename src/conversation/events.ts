import type { GatewayError } from "../errors/gateway-error.ts";
import type { Sources } from "./sources.ts";

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

/** A token that the model chose or might have chosen, and how likely it was. */
export interface LikelyToken {
  readonly token: string;
  /** Natural logarithm of its probability. */
  readonly logprob: number;
  /** Its UTF-8 bytes; null: not stated. */
  readonly bytes: readonly number[] | null;
}

/** A token of the answer, with those that were likeliest in its place. */
export interface AnswerToken extends LikelyToken {
  readonly top: readonly LikelyToken[];
}

/** Why a generation ended. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter";

/**
 * What a generation consists of, in the order in which it happens: `start` once and first; then any mixture of
 * reasoning, text, refusal and tool calls (calls are announced, filled and ended one at a time; `index` counts from 0 within
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
  /** `tokens`: those that the text is made of, where the caller asked for them and the provider states them. */
  | { readonly type: "text"; readonly text: string; readonly tokens?: readonly AnswerToken[] }
  /** The model's own words for not answering, apart from any text. */
  | { readonly type: "refusal"; readonly text: string }
  | { readonly type: "tool-call"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "tool-arguments"; readonly index: number; readonly delta: string }
  | { readonly type: "tool-call-end"; readonly index: number }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      /** The stop sequence of the request at which the answer stopped (`stop`). Absent: at none, or nobody says at which. */
      readonly stopSequence?: string;
      readonly usage: Usage;
      /** What the answer rests on. Absent: nothing was searched for. */
      readonly sources?: Sources;
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
  /** In which words the model declined to answer; absent: it did not. */
  readonly refusal?: string;
  /** The tokens of the text, where they were asked for and stated. */
  readonly tokens?: readonly AnswerToken[];
  readonly toolCalls: readonly CompletedToolCall[];
  readonly finishReason: FinishReason;
  readonly stopSequence?: string;
  readonly usage: Usage;
  /** What the answer rests on. Absent: nothing was searched for. */
  readonly sources?: Sources;
}
