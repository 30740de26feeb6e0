import type { SearchLocation } from "../../../core/conversation/web-search.ts";

/** One part of a message's content. */
export type WirePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string; readonly detail?: string } }
  | {
      readonly type: "file";
      readonly file: { readonly filename: string; readonly file_data: string } | { readonly file_id: string };
    };

/** A tool call that the assistant made earlier. */
export interface WireToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of a chat-completions request. */
export type WireMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly WirePart[]; readonly name?: string }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly WireToolCall[];
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** A tool that the caller offers. */
export interface WireTool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Readonly<Record<string, unknown>>;
    readonly strict?: boolean;
  };
}

/** The required format of the answer. */
export type WireFormat =
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly json_schema: {
        readonly name: string;
        readonly schema: Readonly<Record<string, unknown>>;
        readonly strict?: boolean;
      };
    };

/** Options of the backend's web search. */
export interface WireSearch {
  readonly search_context_size?: string;
  readonly user_location?: { readonly type: "approximate"; readonly approximate: SearchLocation };
}

/** A chat-completions request. */
export interface WireRequest {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly stream: boolean;
  readonly stream_options?: { readonly include_usage: true };
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: false;
  readonly response_format?: WireFormat;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly min_p?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly repetition_penalty?: number;
  readonly logit_bias?: Readonly<Record<string, number>>;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly reasoning_effort?: string;
  readonly verbosity?: string;
  readonly user?: string;
  readonly prompt_cache_key?: string;
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
  readonly web_search_options?: WireSearch;
  readonly chat_template_kwargs?: Readonly<Record<string, unknown>>;
}
