import type { Conversation } from "../../conversation/conversation.ts";
import { BearerBackend, bearerExchange } from "../bearer-backend.ts";
import type { Driver, ProviderOptions } from "../driver.ts";
import type { AnswerReader, RequestSettings } from "../keyed-backend.ts";
import type { PrepareOptions, UpstreamAccount } from "../provider.ts";
import { replayed } from "../replay.ts";
import { ThoughtMemory } from "../thought-memory.ts";
import { type AnswerContext, ResponseStreamDecoder, responseEvents } from "./decoder.ts";
import { REFUSALS } from "./errors.ts";
import { OPTIONAL_FIELDS } from "./optional-fields.ts";
import { OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import { StoppingDecoder, stopped } from "./stop-sequences.ts";
import type { WireRequest, WireThought } from "./wire.ts";

/** Driver for every backend with the responses style. */
export const openaiResponsesDriver = {
  id: "openai-responses",
  create: (options: ProviderOptions) => new OpenAiResponsesProvider(options),
  exchange: (path: string) => bearerExchange(path, "/responses"),
  replay: (contentType: string) =>
    replayed(contentType, (context) => ({
      streamed: () => new ResponseStreamDecoder(context),
      whole: (response) => responseEvents(response, context),
    })),
} satisfies Driver;

/**
 * A backend with the responses style. Each request contains the whole conversation and asks the backend to store
 * nothing.
 */
class OpenAiResponsesProvider extends BearerBackend<WireRequest> {
  readonly #memory = new ThoughtMemory<WireThought>((thought) => JSON.stringify(thought).length);

  constructor(options: ProviderOptions) {
    super(options, {
      path: "/responses",
      kinds: REFUSALS,
      optional: OPTIONAL_FIELDS,
      options: OPTIONS,
      tellsCutCalls: true,
    });
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
