import type { Conversation } from "../../conversation/conversation.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import { KeyedBackend } from "../keyed-backend.ts";
import { OptionalFields } from "../optional-fields.ts";
import type {
  Embedding,
  FollowUp,
  PreparedTurn,
  PrepareOptions,
  TurnDecoder,
  UpstreamAccount,
  UpstreamTurn,
} from "../provider.ts";
import type { ErrorKinds } from "../refusal.ts";
import { eventStreamOf, mediaTypeOf, readRecord } from "../transport.ts";
import { CompletionStreamDecoder, wholeCompletionDecoder } from "./decoder.ts";
import { embeddingsOf } from "./embeddings.ts";
import { OPTIONAL_FIELDS } from "./optional-fields.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** What is not found at a backend is the model (or the whole API): nothing that the caller asked for by address. */
const ERROR_KINDS: ErrorKinds = { statuses: { 404: "model_unavailable" } };

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
      ? wholeCompletionDecoder(context)
      : new CompletionStreamDecoder(context);
  },
} satisfies Driver;

/**
 * A chat-completions backend. A session is an id that the driver makes up, and a follow-up turn replays the conversation
 * with the suffix.
 */
class OpenAiProvider extends KeyedBackend {
  readonly #optional = new OptionalFields(OPTIONAL_FIELDS);
  readonly embeddings: Embedding = {
    embed: async (account, { model, ...wishes }, signal) => {
      const body = { model: this.modelName(model), ...wishes, encoding_format: "float" };
      const response = await this.post(account, "/embeddings", body, "application/json", signal);
      if (!response.ok) throw (await this.refusal(response, account, signal)).error;
      return embeddingsOf(await readRecord(response, signal), wishes.input.length);
    },
  };

  constructor(options: ProviderOptions) {
    super(options, options.baseUrl.replace(/\/+$/, ""), ERROR_KINDS);
  }

  protected override headers(token: string) {
    return { authorization: `Bearer ${token}` };
  }

  override prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn {
    const { toolCalls, newId } = this.options;
    const model = this.modelName(conversation.model.id);
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

  #complete(account: UpstreamAccount, request: WireRequest, signal: AbortSignal): Promise<Response> {
    const accept = "text/event-stream, application/json";
    return this.#optional.send(
      request,
      (trimmed) => this.post(account, "/chat/completions", trimmed, accept, signal),
      (response) => this.refusal(response, account, signal),
    );
  }

  async #turnOf(account: UpstreamAccount, response: Response, sessionId: string): Promise<UpstreamTurn> {
    const context = { secret: account.token, newId: this.options.newId };
    // Some backends answer whole whatever they are asked for.
    if (mediaTypeOf(response) === "application/json" && response.body !== null) {
      return { sessionId, body: response.body, decoder: wholeCompletionDecoder(context) };
    }
    const body = await eventStreamOf(response, STREAM_TYPES);
    return { sessionId, body, decoder: new CompletionStreamDecoder(context) };
  }
}
