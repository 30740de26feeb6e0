import type { Conversation } from "../../../core/conversation/conversation.ts";
import { BearerBackend, classifyBearerExchange } from "../bearer-backend.ts";
import type { Driver, ProviderOptions } from "../driver.ts";
import type { ErrorKinds } from "../error-response.ts";
import type { AnswerReader, RequestSettings } from "../keyed-backend.ts";
import type { NativeProtocol } from "../native-request.ts";
import type { PrepareOptions, UpstreamAccount } from "../provider.ts";
import { createReplayDecoder } from "../replay-decoder.ts";
import { CompletionStreamDecoder, completionEvents } from "./decoder.ts";
import { OPTIONAL_FIELDS } from "./optional-fields.ts";
import { SUPPORTED_OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** A 404 of the backend concerns the model or the whole API, never something that the caller addressed. */
const ERROR_KINDS: ErrorKinds = { statuses: { 404: "model_unavailable" } };

/** Chat completions that callers of the same style send as they are. */
const NATIVE: NativeProtocol = {
  dialect: "chat-completions",
  hasModelInBody: true,
  optionalMembers: [
    ...[
      "temperature",
      "top_p",
      "top_k",
      "min_p",
      "presence_penalty",
      "frequency_penalty",
      "repetition_penalty",
    ],
    ...[
      "logit_bias",
      "seed",
      "verbosity",
      "user",
      "prompt_cache_key",
      "prompt_cache_retention",
      "metadata",
      "store",
    ],
    ...["service_tier", "safety_identifier", "prediction", "web_search_options", "stream_options"],
    ...["parallel_tool_calls", "chat_template_kwargs"],
  ],
  // Newer models of some vendors accept only the new name of this limit.
  renamedMembers: [
    { name: "max_tokens", newName: "max_completion_tokens", refusalPattern: /max_completion_tokens/ },
  ],
};

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
      native: NATIVE,
    });
  }

  protected override writer(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
  ): RequestBuilder {
    return new RequestBuilder(conversation, options, settings);
  }

  protected override reader(account: UpstreamAccount, request: WireRequest | null): AnswerReader {
    const context = {
      secret: account.token,
      newId: this.options.newId,
      keepsThinkTags: request === null,
    };
    return {
      createStreamDecoder: () => new CompletionStreamDecoder(context),
      readWhole: (completion) => completionEvents(completion, context),
    };
  }
}
