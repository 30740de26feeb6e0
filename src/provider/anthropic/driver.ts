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

/** The protocol's version. Its own service requires the header; compatible servers ignore it. */
const VERSION = "2023-06-01";

/** Driver for every backend with the message style. */
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

/** The base address may end with the version (`/v1`) or without it. */
function addressOf(baseUrl: string): string {
  return `${withoutTrailingSlashes(baseUrl).replace(/\/v1$/, "")}/v1`;
}

function lengthOf(thought: WireThought): number {
  return thought.type === "thinking"
    ? thought.thinking.length + thought.signature.length
    : thought.data.length;
}

/** A backend with the message style. */
class AnthropicProvider extends KeyedBackend<WireRequest> {
  readonly #memory = new ThoughtMemory(lengthOf);

  constructor(options: ProviderOptions) {
    super(options, {
      address: addressOf(options.baseUrl),
      path: "/messages",
      kinds: REFUSALS,
      optional: OPTIONAL_FIELDS,
      options: OPTIONS,
      // A whole answer has arguments as an object, which is valid even if the call was cut off.
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
    // An answer without thinking is not remembered: a thinking model cannot continue from it.
    if (thinking?.type !== "enabled") return context;
    return { ...context, remember: (callId, thoughts) => this.#memory.keep(model, callId, thoughts) };
  }
}
