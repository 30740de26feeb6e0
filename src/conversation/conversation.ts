import type { CacheMark } from "./cache-mark.ts";
import type { ResolvedModel } from "./model.ts";
import type { ToolChoice, ToolDefinition } from "./tool.ts";
import type { WebSearch } from "./web-search.ts";

/** Where the bytes of an attachment are. */
export type AttachmentSource =
  | { readonly kind: "url"; readonly url: string }
  /** `data` is base64. */
  | { readonly kind: "inline"; readonly data: string; readonly mediaType: string }
  | { readonly kind: "file"; readonly fileId: string };

/** What may have a mark for the provider's cache. */
interface Marked {
  readonly cache?: CacheMark;
}

/** One piece of a message. */
export type Part = Marked &
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
export interface ToolCall extends Marked {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** One message, whatever dialect it came in. Plain data: it can be stored and sent over RPC. */
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
      readonly cache?: CacheMark;
    };

/** The shape that the caller wants the answer's text to have. */
export type ResponseFormat =
  | { readonly type: "text" }
  | { readonly type: "json" }
  | {
      readonly type: "json-schema";
      readonly name?: string;
      readonly schema: Readonly<Record<string, unknown>>;
      /** Whether the caller demands that the schema is kept to the letter. */
      readonly strict?: boolean;
    };

/**
 * What the caller wants of sampling and of the answer. A provider passes on what it knows (`Abilities`); what it does not
 * know is left out, or refused where the answer would not be the one that was asked for.
 */
export interface Sampling {
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
  /** How many tokens the model may think for. */
  readonly thinkingBudget?: number;
  readonly verbosity?: string;
  /** Who asks, as the caller knows its users. */
  readonly user?: string;
  /** Requests that begin alike share it. */
  readonly promptCacheKey?: string;
  /** The log probability of each token of the answer, with so many alternatives. */
  readonly logprobs?: number;
  /** So many answers, where it is not one. */
  readonly n?: number;
  /** Forms in which the answer is to come, where it is not text alone. */
  readonly modalities?: readonly string[];
}

/**
 * A request in any dialect, translated: the only thing that the rest of the program knows of it.
 */
export interface Conversation {
  /** The id of the style in which the caller speaks. */
  readonly dialect: string;
  /** What the caller calls its messages, for errors: the request field that carries them and their attachments. */
  readonly contentField: string;
  readonly model: ResolvedModel;
  readonly messages: readonly Message[];
  /** The tools that the caller declared, in order. */
  readonly tools: readonly ToolDefinition[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  /** The caller asks for the vendor's own web search. Absent: it does not. */
  readonly webSearch?: WebSearch;
  /** A mark at the end of the whole prompt, wherever that is. */
  readonly cache?: CacheMark;
  /** Whether the model thinks: the request's wish, unless the model is a `-nothinking` variant. */
  readonly thinking: boolean;
  /**
   * Whether the caller asked to see reasoning. When false, reasoning serves only the search for tool calls (contract,
   * tool rule 9) and is not shown.
   */
  readonly showReasoning: boolean;
  readonly sampling: Sampling;
  /** What the caller calls members of `sampling`, for errors, where that is not their name. */
  readonly optionNames?: Readonly<Partial<Record<keyof Sampling, string>>>;
  /**
   * How many tokens the caller expects at most, where its style makes it say so. Unlike `sampling.maxTokens` it is no limit
   * to cut by: only a protocol that cannot do without a limit is told.
   */
  readonly expectedTokens?: number;
  readonly responseFormat: ResponseFormat;
  readonly stream: boolean;
}

/** The text of a message's parts, joined; attachments are left out. */
export function textOf(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) if (part.type === "text") text += part.text;
  return text;
}

/** Whether a message has a part that is no text. */
export function hasAttachments({ messages }: Conversation): boolean {
  return messages.some(({ parts }) => parts.some(({ type }) => type !== "text"));
}

/** Whether tool calls are looked for in the answer (tool-call decisions, rule 4). */
export function usesTools(conversation: Conversation): boolean {
  return conversation.tools.length > 0 && conversation.toolChoice.type !== "none";
}

/** Whether an answer without a tool call violates the request. */
export function requiresTool(conversation: Conversation): boolean {
  const { type } = conversation.toolChoice;
  return type === "required" || type === "function";
}
