import type { Conversation } from "../../../core/conversation/conversation.ts";
import { BearerBackend, classifyBearerExchange } from "../backends/bearer-backend.ts";
import type { AnswerReader, RequestSettings } from "../backends/keyed-protocol.ts";
import { createReplayDecoder } from "../backends/replay-decoder.ts";
import type { Driver, ProviderOptions } from "../driver.ts";
import type { ErrorKinds } from "../errors/error-response.ts";
import type { NativeProtocol } from "../native/native-request.ts";
import type { PrepareOptions } from "../provider.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import { CompletionStreamDecoder, completionEvents } from "./decoder.ts";
import { SUPPORTED_OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** A 404 of the backend concerns the model or the whole API, never something that the caller addressed. */
const ERROR_KINDS: ErrorKinds = { statuses: { 404: "model_unavailable" } };

/** Chat completions that callers of the same style send as they are. */
const NATIVE: NativeProtocol = {
  dialect: "chat-completions",
  hasModelInBody: true,
  optionalPaths: { completions: "/completions" },
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
      loadRewrites: async () => (await import("../field-rule-modules.ts")).OPENAI_REWRITES,
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
    return new RequestBuilder(conversation, options, settings);
  }

  protected override createReader(account: UpstreamAccount, request: WireRequest | null): AnswerReader {
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
