import type { CacheBreakpoint } from "./cache-breakpoint.ts";
import type { ResolvedModel } from "./model.ts";
import type { ToolChoice, ToolDefinition } from "./tool.ts";
import type { WebSearch } from "./web-search.ts";

/** A file at the provider that has an id of its own there. */
export interface StoredFile {
  /** The provider's id of the file. */
  readonly id: string;
  /** The provider's address of the file, for protocols whose requests name files by address. */
  readonly uri?: string;
  readonly filename: string;
  readonly mediaType: string;
}

/** Where the bytes of an attachment are. */
export type AttachmentSource =
  | { readonly kind: "url"; readonly url: string }
  /** `data` is base64. */
  | { readonly kind: "inline"; readonly data: string; readonly mediaType: string }
  /** `fileId` is the id that the caller knows. It is also the provider's id if `stored` is absent. */
  | { readonly kind: "file"; readonly fileId: string; readonly stored?: StoredFile };

/** Something that may carry a cache breakpoint. */
interface Cacheable {
  readonly cache?: CacheBreakpoint;
}

/** One piece of a message. */
export type Part = Cacheable &
  (
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "image"; readonly source: AttachmentSource; readonly detail?: string }
    | {
        readonly type: "file";
        readonly source: AttachmentSource;
        readonly filename?: string;
        readonly mediaType?: string;
      }
  );

/** A tool call that the assistant made earlier. `arguments` is JSON text. */
export interface ToolCall extends Cacheable {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** One message of any dialect. Plain data: it can be stored and sent over RPC. */
export type Message =
  | { readonly role: "system"; readonly parts: readonly Part[] }
  | { readonly role: "user"; readonly parts: readonly Part[]; readonly name?: string }
  | {
      readonly role: "assistant";
      readonly parts: readonly Part[];
      readonly reasoning?: string;
      readonly toolCalls: readonly ToolCall[];
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly name?: string;
      readonly parts: readonly Part[];
      readonly isError?: boolean;
      readonly cache?: CacheBreakpoint;
    };

/** The shape that the caller wants the answer's text to have. */
export type ResponseFormat =
  | { readonly type: "text" }
  | { readonly type: "json" }
  | {
      readonly type: "json-schema";
      readonly name?: string;
      readonly schema: Readonly<Record<string, unknown>>;
      /** Whether the answer must match the schema exactly. */
      readonly strict?: boolean;
    };

/**
 * The caller's options for the answer, from sampling to modalities. A provider receives those that it supports
 * (`ProviderCapabilities`). Others are left out, or rejected if the answer would differ in kind from the requested one.
 */
export interface GenerationOptions {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly repetitionPenalty?: number;
  /** By token id. */
  readonly logitBias?: Readonly<Record<string, number>>;
  readonly stop?: readonly string[];
  readonly maxTokens?: number;
  readonly seed?: number;
  readonly reasoningEffort?: string;
  /** Most tokens for the model's reasoning. */
  readonly thinkingBudget?: number;
  readonly verbosity?: string;
  /** The end user's id in the caller's system. */
  readonly user?: string;
  /** Cache key shared by requests with the same beginning. */
  readonly promptCacheKey?: string;
  /** The number of alternatives whose log probabilities are stated with each token of the answer. */
  readonly logprobs?: number;
  /** The number of answers, if not one. */
  readonly n?: number;
  /** Output modalities, if not text alone. */
  readonly modalities?: readonly string[];
}

/** A request translated from any dialect. The rest of the program knows a request only in this form. */
export interface Conversation {
  /** The id of the caller's API style. */
  readonly dialect: string;
  /** The request field that carries the messages and their attachments, for errors. */
  readonly contentField: string;
  readonly model: ResolvedModel;
  readonly messages: readonly Message[];
  /** The session or cache key that the request's body names. Absent: it names none. */
  readonly sessionId?: string;
  /** Whether the model has answered before, for a request whose messages are not translated. */
  readonly hasAssistantTurn?: boolean;
  /** The tools that the caller declared, in order. */
  readonly tools: readonly ToolDefinition[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  /** The caller asks for the vendor's own web search. Absent: it does not. */
  readonly webSearch?: WebSearch;
  /** A cache breakpoint at the end of the whole prompt. */
  readonly cache?: CacheBreakpoint;
  /** Whether the model thinks: as the request says, unless the model is a `-nothinking` variant. */
  readonly thinking: boolean;
  /**
   * What backends do whose models think only on request, if the request has no option for thinking: their models do not
   * think (`off`), or decide themselves (`model`). Absent: the request has such an option.
   */
  readonly thinkingDefault?: "off" | "model";
  /**
   * Whether the caller requested the reasoning. If false, reasoning is only searched for tool calls (docs/contract.md,
   * tool rule 9) and is not shown.
   */
  readonly showReasoning: boolean;
  readonly options: GenerationOptions;
  /** The caller's names for members of `options`, for errors, where they differ. */
  readonly optionNames?: Readonly<Partial<Record<keyof GenerationOptions, string>>>;
  /**
   * The caller's estimate of the answer's length in tokens, if its style requires one. Unlike `options.maxTokens` it is
   * not a limit that cuts the answer: it is sent only to protocols that require a limit.
   */
  readonly expectedTokens?: number;
  readonly responseFormat: ResponseFormat;
  readonly stream: boolean;
}

/** The text of a message's parts, joined; attachments are left out. */
export function joinText(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) if (part.type === "text") text += part.text;
  return text;
}

/** Whether a message has a part that is not text. */
export function hasAttachments({ messages }: Conversation): boolean {
  return messages.some(({ parts }) => parts.some(({ type }) => type !== "text"));
}

/** Whether the answer is searched for tool calls (tool-call decisions, rule 4). */
export function usesTools(conversation: Conversation): boolean {
  return conversation.tools.length > 0 && conversation.toolChoice.type !== "none";
}

/** Whether an answer without a tool call violates the request. */
export function requiresTool(conversation: Conversation): boolean {
  const { type } = conversation.toolChoice;
  return type === "required" || type === "function";
}
