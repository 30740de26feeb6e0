import type { Conversation, GenerationOptions } from "../../core/conversation/conversation.ts";
import type { JsonObject } from "../../core/encoding/json.ts";
import type { Credentials, SignInResult } from "../../core/ports/accounts.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import type { PreparedTurn, UpstreamTurn } from "./answers/upstream-turn.ts";
import type { FilesApi } from "./files/files-api.ts";
import type { NativePath } from "./native/native-path.ts";
import type { Passthrough, PromptCaches } from "./passthrough/passthrough.ts";
import type { UpstreamAccount } from "./upstream-account.ts";

/** An account as the provider describes it. */
export interface ProviderAccount {
  readonly id: string;
  readonly sessionCount: number;
}

/** Operations on chat sessions stored by the provider. */
export interface ChatSessionsApi {
  create(account: UpstreamAccount, signal: AbortSignal): Promise<string>;
  delete(account: UpstreamAccount, sessionId: string, signal: AbortSignal): Promise<void>;
  /** Deletes every session of the account. Returns the number of deleted sessions. */
  deleteAll(account: UpstreamAccount, signal: AbortSignal): Promise<number>;
}

/** Creates embeddings. */
export type EmbeddingsApi =
  | {
      /** That of `/v1/embeddings`. */
      readonly protocol: "embeddings";
      embed(
        account: UpstreamAccount,
        request: EmbeddingsBody & { readonly model: string },
        signal: AbortSignal,
      ): Promise<EmbeddingsResult>;
    }
  | {
      /** That of `:embedContent`. */
      readonly protocol: "content-generation";
      embed(
        account: UpstreamAccount,
        request: (TextsQuery | ContentsQuery) & { readonly model: string },
        signal: AbortSignal,
      ): Promise<EmbeddingsResult>;
    };

/** A body of `/v1/embeddings` without the model. A single input need not be in a list. */
export type EmbeddingsBody = JsonObject & { readonly input: string | readonly unknown[] };

/** Texts to embed. The provider may ignore `dimensions`. */
export interface TextsQuery {
  readonly input: readonly string[];
  readonly dimensions?: number;
}

/** Requests of `:embedContent` for one model. */
export interface ContentsQuery {
  readonly verb: "embedContent" | "batchEmbedContents";
  readonly requests: readonly JsonObject[];
}

/** The numbers of one embedding. */
export type Vector = ArrayLike<number> & Iterable<number>;

/** One vector for each input, in order, and the number of input tokens. */
interface EmbeddingsResult {
  readonly vectors: readonly Vector[];
  readonly tokens: number;
  /** The answer from which they were read. */
  readonly answer: JsonObject;
}

/** A model in a provider's own list. */
export interface OfferedModel {
  /** As the provider calls it. */
  readonly name: string;
  /** All that the list states of it. */
  readonly entry: JsonObject;
}

/** Lists the models that the provider offers. */
export interface ModelListing {
  list(account: UpstreamAccount, signal: AbortSignal): Promise<readonly OfferedModel[]>;
}

/** What a provider supports. `generation/routes/model-selection.ts` checks all requests against it. */
export interface ProviderCapabilities {
  /** Which source knows the models with vision: the catalogue, or only the backend, which then receives every image. */
  readonly images: "catalogue" | "backend";
  /** The generation options that the provider passes on. */
  readonly options: ReadonlySet<keyof GenerationOptions>;
  /**
   * Who searches the web: models of the catalogue, or the backend with any model. `models` are canonical ids that the
   * backend maps to its own models, possibly for search. Absent: no web search.
   */
  readonly search?: "catalogue" | { readonly models: ReadonlySet<string> };
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

/**
 * A provider, created by its driver. All methods throw only `ProviderError`, unless stated otherwise; an abort by
 * `signal` rejects with the signal's reason. Operations that not every protocol has are optional members.
 */
export interface Provider {
  readonly capabilities: ProviderCapabilities;
  signIn(credentials: Credentials, fetch: Fetch, signal: AbortSignal): Promise<SignInResult>;
  /** Checks a token at low cost. */
  checkAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount>;
  /**
   * Renders a conversation for this provider; `open` uploads the attachments. Throws a `GatewayError` 400 for an
   * attachment that is broken or that the model does not support.
   */
  prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn;
  readonly native?: NativePath | undefined;
  readonly sessions?: ChatSessionsApi;
  readonly files?: FilesApi;
  readonly embeddings?: EmbeddingsApi;
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
