import type { GatewayError } from "../errors/gateway-error.ts";
import type { Citation, Sources } from "./sources.ts";

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
  /** Part of `cacheWritten`: for an hour; the rest for five minutes. Absent: the provider states no lifetimes. */
  readonly cacheWritten1h?: number;
  /** Part of `prompt` and of `completion`: audio. Absent: the provider does not say. */
  readonly audioInput?: number;
  readonly audioOutput?: number;
  /** Part of `prompt` and of `completion`: images. Absent: the provider does not say. */
  readonly imageInput?: number;
  readonly imageOutput?: number;
  /** How many web searches and fetches the provider's own tools made. Absent: the provider does not say. */
  readonly webSearches?: number;
  readonly webFetches?: number;
  /** Seconds of audio, and searches for a ranking, that the provider counts instead of tokens. Absent: it does not say. */
  readonly audioSeconds?: number;
  readonly searchUnits?: number;
}

/** A token that the model chose or could have chosen, with its probability. */
export interface LikelyToken {
  readonly token: string;
  /** Natural logarithm of its probability. */
  readonly logprob: number;
  /** Its UTF-8 bytes; null: not stated. */
  readonly bytes: readonly number[] | null;
}

/** A token of the answer, with the most likely alternatives in its place. */
export interface AnswerToken extends LikelyToken {
  readonly top: readonly LikelyToken[];
}

/** Why a generation ended. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter";

/**
 * The events of a generation in order: `start` once and first; then any mixture of reasoning, text, refusal and tool calls
 * (calls are announced, filled and ended one at a time; `index` counts from 0 within the response); then exactly one
 * `finish` or `error`, last.
 *
 * A call is complete when its `tool-call-end` came: its arguments are then one JSON object. A call without it was cut off:
 * its arguments are a fragment that begins with `{`. A stream that has shown the fragment leaves it incomplete. A
 * non-streaming answer leaves the call out.
 */
export type GenerationEvent =
  | {
      readonly type: "start";
      /** The upstream chat session. */
      readonly sessionId: string;
    }
  | { readonly type: "reasoning"; readonly text: string }
  /** `tokens`: the tokens of the text, if the caller requested them and the provider states them. */
  | {
      readonly type: "text";
      readonly text: string;
      readonly tokens?: readonly AnswerToken[];
      /** The text is the blank line after a text that is complete, with its citations. Another text follows. */
      readonly separator?: { readonly citations: readonly Citation[] };
    }
  /** The text in which the model declines to answer, separate from any answer text. */
  | { readonly type: "refusal"; readonly text: string }
  | { readonly type: "tool-call"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "tool-arguments"; readonly index: number; readonly delta: string }
  | { readonly type: "tool-call-end"; readonly index: number }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      /**
       * The request's stop sequence at which the answer stopped (`stop`). Absent: none, or the provider does not state it.
       */
      readonly stopSequence?: string;
      readonly usage: Usage;
      /** The sources of the answer. Absent: there was no search. */
      readonly sources?: Sources;
    }
  | { readonly type: "error"; readonly error: GatewayError };

/** A complete tool call. `arguments` is the text of one JSON object. */
export interface CompletedToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** One of the separate texts of an answer. */
export interface SeparateText {
  readonly text: string;
  /** Its offset in the answer's whole text. */
  readonly start: number;
  readonly tokens?: readonly AnswerToken[];
}

/** A generation combined into one value, from which a non-streaming answer is rendered. */
export interface Completion {
  readonly sessionId: string;
  /** The whole text. A blank line separates separate texts. */
  readonly text: string;
  /** The separate texts in the whole text. Absent: it is one text. */
  readonly texts?: readonly SeparateText[];
  readonly reasoning: string;
  /** The text in which the model declined to answer. Absent: it did not decline. */
  readonly refusal?: string;
  /** The tokens of the text, if requested and stated. */
  readonly tokens?: readonly AnswerToken[];
  readonly toolCalls: readonly CompletedToolCall[];
  readonly finishReason: FinishReason;
  readonly stopSequence?: string;
  readonly usage: Usage;
  /** The sources of the answer. Absent: there was no search. */
  readonly sources?: Sources;
}
