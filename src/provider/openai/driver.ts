import type { Conversation } from "../../conversation/conversation.ts";
import { BearerBackend, bearerExchange } from "../bearer-backend.ts";
import type { Driver, ProviderOptions } from "../driver.ts";
import type { AnswerReader, RequestSettings } from "../keyed-backend.ts";
import type { PrepareOptions, UpstreamAccount } from "../provider.ts";
import type { ErrorKinds } from "../refusal.ts";
import { replayed } from "../replay.ts";
import { CompletionStreamDecoder, completionEvents } from "./decoder.ts";
import { OPTIONAL_FIELDS } from "./optional-fields.ts";
import { OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** A 404 of the backend concerns the model or the whole API, never something that the caller addressed. */
const ERROR_KINDS: ErrorKinds = { statuses: { 404: "model_unavailable" } };

/** The driver for any chat-completions backend. */
export const openaiDriver = {
  id: "openai",
  create: (options: ProviderOptions) => new OpenAiProvider(options),
  exchange: (path: string) => bearerExchange(path, "/chat/completions"),
  replay: (contentType: string) =>
    replayed(contentType, (context) => ({
      streamed: () => new CompletionStreamDecoder(context),
      whole: (completion) => completionEvents(completion, context),
    })),
} satisfies Driver;

class OpenAiProvider extends BearerBackend<WireRequest> {
  constructor(options: ProviderOptions) {
    super(options, {
      path: "/chat/completions",
      kinds: ERROR_KINDS,
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
