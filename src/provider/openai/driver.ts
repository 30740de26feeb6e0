import type { Conversation } from "../../conversation/conversation.ts";
import { isObject } from "../../encoding/json.ts";
import { ProviderError } from "../../errors/provider-error.ts";
import type { Credentials, SignedIn } from "../../platform/accounts.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import type {
  Embedding,
  FollowUp,
  ModelListing,
  PreparedTurn,
  PrepareOptions,
  Provider,
  ProviderAccount,
  TurnDecoder,
  UpstreamAccount,
  UpstreamTurn,
} from "../provider.ts";
import { readRefusal, type StatusKinds } from "../refusal.ts";
import { eventStreamOf, mediaTypeOf, readRecord, send } from "../transport.ts";
import { CompletionStreamDecoder, WholeCompletionDecoder } from "./decoder.ts";
import { embeddingsOf } from "./embeddings.ts";
import { OptionalFields } from "./optional-fields.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** What is not found at a backend is the model (or the whole API): nothing that the caller asked for by address. */
const STATUS_KINDS: StatusKinds = { 404: "model_unavailable" };

/** What backends call their streams: clients of the public API do not look, so that some forget to say it. */
const STREAM_TYPES = ["text/event-stream", "text/plain"];

/** Any chat-completions backend. */
export const openai = {
  id: "openai",
  create: (options: ProviderOptions) => new OpenAiProvider(options),
  exchange: (path: string): ExchangeKind => {
    if (path.endsWith("/chat/completions")) return { label: "completion", round: { session: null } };
    if (path.endsWith("/embeddings")) return { label: "embeddings" };
    return { label: path.endsWith("/models") ? "models" : "other" };
  },
  replay: (contentType: string): TurnDecoder => {
    let calls = 0;
    const context = { secret: "", newId: () => `replayed-${++calls}` };
    return /\bjson\b/i.test(contentType)
      ? new WholeCompletionDecoder(context)
      : new CompletionStreamDecoder(context);
  },
} satisfies Driver;

/**
 * A chat-completions backend. It has no accounts and no sessions: a token is the backend's API key, a
 * session is an id that the driver makes up, and a follow-up turn replays the conversation with the suffix.
 */
class OpenAiProvider implements Provider {
  readonly #options: ProviderOptions;
  readonly #baseUrl: string;
  readonly #optional = new OptionalFields();
  readonly embeddings: Embedding = {
    embed: async (account, { model, ...wishes }, signal) => {
      const body = { model: this.#modelName(model), ...wishes, encoding_format: "float" };
      const response = await this.#post(account, "/embeddings", body, "application/json", signal);
      if (!response.ok) throw (await readRefusal(response, account.token, signal, STATUS_KINDS)).error;
      return embeddingsOf(await readRecord(response, signal), wishes.input.length);
    },
  };
  readonly models: ModelListing = {
    list: async (account, signal) => {
      const response = await this.#listModels(account, signal);
      if (!response.ok) throw (await readRefusal(response, account.token, signal, STATUS_KINDS)).error;
      return modelNames((await readRecord(response, signal))["data"]);
    },
  };

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
  }

  async signIn(credentials: Credentials): Promise<SignedIn> {
    return { token: credentials.token === "" ? this.#options.token : credentials.token, expiresAt: 0 };
  }

  /** Lists the models, which costs nothing and needs a key where one is needed. */
  async describeAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount> {
    const response = await this.#listModels(account, signal);
    // Not every backend lists its models; that says nothing against the key.
    if (response.ok || response.status === 404 || response.status === 405) await response.body?.cancel();
    else throw (await readRefusal(response, account.token, signal, STATUS_KINDS)).error;
    return { id: "", sessionCount: 0 };
  }

  prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn {
    const { toolCalls, newId } = this.#options;
    const model = this.#modelName(conversation.model.id);
    const builder = new RequestBuilder(conversation, options, { model, toolCalls });
    return {
      promptText: builder.promptText,
      load: (signal: AbortSignal) => builder.load(signal),
      open: async (account: UpstreamAccount, signal: AbortSignal, followUp: FollowUp | null) => {
        const request = await builder.build(followUp?.suffix ?? "", signal);
        const response = await this.#complete(account, request, signal);
        return this.#turnOf(account, response, followUp?.sessionId ?? newId());
      },
    };
  }

  #modelName(id: string): string {
    const { models } = this.#options;
    return Object.hasOwn(models, id) ? (models[id] ?? id) : id;
  }

  #listModels(account: UpstreamAccount, signal: AbortSignal): Promise<Response> {
    const init = { headers: { authorization: `Bearer ${account.token}` } };
    return send(account.fetch, `${this.#baseUrl}/models`, init, signal);
  }

  #post(
    account: UpstreamAccount,
    path: string,
    body: unknown,
    accept: string,
    signal: AbortSignal,
  ): Promise<Response> {
    const headers = {
      authorization: `Bearer ${account.token}`,
      "content-type": "application/json",
      accept,
    };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return send(account.fetch, this.#baseUrl + path, init, signal);
  }

  /** Posts a request; again without the optional fields that the backend refuses by name, as long as it does. */
  async #complete(account: UpstreamAccount, full: WireRequest, signal: AbortSignal): Promise<Response> {
    let request = this.#optional.trim(full);
    const learned: (() => void)[] = [];
    for (;;) {
      const accept = "text/event-stream, application/json";
      const response = await this.#post(account, "/chat/completions", request, accept, signal);
      if (response.ok) {
        for (const accept of learned) accept();
        return response;
      }
      const { error, text } = await readRefusal(response, account.token, signal, STATUS_KINDS);
      const correctable = response.status === 400 || response.status === 422;
      const retry = correctable ? this.#optional.retry(request, text) : null;
      if (retry === null) throw error;
      request = retry.request;
      learned.push(retry.accepted);
    }
  }

  async #turnOf(account: UpstreamAccount, response: Response, sessionId: string): Promise<UpstreamTurn> {
    const context = { secret: account.token, newId: this.#options.newId };
    // Some backends answer whole whatever they are asked for.
    if (mediaTypeOf(response) === "application/json" && response.body !== null) {
      return { sessionId, body: response.body, decoder: new WholeCompletionDecoder(context) };
    }
    const body = await eventStreamOf(response, STREAM_TYPES);
    return { sessionId, body, decoder: new CompletionStreamDecoder(context) };
  }
}

/** The `id` of each entry of a model list. */
function modelNames(data: unknown): string[] {
  if (!Array.isArray(data)) throw new ProviderError("malformed", "the provider's list of models is no list");
  return data.flatMap((entry: unknown) => {
    const id = isObject(entry) ? entry["id"] : undefined;
    return typeof id === "string" ? [id] : [];
  });
}
