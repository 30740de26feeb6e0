import type { Conversation } from "../../../core/conversation/conversation.ts";
import { withoutTrailingSlashes } from "../../../core/encoding/path-segment.ts";
import { ReasoningCache } from "../answers/reasoning-cache.ts";
import { KeyedBackend } from "../backends/keyed-backend.ts";
import type { AnswerReader, RequestSettings } from "../backends/keyed-protocol.ts";
import { DEFAULT_LISTING } from "../backends/model-list.ts";
import { createReplayDecoder } from "../backends/replay-decoder.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import type { FilesApi } from "../files/files-api.ts";
import { createLazyFiles } from "../files/lazy-files.ts";
import type { NativeProtocol } from "../native/native-request.ts";
import type { PrepareOptions } from "../provider.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import { namesFile } from "./attachments.ts";
import { type AnswerContext, decodeWholeMessage, MessageStreamDecoder } from "./decoder.ts";
import { ERROR_KINDS } from "./errors.ts";
import type { ThinkingHistory } from "./messages.ts";
import { SUPPORTED_OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import { getVertexPath, isVertexAddress, toVertexBody, VERTEX_NATIVE } from "./vertex.ts";
import type { WireRequest, WireThinkingBlock } from "./wire.ts";

/** The protocol's version. Its own service requires the header; compatible servers ignore it. */
const VERSION = "2023-06-01";

/** Messages that callers of the same style send as they are. */
const NATIVE: NativeProtocol = {
  dialect: "messages",
  hasModelInBody: true,
};

/** The beta with files. Its own service requires it for files, and in messages that name one. */
const FILES_BETA = { "anthropic-beta": "files-api-2025-04-14" } as const;

/** Driver for every backend with the message style. */
export const anthropicDriver = {
  id: "anthropic",
  create: (options: ProviderOptions) => new AnthropicProvider(options),
  classifyExchange: (path: string): ExchangeKind => {
    if (/\/messages$|:(?:stream)?rawPredict$/i.test(path))
      return { label: "completion", round: { session: null } };
    if (/\/files(?:\/[^/]+(?:\/content)?)?$/.test(path)) return { label: "file" };
    return { label: path.endsWith("/models") ? "models" : "other" };
  },
  createCaptureDecoder: (contentType: string) =>
    createReplayDecoder(contentType, (context) => ({
      createStreamDecoder: () => new MessageStreamDecoder(context),
      readWhole: (message) => decodeWholeMessage(message, context),
    })),
} satisfies Driver;

/** The base address may end with the version (`/v1`) or without it. On Vertex AI it names the publisher. */
function toEndpointUrl(baseUrl: string): string {
  if (isVertexAddress(baseUrl)) return withoutTrailingSlashes(baseUrl);
  return `${withoutTrailingSlashes(baseUrl).replace(/\/v1$/, "")}/v1`;
}

function countCharacters(thought: WireThinkingBlock): number {
  return thought.type === "thinking"
    ? thought.thinking.length + thought.signature.length
    : thought.data.length;
}

/** A backend with the message style. */
class AnthropicProvider extends KeyedBackend<WireRequest> {
  readonly #memory = new ReasoningCache(countCharacters);

  override readonly files: FilesApi;

  constructor(options: ProviderOptions) {
    const address = toEndpointUrl(options.baseUrl);
    const isVertex = isVertexAddress(address);
    super(options, {
      address,
      path: isVertex ? getVertexPath : "/messages",
      // Without a limit the list has 20 models.
      listing: { ...DEFAULT_LISTING, path: "/models?limit=1000" },
      ...(isVertex ? { body: toVertexBody } : {}),
      requestHeaders: (request) => (namesFile(request) ? FILES_BETA : {}),
      kinds: ERROR_KINDS,
      loadRewrites: async () => (await import("../field-rule-modules.ts")).ANTHROPIC_REWRITES,
      options: SUPPORTED_OPTIONS,
      // A whole answer has arguments as an object, which is valid even if the call was cut off.
      detectsTruncatedCalls: false,
      native: isVertex ? { ...NATIVE, ...VERTEX_NATIVE } : NATIVE,
    });
    this.files = createLazyFiles(async () => {
      const { createAnthropicFiles } = await import("../file-modules.ts");
      return createAnthropicFiles(
        address,
        (account) => ({ ...this.headers(account), ...FILES_BETA }),
        options.newId,
      );
    });
  }

  protected override keyHeaders(token: string) {
    return { "x-api-key": token };
  }

  protected override protocolHeaders() {
    return { "anthropic-version": VERSION };
  }

  protected override createWriter(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
  ): RequestBuilder {
    return new RequestBuilder(conversation, options, settings, () => this.#thoughtsOf(settings.model));
  }

  protected override createReader(account: UpstreamAccount, request: WireRequest | null): AnswerReader {
    const context = this.#contextOf(account, request);
    return {
      createStreamDecoder: () => new MessageStreamDecoder(context),
      readWhole: (message) => decodeWholeMessage(message, context),
    };
  }

  #thoughtsOf(model: string): ThinkingHistory {
    return {
      blocksBefore: (callId) => this.#memory.get(model, callId),
      mustBeComplete: !this.fieldsOf(model).refuses("thinking.budget_tokens"),
    };
  }

  #contextOf(account: UpstreamAccount, request: WireRequest | null): AnswerContext {
    const context = { secret: account.token, newId: this.options.newId };
    // An answer without thinking is not remembered: a thinking model cannot continue from it.
    if (request?.thinking?.type !== "enabled") return context;
    return {
      ...context,
      rememberThinking: (callId, thoughts) => this.#memory.store(request.model, callId, thoughts),
    };
  }
}
