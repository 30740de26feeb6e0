import type { Conversation, Sampling } from "../../core/conversation/conversation.ts";
import type { AnswerToken, Usage } from "../../core/conversation/events.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";
import type { JsonObject } from "../../core/encoding/json.ts";
import type { ProviderError } from "../../core/errors/provider-error.ts";
import type { Credentials, SignInResult } from "../../core/ports/accounts.ts";
import type { TokenType } from "../../core/ports/pool-configuration.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import type { OpenedSocket, OpenWebSocket } from "../../core/ports/web-socket.ts";
import type { RetryBudget } from "../../core/retries/retry-budget.ts";
import type { RetryKind } from "../../core/retries/retry-policy.ts";

/** The account, or the pass-through caller, on whose behalf a request is sent. */
export interface UpstreamAccount {
  /** The account's token, or the caller's own token in pass-through mode. */
  readonly token: string;
  readonly fetch: Fetch;
  /** Opens a WebSocket to the provider. Throws a `GatewayError` 501 if the account has a proxy. */
  readonly openSocket?: OpenWebSocket;
  /** What `token` is. Absent: an API key, or the token of a sign-in. With `aws_keys` it is empty, and `fetch` signs. */
  readonly tokenType?: TokenType;
  /** Decides whether a failed call is repeated. Absent: the gateway's own background work, whose calls are not limited. */
  readonly retries?: RetryBudget;
}

/** Whether a failed call of the provider's API may be repeated. */
export function mayRepeatCall({ retries }: UpstreamAccount, kind: RetryKind, error: unknown): boolean {
  return retries === undefined || retries.take(kind, error);
}

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

/**
 * Turns an upstream's bytes into events. Any split of the bytes yields the same events.
 * `push` and `finish` throw a `ProviderError`: `malformed` for invalid data, the upstream's own error for an error
 * event, and `cut` if `finish` is called before the upstream has ended the turn.
 */
export interface TurnDecoder {
  /** The upstream has sent the whole turn. Readers do not need to wait for further bytes. */
  readonly ended?: boolean;
  /**
   * A failure that occurred in the same read as the events which `push` just returned. The next call throws it; read
   * this member to learn of it without waiting for more bytes. Null: none.
   */
  readonly failure?: ProviderError | null;
  /** How many events had content. Until the first one, another account may still answer. */
  readonly contentEvents?: number;
  push(bytes: Uint8Array): readonly ProviderEvent[];
  finish(): readonly ProviderEvent[];
}

/** The answer to a native request: its bytes go to the caller as they are. */
export interface NativeAnswer {
  /** The headers of the provider's response. */
  readonly headers: Headers;
}

interface OpenedTurn {
  readonly native?: NativeAnswer;
  /** The members of the request that were left out: the provider refuses them, or never gets them. Absent: none. */
  readonly dropped?: readonly string[];
  readonly sessionId: string;
}

/** An upstream turn whose streamed answer has begun to arrive. */
export interface StreamedTurn extends OpenedTurn {
  readonly body: ReadableStream<Uint8Array>;
  readonly decoder: TurnDecoder;
}

/** An upstream turn whose answer comes in one piece. */
export interface WholeTurn extends OpenedTurn {
  /**
   * Reads the answer and returns the same events as a stream would. Throws the same errors as a {@link TurnDecoder},
   * and rejects with the reason of the signal that opened the turn.
   */
  read(): Promise<readonly ProviderEvent[]>;
  /** The text of the answer. Empty before it was read. */
  readonly text?: () => string;
}

/** An upstream turn. A backend may answer with or without a stream, regardless of the request. */
export type UpstreamTurn = StreamedTurn | WholeTurn;

/** A follow-up turn: the original prompt plus `suffix`. Its parent is the message that had no visible content. */
export interface FollowUp {
  readonly sessionId: string;
  readonly parentMessageId: string;
  readonly suffix: string;
}

/** A request rendered for the provider, before an account is selected. */
export interface PreparedTurn {
  /** Everything that the model will read, as one text. Token estimates use it. */
  readonly promptText: string;
  /**
   * Fetches attachments behind URLs in advance, so that no account waits for a caller's server. `open` fetches the
   * rest. Throws a `GatewayError` 400 for an attachment that cannot be fetched or that the model does not support.
   */
  load?(signal: AbortSignal): Promise<void>;
  /** The answer was requested in one piece: the provider sends nothing until the answer is complete. */
  readonly whole?: boolean;
  /**
   * Opens the turn. Throws a `ProviderError` if the provider refuses it or cannot be reached.
   * `inSession` receives a promise of each session id before the session exists, so that the session can be deleted
   * even if the turn fails or is aborted. The promise rejects if no session is created.
   */
  open(
    account: UpstreamAccount,
    signal: AbortSignal,
    followUp: FollowUp | null,
    inSession?: (session: Promise<string>) => void,
  ): Promise<UpstreamTurn>;
}

/** A file stored by the provider. */
export interface ProviderFile {
  readonly id: string;
  /** The address by which requests name the file, for protocols that use no id there. */
  readonly uri?: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly status: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** When the provider deletes the file, Unix seconds. Absent: it states no time. */
  readonly expiresAt?: number;
}

/** An account as the provider describes it. */
export interface ProviderAccount {
  readonly id: string;
  readonly sessionCount: number;
}

/** Operations on chat sessions stored by the provider. */
export interface SessionKeeping {
  create(account: UpstreamAccount, signal: AbortSignal): Promise<string>;
  delete(account: UpstreamAccount, sessionId: string, signal: AbortSignal): Promise<void>;
  /** Deletes every session of the account. Returns the number of deleted sessions. */
  deleteAll(account: UpstreamAccount, signal: AbortSignal): Promise<number>;
}

/** Operations on files stored by the provider, in the account that uploaded them. `fileId` is the provider's id. */
export interface FileKeeping {
  /** Callers see the provider's ids. Absent: the gateway gives each file an id of its own. */
  readonly showsOwnIds?: true;
  /** Uploads a file as a stream. Throws a `GatewayError` 501 if the backend has no place for files. */
  upload(account: UpstreamAccount, upload: FileUpload, signal: AbortSignal): Promise<ProviderFile>;
  /** Throws `not_found` for a file that was deleted or has expired. */
  read(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<ProviderFile>;
  /** Deletes a file. Throws `not_found` as `read` does. Absent: the protocol cannot delete files. */
  delete?(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<void>;
  /** Opens a file's content. Throws `not_found` as `read` does. Absent: the protocol never returns it. */
  readContent?(
    account: UpstreamAccount,
    fileId: string,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>>;
}

/** A request in the provider's own protocol. The body goes to the provider as the caller wrote it. */
export interface NativeRequest {
  /** The id of the API style, which is also the name of the protocol. */
  readonly dialect: string;
  /** The body: the text of a JSON object that names `model` and `stream` at most once. */
  readonly text: string;
  readonly stream: boolean;
  /** The caller's headers that belong to the protocol. */
  readonly headers: Readonly<Record<string, string>>;
  /** The query that belongs to the protocol, without the question mark; empty: none. */
  readonly query: string;
}

/** Requests in the provider's own protocol, which need no translation. */
export interface NativePath {
  /** Whether an API style is the provider's protocol. */
  speaks(dialect: string): boolean;
  /**
   * Whether the provider can take the conversation as it is. False: its tools must be written into the prompt, or the provider
   * lacks the endpoint.
   */
  accepts(conversation: Conversation): boolean;
  /**
   * Prepares a request that is sent as the caller wrote it. `conversation` names the model.
   *
   * @param translate prepares the translated request, for a provider that turns out to lack the endpoint
   */
  prepare(request: NativeRequest, conversation: Conversation, translate: () => PreparedTurn): PreparedTurn;
}

/** Creates embeddings. */
export interface Embedding {
  /** Returns one vector for each input, in order, and the number of input tokens. The provider may ignore `dimensions`. */
  embed(
    account: UpstreamAccount,
    request: { readonly model: string; readonly input: readonly string[]; readonly dimensions?: number },
    signal: AbortSignal,
  ): Promise<{ readonly vectors: readonly (readonly number[])[]; readonly tokens: number }>;
}

/** A request to an endpoint whose requests and answers need no translation. */
export interface PassthroughRequest {
  /** The path below the provider's base URL. */
  readonly path: string;
  /** Default: `POST`. */
  readonly method?: "GET";
  /** The path names a stored object: HTTP 404 says that there is none, and not that the backend lacks the endpoint. */
  readonly isStoredObject?: true;
  /** Null: the request names no model. */
  readonly model: ResolvedModel | null;
  /** The caller's headers that go to the provider, `content-type` included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Creates the body; null: none. `model` is the provider's name for the model; empty if the request names none. */
  readonly createBody: (model: string) => BodyInit | null;
}

/** A WebSocket to a provider, and the provider's name for its model; empty: none. */
export interface OpenedRealtime {
  readonly socket: OpenedSocket;
  readonly model: string;
}

/** Endpoints whose requests and answers need no translation. */
export interface Passthrough {
  /**
   * Sends a request and returns the successful answer with its body unread. Throws a `GatewayError` 501 if the backend
   * does not have the endpoint.
   */
  send(account: UpstreamAccount, request: PassthroughRequest, signal: AbortSignal): Promise<Response>;
  /**
   * Opens a WebSocket. Throws the same errors.
   *
   * @param query of the address, beside the model
   */
  openSocket(
    account: UpstreamAccount,
    request: Pick<PassthroughRequest, "path" | "model" | "headers">,
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<OpenedRealtime>;
}

/** A request to the prompts that a provider caches under names. */
export interface CacheRequest {
  readonly method: "POST" | "GET" | "PATCH" | "DELETE";
  /** The provider's name of the cache; empty: all of them. */
  readonly name: string;
  /** Without the question mark; empty: none. */
  readonly query: string;
  /** The model of a new cache; null: the request names none. */
  readonly model: ResolvedModel | null;
  /** Creates the body. `model` is the provider's name for the model; empty if the request names none. */
  readonly createBody: (model: string) => string | null;
}

/** Prompts that a provider caches under names, at the account that created them. */
export interface PromptCaches {
  /** Sends a request and returns the JSON answer. */
  send(account: UpstreamAccount, request: CacheRequest, signal: AbortSignal): Promise<JsonObject>;
}

/** Lists the models that the provider offers. */
export interface ModelListing {
  /** Returns the models' names as the provider calls them. */
  list(account: UpstreamAccount, signal: AbortSignal): Promise<readonly string[]>;
}

/** What a provider supports. `generation/model-selection.ts` checks all requests against it. */
export interface ProviderCapabilities {
  /** Which source knows the models with vision: the catalogue, or only the backend, which then receives every image. */
  readonly images: "catalogue" | "backend";
  /** The sampling options that the provider passes on. */
  readonly options: ReadonlySet<keyof Sampling>;
  /**
   * Who searches the web: models of the catalogue, or the backend with any model. `models` are canonical ids that the
   * backend maps to its own models, possibly for search. Absent: no web search.
   */
  readonly search?: "catalogue" | { readonly models: ReadonlySet<string> };
}

/**
 * A provider, created by its driver. All methods throw only `ProviderError`, unless stated otherwise; an abort by
 * `signal` rejects with the signal's reason. Operations that not every protocol has are optional members.
 */
export interface Provider {
  readonly capabilities: ProviderCapabilities;
  signIn(credentials: Credentials, fetch: Fetch, signal: AbortSignal): Promise<SignInResult>;
  /** Checks a token at low cost. */
  describeAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount>;
  /**
   * Renders a conversation for this provider; `open` uploads the attachments. Throws a `GatewayError` 400 for an
   * attachment that is broken or that the model does not support.
   */
  prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn;
  readonly native?: NativePath | undefined;
  readonly sessions?: SessionKeeping;
  readonly files?: FileKeeping;
  readonly embeddings?: Embedding;
  readonly passthrough?: Passthrough;
  readonly caches?: PromptCaches;
  readonly models?: ModelListing;
  /** Continues a message that ended `incomplete`. Without this method such a message is final. */
  resume?(
    account: UpstreamAccount,
    sessionId: string,
    messageId: string,
    signal: AbortSignal,
  ): Promise<UpstreamTurn>;
}

/** A file to upload to the provider. */
export interface FileUpload {
  readonly filename: string;
  readonly mediaType: string;
  /** Empty: none. A function is called at the end of the body. */
  readonly purpose: string | (() => string);
  /** Returns the lifetime that the caller requested, in seconds; null: none. Called at the end of the body. */
  readonly lifetime?: () => number | null;
  /** The provider's model that will read the file. */
  readonly model: string;
  readonly body: ReadableStream<Uint8Array> | Uint8Array;
}

/** Configuration settings that shape the prompt. */
export interface PrepareOptions {
  /** Appended to the last user message when thinking is on. Null: nothing (`thinking_injection`). */
  readonly thinkingInjection: string | null;
  /** Prompts of at least this many characters are uploaded as a file. Null: never (`current_input_file`). */
  readonly inputFileMinChars: number | null;
  /** Fetches an attachment from a caller's URL, under the URL rules of the page service. */
  readonly fetchAttachment: (
    url: string,
    signal: AbortSignal,
  ) => Promise<{ bytes: Uint8Array; mediaType: string }>;
}
