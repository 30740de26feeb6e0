import type { Conversation } from "../../conversation/conversation.ts";
import { withoutTrailingSlashes } from "../../encoding/path-segment.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import { type AnswerReader, KeyedBackend, type RequestSettings } from "../keyed-backend.ts";
import type { PrepareOptions, UpstreamAccount } from "../provider.ts";
import { replayed } from "../replay.ts";
import { ThoughtMemory } from "../thought-memory.ts";
import { type AnswerContext, MessageStreamDecoder, messageEvents } from "./decoder.ts";
import { REFUSALS } from "./errors.ts";
import type { Thoughts } from "./messages.ts";
import { BUDGET, OPTIONAL_FIELDS } from "./optional-fields.ts";
import { OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest, WireThought } from "./wire.ts";

/** The protocol's version. Its service demands one; compatible servers pass over it. */
const VERSION = "2023-06-01";

/** Any backend that speaks the message style. */
export const anthropicDriver = {
  id: "anthropic",
  create: (options: ProviderOptions) => new AnthropicProvider(options),
  exchange: (path: string): ExchangeKind => {
    if (path.endsWith("/messages")) return { label: "completion", round: { session: null } };
    return { label: path.endsWith("/models") ? "models" : "other" };
  },
  replay: (contentType: string) =>
    replayed(contentType, (context) => ({
      streamed: () => new MessageStreamDecoder(context),
      whole: (message) => messageEvents(message, context),
    })),
} satisfies Driver;

/** The base address may be that of the service, or that of its version. */
function addressOf(baseUrl: string): string {
  return `${withoutTrailingSlashes(baseUrl).replace(/\/v1$/, "")}/v1`;
}

function lengthOf(thought: WireThought): number {
  return thought.type === "thinking"
    ? thought.thinking.length + thought.signature.length
    : thought.data.length;
}

/** A backend of the message style. */
class AnthropicProvider extends KeyedBackend<WireRequest> {
  readonly #memory = new ThoughtMemory(lengthOf);

  constructor(options: ProviderOptions) {
    super(options, {
      address: addressOf(options.baseUrl),
      path: "/messages",
      kinds: REFUSALS,
      optional: OPTIONAL_FIELDS,
      options: OPTIONS,
      // Arguments come as an object, which is one whether it is complete or not.
      tellsCutCalls: false,
    });
  }

  protected override headers(token: string) {
    return { "x-api-key": token, "anthropic-version": VERSION };
  }

  protected override writer(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
  ): RequestBuilder {
    return new RequestBuilder(conversation, options, settings, () => this.#thoughtsOf(settings.model));
  }

  protected override reader(account: UpstreamAccount, request: WireRequest): AnswerReader {
    const context = this.#contextOf(account, request);
    return {
      streamed: () => new MessageStreamDecoder(context),
      whole: (message) => messageEvents(message, context),
    };
  }

  #thoughtsOf(model: string): Thoughts {
    return {
      before: (callId) => this.#memory.of(model, callId),
      strict: !this.optionalOf(model).refuses(BUDGET),
    };
  }

  #contextOf(account: UpstreamAccount, { model, thinking }: WireRequest): AnswerContext {
    const context = { secret: account.token, newId: this.options.newId };
    // An answer without thinking is no beginning that a thinking model could go on from.
    if (thinking?.type !== "enabled") return context;
    return { ...context, remember: (callId, thoughts) => this.#memory.keep(model, callId, thoughts) };
  }
}
