import type { Conversation } from "../../conversation/conversation.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import { embeddingsOf } from "../embeddings.ts";
import { type AnswerReader, KeyedBackend, type RequestSettings } from "../keyed-backend.ts";
import type { Embedding, PrepareOptions, TurnDecoder, UpstreamAccount } from "../provider.ts";
import type { ErrorKinds } from "../refusal.ts";
import { isWhole, readRecord } from "../transport.ts";
import { WholeAnswerDecoder } from "../whole-answer.ts";
import { CompletionStreamDecoder, completionEvents } from "./decoder.ts";
import { OPTIONAL_FIELDS } from "./optional-fields.ts";
import { OPTIONS } from "./options.ts";
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
    const context = { secret: "", newId: () => `replayed-${++calls}` };
    return isWhole(contentType)
      ? new WholeAnswerDecoder((completion) => completionEvents(completion, context))
      : new CompletionStreamDecoder(context);
  },
} satisfies Driver;

/** A chat-completions backend. */
class OpenAiProvider extends KeyedBackend<WireRequest> {
  readonly embeddings: Embedding = {
    embed: async (account, { model, ...wishes }, signal) => {
      const body = { model: this.modelName(model), ...wishes, encoding_format: "float" };
      const response = await this.post(account, "/embeddings", body, "application/json", signal);
      if (!response.ok) throw (await this.refusal(response, account, signal)).error;
      return embeddingsOf(await readRecord(response, signal), wishes.input.length);
    },
  };

  constructor(options: ProviderOptions) {
    super(options, {
      address: options.baseUrl.replace(/\/+$/, ""),
      path: "/chat/completions",
      kinds: ERROR_KINDS,
      optional: OPTIONAL_FIELDS,
      options: OPTIONS,
      tellsCutCalls: true,
    });
  }

  protected override headers(token: string) {
    return { authorization: `Bearer ${token}` };
  }

  protected override writer(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
  ): RequestBuilder {
    return new RequestBuilder(conversation, options, settings);
  }

  protected override reader(account: UpstreamAccount): AnswerReader {
    const context = { secret: account.token, newId: this.options.newId };
    return {
      streamed: () => new CompletionStreamDecoder(context),
      whole: (completion) => completionEvents(completion, context),
    };
  }
}
