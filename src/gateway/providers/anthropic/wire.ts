import type { SearchLocation } from "../../../core/conversation/web-search.ts";

/** The bytes of an image or document, or a file that the backend stores. */
export type WireSource =
  | { readonly type: "base64"; readonly media_type: string; readonly data: string }
  | { readonly type: "file"; readonly file_id: string };

/** A thinking block, unchanged: the model accepts no other. A block without text must also be sent back. */
export type WireThinkingBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string };

/** Marks the end of a prompt prefix that the server may cache. */
export interface WireCacheControl {
  readonly type: "ephemeral";
  readonly ttl?: string;
}

interface Cacheable {
  readonly cache_control?: WireCacheControl;
}

/** A text block. */
export interface WireText extends Cacheable {
  readonly type: "text";
  readonly text: string;
}

/** A block of a user message or a tool result. */
export type WirePart =
  | WireText
  | (Cacheable & { readonly type: "image"; readonly source: WireSource })
  | (Cacheable & { readonly type: "document"; readonly source: WireSource; readonly title: string });

/** The result of a tool call. */
export interface WireToolResult extends Cacheable {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content?: readonly WirePart[];
  readonly is_error?: true;
}

/** A tool call of an earlier answer. */
export interface WireToolCall extends Cacheable {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** One block of a message's content. */
export type WireBlock = WirePart | WireThinkingBlock | WireToolCall | WireToolResult;

/** A message; roles alternate, and the first is the user's. */
export interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly WireBlock[];
}

/** A tool that the caller offers. */
export interface WireTool extends Cacheable {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
}

/** The server's own web search. */
export interface WireWebSearch {
  readonly type: "web_search_20250305";
  readonly name: "web_search";
  readonly max_uses?: number;
  readonly allowed_domains?: readonly string[];
  readonly blocked_domains?: readonly string[];
  readonly user_location?: SearchLocation & { readonly type: "approximate" };
}

/** Which tools the model may or must call. */
export interface WireToolChoice {
  readonly type: "auto" | "any" | "tool" | "none";
  readonly name?: string;
  readonly disable_parallel_tool_use?: true;
}

/** Whether the model thinks, and how much. */
export type WireThinkingMode =
  | { readonly type: "enabled"; readonly budget_tokens: number }
  | { readonly type: "adaptive"; readonly display: "summarized" }
  | { readonly type: "disabled" };

/** The body of `POST /v1/messages`. */
export interface WireRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: string | readonly WireText[];
  readonly messages: readonly WireMessage[];
  readonly stream: boolean;
  readonly tools?: readonly (WireTool | WireWebSearch)[];
  readonly tool_choice?: WireToolChoice;
  readonly thinking?: WireThinkingMode;
  readonly output_config?: { readonly effort: string };
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly metadata?: { readonly user_id: string };
  readonly cache_control?: WireCacheControl;
  readonly stop_sequences?: readonly string[];
}
