import type { Conversation } from "../../../core/conversation/conversation.ts";
import { ReasoningCache } from "../answers/reasoning-cache.ts";
import { BearerBackend, classifyBearerExchange } from "../backends/bearer-backend.ts";
import type { AnswerReader, RequestSettings } from "../backends/keyed-protocol.ts";
import { createReplayDecoder } from "../backends/replay-decoder.ts";
import type { Driver, ProviderOptions } from "../driver.ts";
import type { NativeProtocol } from "../native/native-request.ts";
import type { PrepareOptions } from "../provider.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import { type AnswerContext, decodeWholeResponse, ResponseStreamDecoder } from "./decoder.ts";
import { ERROR_KINDS } from "./errors.ts";
import { SUPPORTED_OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import { cutAtStopSequence, StoppingDecoder } from "./stop-sequences.ts";
import type { WireReasoningItem, WireRequest } from "./wire.ts";

/** Requests for responses that callers of the same style send as they are. */
const NATIVE: NativeProtocol = {
  dialect: "responses",
  hasModelInBody: true,
};

/** Driver for every backend with the responses style. */
export const openaiResponsesDriver = {
  id: "openai-responses",
  create: (options: ProviderOptions) => new OpenAiResponsesProvider(options),
  classifyExchange: (path: string) => classifyBearerExchange(path, "/responses"),
  createCaptureDecoder: (contentType: string) =>
    createReplayDecoder(contentType, (context) => ({
      createStreamDecoder: () => new ResponseStreamDecoder(context),
      readWhole: (response) => decodeWholeResponse(response, context),
    })),
} satisfies Driver;

/**
 * A backend with the responses style. Each request contains the whole conversation and asks the backend to store
 * nothing.
 */
class OpenAiResponsesProvider extends BearerBackend<WireRequest> {
  readonly #memory = new ReasoningCache<WireReasoningItem>((thought) => JSON.stringify(thought).length);

  constructor(options: ProviderOptions) {
    super(options, {
      path: "/responses",
      kinds: ERROR_KINDS,
      loadRewrites: async () => (await import("../field-rule-modules.ts")).OPENAI_RESPONSES_REWRITES,
      options: SUPPORTED_OPTIONS,
      detectsTruncatedCalls: true,
      native: NATIVE,
    });
  }

  protected override createWriter(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
  ): RequestBuilder {
    const thoughts = (callId: string) => this.#memory.get(settings.model, callId);
    return new RequestBuilder(conversation, options, settings, thoughts);
  }

  protected override createReader(
    account: UpstreamAccount,
    request: WireRequest | null,
    { options }: Conversation,
  ): AnswerReader {
    const context: AnswerContext = {
      secret: account.token,
      newId: this.options.newId,
      rememberReasoning: (callId, thoughts) => {
        if (request !== null && thoughts.length > 0) this.#memory.store(request.model, callId, thoughts);
      },
    };
    const stops = (request === null ? [] : (options.stop ?? [])).filter((stop) => stop !== "");
    const streamed = () => new ResponseStreamDecoder(context);
    return {
      createStreamDecoder: () => (stops.length === 0 ? streamed() : new StoppingDecoder(streamed(), stops)),
      readWhole: (response) => {
        const events = decodeWholeResponse(response, context);
        return stops.length === 0 ? events : cutAtStopSequence(events, stops);
      },
    };
  }
}
