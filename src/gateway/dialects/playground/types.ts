/** A tool call that the model made. `arguments` is JSON text. */
export interface PlaygroundCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** An image or a file that the user attaches. */
export interface Attachment {
  readonly kind: "image" | "file";
  readonly name: string;
  readonly mediaType: string;
  /** Base64; empty: the provider fetches `url`. */
  readonly data: string;
  readonly url: string;
}

/** One turn of the conversation, independent of the dialect. */
export type PlaygroundTurn =
  | { readonly role: "user"; readonly text: string; readonly attachments?: readonly Attachment[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly reasoning: string;
      readonly calls: readonly PlaygroundCall[];
      /** The model that gave the answer; absent: unknown. It is not sent. */
      readonly model?: string;
    }
  | { readonly role: "tool"; readonly call: PlaygroundCall; readonly output: string };

/** A tool that the request offers. `parameters` is a JSON schema. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

/**
 * Parameters of a request, under names that no dialect owns.
 * The history stores all but `user` under these names, and further ones.
 */
export const PARAMETER_NAMES = [
  "temperature",
  "max_tokens",
  "top_p",
  "top_k",
  "min_p",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "reasoning_effort",
  "user",
] as const;
export type ParameterName = (typeof PARAMETER_NAMES)[number];
export type Parameters = Readonly<Partial<Record<ParameterName, unknown>>>;

/** The data from which a dialect builds a request. */
export interface PlaygroundRequest {
  readonly model: string;
  readonly system: string;
  readonly turns: readonly PlaygroundTurn[];
  readonly tools: readonly Tool[];
  readonly stream: boolean;
  /** Absent: none. */
  readonly parameters?: Parameters;
}

/** A piece of an answer, independent of the dialect. The arguments of a call arrive in several pieces. */
export type AnswerPiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string }
  | { readonly type: "arguments"; readonly text: string }
  | { readonly type: "usage"; readonly input: number; readonly output: number }
  | { readonly type: "error"; readonly message: string };

/** A request in the format of its dialect. */
export interface WireRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * The console playground's client for one dialect. The dialect's `playground.ts` exports it, and the build adds it to the
 * console. It runs in the browser, so it may import only this folder of the gateway's code.
 */
export interface PlaygroundDialect {
  /** The name of the dialect's folder. */
  readonly id: string;
  /** The place of each parameter in the body: member names joined by dots. The dialect has no other parameters. */
  readonly parameters: Readonly<Partial<Record<ParameterName, string>>>;
  /** Whether a request can contain the attachment. Others are left out. */
  canAttach(attachment: Attachment): boolean;
  buildRequest(input: PlaygroundRequest): WireRequest;
  /** Converts one event of a stream to pieces. `data` is parsed JSON. */
  parseEvent(data: unknown): readonly AnswerPiece[];
  /** Converts the whole answer of a request that is not streamed to pieces. */
  parseAnswer(body: unknown): readonly AnswerPiece[];
  /** Returns JavaScript source that sends the same request with the vendor's SDK. */
  toJavascript(origin: string, request: WireRequest, input: PlaygroundRequest): string;
  /** Returns Python source that sends the same request with the vendor's SDK. */
  toPython(origin: string, request: WireRequest, input: PlaygroundRequest): string;
}
