import type { Conversation, Sampling } from "../conversation/conversation.ts";
import type { AnswerToken, Usage } from "../conversation/events.ts";
import type { ProviderError } from "../errors/provider-error.ts";
import type { Credentials, SignedIn } from "../platform/accounts.ts";
import type { Fetch } from "../platform/upstream.ts";

/** On whose behalf the provider is spoken to. */
export interface UpstreamAccount {
  /** The account's token, or the caller's own in pass-through mode. */
  readonly token: string;
  readonly fetch: Fetch;
}

/** Counts as the provider states them (see `Usage`); a field that it does not state is absent. */
export type ProviderUsage = Partial<Usage>;

/** A search hit that citation markers point at. */
export interface SearchResult {
  /** From 1. */
  readonly index: number;
  readonly url: string;
  readonly title: string;
}

/** How the provider says that a message ended. `incomplete` is continued. `tool_calls`: native tool calls were made. */
export type ProviderFinish = "stop" | "length" | "content_filter" | "incomplete" | "tool_calls";

/** Whether a message that ended so may lack what was to follow: only `stop` and `tool_calls` say that it has all. */
export function cutsOff(reason: ProviderFinish): boolean {
  return reason !== "stop" && reason !== "tool_calls";
}

/** One event of an upstream turn, after decoding. */
export type ProviderEvent =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  /** The tokens of the text that follows next, or of its end. */
  | { readonly type: "tokens"; readonly tokens: readonly AnswerToken[] }
  /** The model's words for not answering, where the protocol keeps them apart from text. */
  | { readonly type: "refusal"; readonly text: string }
  | { readonly type: "search"; readonly results: readonly SearchResult[] }
  /**
   * A place that refers to a page, where the protocol names places: offsets in the turn's text, of the link that stands
   * there (the same twice: there is none) and of what it is given for (absent: the sentence before).
   */
  | {
      readonly type: "citation";
      readonly url: string;
      readonly title: string;
      readonly start: number;
      readonly end: number;
      readonly claim?: { readonly start: number; readonly end: number };
      /** What the page says there. */
      readonly quoted?: string;
    }
  /** Native tool calls only: `index` counts from 0 within the turn. */
  | { readonly type: "tool-call"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "tool-arguments"; readonly index: number; readonly delta: string }
  /** The arguments are complete. A call whose end never comes was cut off. */
  | { readonly type: "tool-call-end"; readonly index: number }
  | { readonly type: "usage"; readonly usage: ProviderUsage }
  | {
      readonly type: "finish";
      readonly reason: ProviderFinish;
      /** The stop sequence that the message ended at, where the provider says so. */
      readonly stopSequence?: string;
    };

/**
 * Turns an upstream's bytes into events. A plain push automaton: any split of the bytes yields the same events. Both
 * methods throw a `ProviderError`: `malformed` for garbage, the upstream's own error for an error event, and `cut` when
 * `finish` is reached although the upstream never said that it had finished.
 */
export interface TurnDecoder {
  /** The upstream has said all that belongs to the turn: what may still follow need not be waited for. */
  readonly ended?: boolean;
  /**
   * A failure that came in the same read as the events which `push` just returned, so that those are not lost. The
   * next call throws it; whoever does not want to wait for one looks here. Null: none.
   */
  readonly failure?: ProviderError | null;
  push(bytes: Uint8Array): readonly ProviderEvent[];
  finish(): readonly ProviderEvent[];
}

/** An upstream turn whose answer comes as a stream, and has begun to arrive. */
export interface StreamedTurn {
  readonly sessionId: string;
  readonly body: ReadableStream<Uint8Array>;
  readonly decoder: TurnDecoder;
}

/** An upstream turn whose answer comes in one piece. */
export interface WholeTurn {
  readonly sessionId: string;
  /**
   * Reads the answer: the same events as if it had been streamed. Throws as a {@link TurnDecoder} does, and rejects with the
   * reason of the signal that the turn was opened with.
   */
  read(): Promise<readonly ProviderEvent[]>;
}

/** An upstream turn. Backends need not answer in the way in which they were asked to. */
export type UpstreamTurn = StreamedTurn | WholeTurn;

/** A follow-up turn: its prompt is the original one's with `suffix`, its parent the message that came up empty. */
export interface FollowUp {
  readonly sessionId: string;
  readonly parentMessageId: string;
  readonly suffix: string;
}

/** A request rendered for the provider, before any account is involved. */
export interface PreparedTurn {
  /** Everything that the model will read, as one text: what token estimates are made from. */
  readonly promptText: string;
  /**
   * Fetches the attachments that are behind URLs, so that no account waits for a caller's server. What it does not
   * fetch `open` does. Throws a `GatewayError` 400 for one that cannot be had or that the model cannot take.
   */
  load?(signal: AbortSignal): Promise<void>;
  /** The answer is asked for in one piece: until it is complete the provider is silent. */
  readonly whole?: boolean;
  /**
   * Opens the turn. Throws a `ProviderError` when the provider refuses it or cannot be reached. `inSession` is told of each
   * session before it is made, so that it can be deleted although the turn fails, and although it is there only when
   * nobody waits for the turn any more. What it is told rejects when none is made.
   */
  open(
    account: UpstreamAccount,
    signal: AbortSignal,
    followUp: FollowUp | null,
    inSession?: (session: Promise<string>) => void,
  ): Promise<UpstreamTurn>;
}

/** A file that the provider keeps. */
export interface ProviderFile {
  readonly id: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly status: string;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** An account as the provider describes it. */
export interface ProviderAccount {
  readonly id: string;
  readonly sessionCount: number;
}

/** Chats that live at the provider. */
export interface SessionKeeping {
  create(account: UpstreamAccount, signal: AbortSignal): Promise<string>;
  delete(account: UpstreamAccount, sessionId: string, signal: AbortSignal): Promise<void>;
  /** Deletes every session of the account; returns how many. */
  deleteAll(account: UpstreamAccount, signal: AbortSignal): Promise<number>;
}

/** Files that live at the provider, with the account that uploaded them. */
export interface FileKeeping {
  /** Passes a file on as it streams in. */
  upload(account: UpstreamAccount, upload: FileUpload, signal: AbortSignal): Promise<ProviderFile>;
  read(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<ProviderFile>;
}

/** Texts as vectors. */
export interface Embedding {
  /** One vector for each input, in order, and the tokens that they had. `dimensions` is a wish. */
  embed(
    account: UpstreamAccount,
    request: { readonly model: string; readonly input: readonly string[]; readonly dimensions?: number },
    signal: AbortSignal,
  ): Promise<{ readonly vectors: readonly (readonly number[])[]; readonly tokens: number }>;
}

/** The models that the provider offers. */
export interface ModelListing {
  /** Their names, as the provider calls them. */
  list(account: UpstreamAccount, signal: AbortSignal): Promise<readonly string[]>;
}

/** What a provider can be asked for: requests are checked against it in one place, `generation/suit.ts`. */
export interface Abilities {
  /** Who knows which models see images: the catalogue, or the backend alone, which is then sent every image. */
  readonly images: "catalogue" | "backend";
  /** Which options of a request it passes on. */
  readonly options: ReadonlySet<keyof Sampling>;
  /**
   * Who searches the web: the catalogue's models that do, or the backend with any model; these canonical ids are models of
   * its own there, which it may have for searching. Absent: nobody.
   */
  readonly search?: "catalogue" | { readonly models: ReadonlySet<string> };
}

/**
 * A provider, as its driver makes it. All methods throw `ProviderError` and nothing else (but for an abort by `signal`,
 * which rejects with the signal's reason). What not every protocol has is an optional member: whoever needs it looks.
 */
export interface Provider {
  readonly abilities: Abilities;
  signIn(credentials: Credentials, fetch: Fetch, signal: AbortSignal): Promise<SignedIn>;
  /** The cheap check of a token. */
  describeAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount>;
  /**
   * Renders a conversation for this provider; attachments are uploaded by `open`. Throws a `GatewayError` 400 for an
   * attachment that the model cannot take or that is broken.
   */
  prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn;
  readonly sessions?: SessionKeeping;
  readonly files?: FileKeeping;
  readonly embeddings?: Embedding;
  readonly models?: ModelListing;
  /** Goes on with a message that ended `incomplete`. Where it is missing such a message has ended for good. */
  resume?(
    account: UpstreamAccount,
    sessionId: string,
    messageId: string,
    signal: AbortSignal,
  ): Promise<UpstreamTurn>;
}

/** A file on its way to the provider. */
export interface FileUpload {
  readonly filename: string;
  readonly mediaType: string;
  /** Empty: none. A function is asked when the body has ended. */
  readonly purpose: string | (() => string);
  /** The provider's model that will read it. */
  readonly model: string;
  readonly body: ReadableStream<Uint8Array> | Uint8Array;
}

/** Settings of the configuration that shape the prompt. */
export interface PrepareOptions {
  /** Appended to the last user message when thinking is on; null: nothing (`thinking_injection`). */
  readonly thinkingInjection: string | null;
  /** From this many characters on the transcript is uploaded as a file; null: never (`current_input_file`). */
  readonly inputFileMinChars: number | null;
  /** Fetches an attachment that a caller named by URL, obeying the page service's URL rules. */
  readonly fetchAttachment: (
    url: string,
    signal: AbortSignal,
  ) => Promise<{ bytes: Uint8Array; mediaType: string }>;
}
