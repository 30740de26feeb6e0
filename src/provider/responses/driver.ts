import type { Conversation } from "../../conversation/conversation.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import { embeddingsOf } from "../embeddings.ts";
import { type AnswerReader, KeyedBackend, type RequestSettings } from "../keyed-backend.ts";
import type { Embedding, PrepareOptions, TurnDecoder, UpstreamAccount } from "../provider.ts";
import { ThoughtMemory } from "../thought-memory.ts";
import { isWhole, readRecord } from "../transport.ts";
import { WholeAnswerDecoder } from "../whole-answer.ts";
import { type AnswerContext, ResponseStreamDecoder, responseEvents } from "./decoder.ts";
import { REFUSALS } from "./errors.ts";
import { OPTIONAL_FIELDS } from "./optional-fields.ts";
import { OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import { StoppingDecoder, stopped } from "./stop-sequences.ts";
import type { WireRequest, WireThought } from "./wire.ts";

/** Any backend that speaks the responses style. */
export const responses = {
  id: "responses",
  create: (options: ProviderOptions) => new ResponsesProvider(options),
  exchange: (path: string): ExchangeKind => {
    if (path.endsWith("/responses")) return { label: "completion", round: { session: null } };
    if (path.endsWith("/embeddings")) return { label: "embeddings" };
    return { label: path.endsWith("/models") ? "models" : "other" };
  },
  replay: (contentType: string): TurnDecoder => {
    let made = 0;
    const context = { secret: "", newId: () => `replayed-${++made}` };
    return isWhole(contentType)
      ? new WholeAnswerDecoder((response) => responseEvents(response, context))
      : new ResponseStreamDecoder(context);
  },
} satisfies Driver;

/** A backend of the responses style. It is asked to keep nothing: each request has the whole conversation. */
class ResponsesProvider extends KeyedBackend<WireRequest> {
  readonly #memory = new ThoughtMemory<WireThought>((thought) => JSON.stringify(thought).length);

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
      path: "/responses",
      kinds: REFUSALS,
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
    const thoughts = (callId: string) => this.#memory.of(settings.model, callId);
    return new RequestBuilder(conversation, options, settings, thoughts);
  }

  protected override reader(
    account: UpstreamAccount,
    { model }: WireRequest,
    { sampling }: Conversation,
  ): AnswerReader {
    const context: AnswerContext = {
      secret: account.token,
      newId: this.options.newId,
      remember: (callId, thoughts) => {
        if (thoughts.length > 0) this.#memory.keep(model, callId, thoughts);
      },
    };
    const stops = (sampling.stop ?? []).filter((stop) => stop !== "");
    const streamed = () => new ResponseStreamDecoder(context);
    return {
      streamed: () => (stops.length === 0 ? streamed() : new StoppingDecoder(streamed(), stops)),
      whole: (response) => {
        const events = responseEvents(response, context);
        return stops.length === 0 ? events : stopped(events, stops);
      },
    };
  }
}
