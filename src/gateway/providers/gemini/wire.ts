/** The bytes of a file. */
export interface WireBlob {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/** A text part. */
export interface WireText {
  readonly text: string;
}

/** A tool call of an earlier answer. */
export interface WireToolCall {
  readonly functionCall: {
    readonly id?: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  };
  /** The opaque signature of the model's thoughts before the call. */
  readonly thoughtSignature?: string;
}

/** The result of a tool call. */
export interface WireToolResult {
  readonly functionResponse: {
    readonly id?: string;
    readonly name: string;
    readonly response: { readonly output: string } | { readonly error: string };
  };
}

/** A file that the backend stores. */
export interface WireFile {
  readonly fileUri: string;
  readonly mimeType?: string;
}

/** One part of a turn. */
export type WirePart =
  | WireText
  | { readonly inlineData: WireBlob }
  | { readonly fileData: WireFile }
  | WireToolCall
  | WireToolResult;

/** A turn. */
export interface WireContent {
  readonly role: "user" | "model";
  readonly parts: readonly WirePart[];
}

/** A function that the caller offers. The schema of its arguments is a JSON Schema, or in the protocol's own format. */
export interface WireFunctionDeclaration {
  readonly name: string;
  readonly description?: string;
  readonly parametersJsonSchema?: Readonly<Record<string, unknown>>;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Functions of the caller, or the server's own search. */
export type WireTool =
  | { readonly functionDeclarations: readonly WireFunctionDeclaration[] }
  | { readonly googleSearch: Readonly<Record<string, never>> };

/** How much the model thinks, and whether it returns its thoughts. */
export interface WireThinkingConfig {
  readonly includeThoughts?: true;
  readonly thinkingBudget?: number;
  readonly thinkingLevel?: string;
}

/** Options of sampling and of the answer's format. */
export interface WireGenerationConfig {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly seed?: number;
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  readonly responseLogprobs?: true;
  readonly logprobs?: number;
  readonly responseMimeType?: "application/json";
  readonly responseJsonSchema?: Readonly<Record<string, unknown>>;
  readonly thinkingConfig?: WireThinkingConfig;
}

/** The body of a request for an answer. */
export interface WireBody {
  readonly contents: readonly WireContent[];
  readonly systemInstruction?: { readonly parts: readonly WireText[] };
  readonly tools?: readonly WireTool[];
  readonly toolConfig?: {
    readonly functionCallingConfig: {
      readonly mode: "AUTO" | "ANY" | "NONE";
      readonly allowedFunctionNames?: readonly string[];
    };
  };
  readonly generationConfig: WireGenerationConfig;
}

/** A request. Its path contains the model, and whether the answer is streamed. */
export interface WireRequest extends WireBody {
  readonly model: string;
  readonly stream: boolean;
}
