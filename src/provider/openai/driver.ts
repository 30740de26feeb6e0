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
} from "../provider.ts";
import type { ErrorKinds } from "../refusal.ts";
import { readRecord } from "../transport.ts";
import { type AnswerContext, CompletionStreamDecoder, wholeCompletionDecoder } from "./decoder.ts";
import { embeddingsOf } from "./embeddings.ts";
import { OPTIONAL_FIELDS } from "./optional-fields.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** What is not found at a backend is the model (or the whole API): nothing that the caller asked for by address. */
const ERROR_KINDS: ErrorKinds = { statuses: { 404: "model_unavailable" } };

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
    return decoderOf(contentType, { secret: "", newId: () => `replayed-${++calls}` });
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
        const context = { secret: account.token, newId };
        return this.turn(response, followUp?.sessionId ?? newId(), (type) => decoderOf(type, context));
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
}

function decoderOf(mediaType: string, context: AnswerContext): TurnDecoder {
  return /\bjson\b/i.test(mediaType) ? wholeCompletionDecoder(context) : new CompletionStreamDecoder(context);
}
