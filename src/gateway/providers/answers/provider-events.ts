import type { AnswerToken, Usage } from "../../../core/conversation/events.ts";

/** Token counts as the provider states them (see `Usage`). Counts that it does not state are absent. */
export type ProviderUsage = Partial<Usage>;

/** A search result to which citation markers refer. */
export interface SearchResult {
  /** Counts from 1. */
  readonly index: number;
  readonly url: string;
  readonly title: string;
}

/** The longest query of a web search, in characters. */
const MAX_QUERY_CHARS = 1_000;

/** The events of what a web search searched for. Skips values that are no text. */
export function toQueryEvents(queries: readonly unknown[]): ProviderEvent[] {
  return queries.flatMap((query) =>
    typeof query === "string" && query !== ""
      ? [{ type: "search-query", query: query.slice(0, MAX_QUERY_CHARS) }]
      : [],
  );
}

/**
 * Why a message ended, as the provider states it. `incomplete`: can be continued. `tool_calls`: the model made native
 * tool calls.
 */
export type ProviderFinish = "stop" | "length" | "content_filter" | "incomplete" | "tool_calls";

/** Whether a message with this finish reason may be truncated. Only `stop` and `tool_calls` mean that it is complete. */
export function mayBeTruncated(reason: ProviderFinish): boolean {
  return reason !== "stop" && reason !== "tool_calls";
}

/** Separates two texts that belong to different messages or blocks of the provider. */
export const TEXT_SEPARATOR = "\n\n";

/** One decoded event of an upstream turn. */
export type ProviderEvent =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** `isSeparator`: the text is `TEXT_SEPARATOR`, which the provider did not send. */
  | { readonly type: "text"; readonly text: string; readonly isSeparator?: true }
  /** The tokens of the text that follows, or of the end of the text. */
  | { readonly type: "tokens"; readonly tokens: readonly AnswerToken[] }
  /** The model's refusal text, where the protocol separates it from other text. */
  | { readonly type: "refusal"; readonly text: string }
  /** The id of something that lives at the account and that later requests may name, for example a container. */
  | { readonly type: "account-state"; readonly id: string }
  /** Text of a further choice, which only the caller of a native request gets. It is counted if the usage is not stated. */
  | { readonly type: "other-choice"; readonly text: string }
  /** The provider's own tool runs, such as its web search. */
  | { readonly type: "server-tool" }
  | { readonly type: "search"; readonly results: readonly SearchResult[] }
  /** What the provider's web search searched for. */
  | { readonly type: "search-query"; readonly query: string }
  /**
   * A citation of a page, where the protocol states positions. `start` and `end` are offsets of the link in the
   * turn's text (equal: there is no link). `claim` is the range that the page supports (absent: the preceding
   * sentence).
   */
  | {
      readonly type: "citation";
      readonly url: string;
      readonly title: string;
      readonly start: number;
      readonly end: number;
      readonly claim?: { readonly start: number; readonly end: number };
      /** The quoted text of the page. */
      readonly quoted?: string;
    }
  /** Native tool calls only. `index` counts from 0 within the turn. */
  | { readonly type: "tool-call"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "tool-arguments"; readonly index: number; readonly delta: string }
  /** The arguments are complete. A call without this event was cut off. */
  | { readonly type: "tool-call-end"; readonly index: number }
  | { readonly type: "usage"; readonly usage: ProviderUsage }
  | {
      readonly type: "finish";
      readonly reason: ProviderFinish;
      /** The stop sequence at which the message ended, if the provider states it. */
      readonly stopSequence?: string;
    };
