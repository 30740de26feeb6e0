import type { Conversation } from "../../../core/conversation/conversation.ts";
import { BearerBackend, classifyBearerExchange } from "../bearer-backend.ts";
import type { Driver, ProviderOptions } from "../driver.ts";
import type { ErrorKinds } from "../error-response.ts";
import type { AnswerReader, RequestSettings } from "../keyed-backend.ts";
import type { PrepareOptions, UpstreamAccount } from "../provider.ts";
import { createReplayDecoder } from "../replay-decoder.ts";
import { CompletionStreamDecoder, completionEvents } from "./decoder.ts";
import { OPTIONAL_FIELDS } from "./optional-fields.ts";
import { SUPPORTED_OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** A 404 of the backend concerns the model or the whole API, never something that the caller addressed. */
const ERROR_KINDS: ErrorKinds = { statuses: { 404: "model_unavailable" } };

/** The driver for any chat-completions backend. */
export const openaiDriver = {
  id: "openai",
  create: (options: ProviderOptions) => new OpenAiProvider(options),
  classifyExchange: (path: string) => classifyBearerExchange(path, "/chat/completions"),
  createCaptureDecoder: (contentType: string) =>
    createReplayDecoder(contentType, (context) => ({
      createStreamDecoder: () => new CompletionStreamDecoder(context),
      readWhole: (completion) => completionEvents(completion, context),
    })),
} satisfies Driver;

class OpenAiProvider extends BearerBackend<WireRequest> {
  constructor(options: ProviderOptions) {
    super(options, {
      path: "/chat/completions",
      kinds: ERROR_KINDS,
      optional: OPTIONAL_FIELDS,
      options: SUPPORTED_OPTIONS,
      detectsTruncatedCalls: true,
    });
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
      createStreamDecoder: () => new CompletionStreamDecoder(context),
      readWhole: (completion) => completionEvents(completion, context),
    };
  }
}
