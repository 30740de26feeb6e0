import type { SearchLocation } from "../../../core/conversation/web-search.ts";

/** Value of `include`: the model's encrypted reasoning, which later requests send back. */
export const INCLUDE_ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** Value of `include`: the pages that a search found. */
export const INCLUDE_SEARCH_SOURCES = "web_search_call.action.sources";

/** Value of `include`: the log probabilities of the answer. */
export const INCLUDE_LOGPROBS = "message.output_text.logprobs";

/** A text part. */
export interface WireText {
  readonly type: "input_text";
  readonly text: string;
}

/** One part of a message or a tool result. */
export type WirePart =
  | WireText
  | {
      readonly type: "input_image";
      readonly image_url?: string;
      readonly file_id?: string;
      readonly detail: string;
    }
  | {
      readonly type: "input_file";
      readonly filename?: string;
      /** A data URL. */
      readonly file_data?: string;
      readonly file_id?: string;
    };

/** A reasoning item, unchanged: its content is encrypted, and the model accepts no other. */
export interface WireReasoningItem {
  readonly type: "reasoning";
  readonly id: string;
  readonly summary: readonly unknown[];
  readonly content?: readonly unknown[];
  readonly encrypted_content?: string;
}

/** A message. */
export interface WireMessage {
  readonly type: "message";
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly WirePart[];
}

/** A tool call of an earlier answer. */
export interface WireToolCall {
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The result of a tool call. */
export interface WireToolResult {
  readonly type: "function_call_output";
  readonly call_id: string;
  readonly output: string | readonly WirePart[];
}

/** One item of the conversation so far. */
export type WireItem = WireMessage | WireReasoningItem | WireToolCall | WireToolResult;

/** A tool that the caller offers. */
export interface WireTool {
  readonly type: "function";
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The protocol's default is true. */
  readonly strict?: boolean;
}

/** The server's own web search. */
export interface WireWebSearch {
  readonly type: "web_search";
  readonly search_context_size?: string;
  readonly filters?: { readonly allowed_domains: readonly string[] };
  readonly user_location?: SearchLocation & { readonly type: "approximate" };
}

/** The required format of the answer. */
export type WireFormat =
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict?: boolean;
    };

/** The body of `POST /responses`. */
export interface WireRequest {
  readonly model: string;
  readonly input: readonly WireItem[];
  readonly stream: boolean;
  readonly store?: false;
  readonly include?: readonly string[];
  readonly tools?: readonly (WireTool | WireWebSearch)[];
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: false;
  readonly text?: { readonly format?: WireFormat; readonly verbosity?: string };
  readonly reasoning?: { readonly effort?: string; readonly summary?: "auto" };
  readonly temperature?: number;
  readonly top_p?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly max_output_tokens?: number;
  readonly top_logprobs?: number;
  readonly user?: string;
  readonly prompt_cache_key?: string;
}
