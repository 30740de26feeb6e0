import type { Conversation } from "../../conversation/conversation.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import { KeyedBackend } from "../keyed-backend.ts";
import { OptionalFields } from "../optional-fields.ts";
import type { FollowUp, PreparedTurn, PrepareOptions, TurnDecoder, UpstreamAccount } from "../provider.ts";
import { type AnswerContext, MessageStreamDecoder, wholeMessageDecoder } from "./decoder.ts";
import { REFUSALS } from "./errors.ts";
import type { Thoughts } from "./messages.ts";
import { BUDGET, OPTIONAL_FIELDS } from "./optional-fields.ts";
import { RequestBuilder } from "./request.ts";
import { ThoughtMemory } from "./thought-memory.ts";
import type { WireRequest } from "./wire.ts";

/** The protocol's version. Its service demands one; compatible servers pass over it. */
const VERSION = "2023-06-01";

/** Any backend that speaks the message style. */
export const messages = {
  id: "messages",
  create: (options: ProviderOptions) => new MessagesProvider(options),
  exchange: (path: string): ExchangeKind => {
    if (path.endsWith("/messages")) return { label: "completion", round: { session: null } };
    return { label: path.endsWith("/models") ? "models" : "other" };
  },
  replay: (contentType: string): TurnDecoder => {
    let made = 0;
    return decoderOf(contentType, { secret: "", newId: () => `replayed-${++made}` });
  },
} satisfies Driver;

/** The base address may be that of the service, or that of its version. */
function addressOf(baseUrl: string): string {
  return `${baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

/**
 * A backend of the message style. A session is an id that the driver makes up, and a follow-up turn replays the
 * conversation with the suffix.
 */
class MessagesProvider extends KeyedBackend {
  readonly #memory = new ThoughtMemory();
  /** By the backend's name for a model: what a model knows depends on its generation. */
  readonly #optional = new Map<string, OptionalFields<WireRequest>>();

  constructor(options: ProviderOptions) {
    super(options, addressOf(options.baseUrl), REFUSALS);
  }

  protected override headers(token: string) {
    return { "x-api-key": token, "anthropic-version": VERSION };
  }

  override prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn {
    const { toolCalls, newId } = this.options;
    const model = this.modelName(conversation.model.id);
    const builder = new RequestBuilder(conversation, options, { model, toolCalls });
    return {
      promptText: builder.promptText,
      load: (signal: AbortSignal) => builder.load(signal),
      open: async (account: UpstreamAccount, signal: AbortSignal, followUp: FollowUp | null) => {
        const request = await builder.build(followUp?.suffix ?? "", this.#thoughtsOf(model), signal);
        const response = await this.#complete(account, request, signal);
        const context = this.#contextOf(account, request);
        return this.turn(response, followUp?.sessionId ?? newId(), (type) => decoderOf(type, context));
      },
    };
  }

  #complete(account: UpstreamAccount, request: WireRequest, signal: AbortSignal): Promise<Response> {
    const accept = "text/event-stream, application/json";
    return this.#optionalOf(request.model).send(
      request,
      (trimmed) => this.post(account, "/messages", trimmed, accept, signal),
      (response) => this.refusal(response, account, signal),
    );
  }

  #thoughtsOf(model: string): Thoughts {
    return {
      before: (callId) => this.#memory.of(model, callId),
      strict: !this.#optionalOf(model).refuses(BUDGET),
    };
  }

  #optionalOf(model: string): OptionalFields<WireRequest> {
    const known = this.#optional.get(model) ?? new OptionalFields(OPTIONAL_FIELDS);
    this.#optional.set(model, known);
    return known;
  }

  #contextOf(account: UpstreamAccount, { model, thinking }: WireRequest): AnswerContext {
    const context = { secret: account.token, newId: this.options.newId };
    // An answer without thinking is no beginning that a thinking model could go on from.
    if (thinking?.type !== "enabled") return context;
    return { ...context, remember: (callId, thoughts) => this.#memory.keep(model, callId, thoughts) };
  }
}

function decoderOf(mediaType: string, context: AnswerContext): TurnDecoder {
  return /\bjson\b/i.test(mediaType) ? wholeMessageDecoder(context) : new MessageStreamDecoder(context);
}
