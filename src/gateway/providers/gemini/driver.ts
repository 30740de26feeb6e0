import type { Conversation } from "../../../core/conversation/conversation.ts";
import type { ResolvedModel } from "../../../core/conversation/model.ts";
import { altersUrlPath, stripModelsPrefix } from "../../../core/conversation/model-path.ts";
import { withoutTrailingSlashes } from "../../../core/encoding/path-segment.ts";
import { ReasoningCache } from "../answers/reasoning-cache.ts";
import { KeyedBackend } from "../backends/keyed-backend.ts";
import type { AnswerReader, RequestSettings } from "../backends/keyed-protocol.ts";
import { readModels } from "../backends/model-list.ts";
import { createReplayDecoder } from "../backends/replay-decoder.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import { modelNotFound } from "../errors/model-not-found.ts";
import type { FilesApi } from "../files/files-api.ts";
import { createLazyFiles } from "../files/lazy-files.ts";
import type { NativeProtocol } from "../native/native-request.ts";
import type { PromptCaches } from "../passthrough/passthrough.ts";
import type { EmbeddingsApi, PrepareOptions } from "../provider.ts";
import { readRecord, send } from "../transport.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import { type AnswerContext, ContentStreamDecoder, decodeWholeAnswer } from "./decoder.ts";
import { buildEmbeddingRequests, createEmbeddingBody, readVectors } from "./embeddings.ts";
import { ERROR_KINDS } from "./errors.ts";
import { SUPPORTED_OPTIONS } from "./options.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** Requests for content that callers of the same style send as they are. */
const NATIVE: NativeProtocol = {
  dialect: "content-generation",
  hasModelInBody: false,
};

/** Driver for every backend with the content-generation style. */
export const geminiDriver = {
  id: "gemini",
  modelNamesInPaths: true,
  create: (options: ProviderOptions) => new GeminiProvider(options),
  classifyExchange: (path: string): ExchangeKind => {
    if (/:(?:generate|streamGenerate)Content$/.test(path)) {
      return { label: "completion", round: { session: null } };
    }
    if (/:(?:embedContent|batchEmbedContents)$/.test(path)) return { label: "embeddings" };
    if (/\/files(?:\/[^/]+)?$/.test(path)) return { label: "file" };
    if (/\/cachedContents(?:\/[^/]+)?$/.test(path)) return { label: "cache" };
    return { label: path.endsWith("/models") ? "models" : "other" };
  },
  createCaptureDecoder: (contentType: string) =>
    createReplayDecoder(contentType, (context) => ({
      createStreamDecoder: () => new ContentStreamDecoder(context),
      readWhole: (answer) => decodeWholeAnswer(answer, context),
    })),
} satisfies Driver;

/** The base address may be that of the service, or contain a version and a path after it. */
function toEndpointUrl(baseUrl: string): string {
  const base = withoutTrailingSlashes(baseUrl);
  return /\/v\d[a-z\d]*(?:\/|$)/.test(base.replace(/^\w+:\/\/[^/]*/, "")) ? base : `${base}/v1beta`;
}

/**
 * The path of a model: a plain name, or a resource of another kind, such as a tuned model.
 *
 * @throws GatewayError 400 for a name that would change the address.
 */
function toModelPath(model: string): string {
  if (altersUrlPath(model)) throw modelNotFound(model);
  const segments = model.includes("/") ? model.split("/") : ["models", model];
  return segments.map(encodeURIComponent).join("/");
}

/**
 * Rejects a name whose URL would be outside the path of the models. Also rejects `models/…` as a second name of a
 * model, because keys and prices know the model only by its plain name.
 *
 * @throws GatewayError 400
 */
function assertModelName({ id, provider, isUpstreamName }: ResolvedModel, name: string): void {
  toModelPath(name);
  const isCallersName = isUpstreamName === true || (provider === undefined && name === id);
  if (isCallersName && stripModelsPrefix(name) !== name) throw modelNotFound(id);
}

/** A backend with the content-generation style. */
class GeminiProvider extends KeyedBackend<WireRequest> {
  readonly #memory = new ReasoningCache<string>((signature) => signature.length);

  readonly embeddings: EmbeddingsApi = {
    protocol: "content-generation",
    embed: async (account, { model, ...query }, signal) => {
      const path = toModelPath(this.modelName(model));
      const { verb, requests } = "requests" in query ? query : buildEmbeddingRequests(query);
      const body = createEmbeddingBody(path, { verb, requests });
      const response = await this.post(account, `/${path}:${verb}`, body, "application/json", signal);
      if (!response.ok) throw (await this.readError(response, account, signal)).error;
      const answer = await readRecord(response, signal);
      return { ...readVectors(answer, requests.length), answer };
    },
  };

  readonly caches: PromptCaches = {
    send: async (account, { method, name, query, model, createBody }, signal) => {
      const body = createBody(model === null ? "" : toModelPath(this.getBackendName(model)));
      const path = name === "" ? "cachedContents" : name.split("/").map(encodeURIComponent).join("/");
      const address = `${toEndpointUrl(this.options.baseUrl)}/${path}${query === "" ? "" : `?${query}`}`;
      const type = body === null ? {} : { "content-type": "application/json" };
      const init = { method, headers: { ...this.headers(account), ...type }, body };
      const response = await send(account.fetch, address, init, signal);
      if (!response.ok) throw (await this.readError(response, account, signal, true)).error;
      return readRecord(response, signal);
    },
  };

  override readonly files: FilesApi;

  constructor(options: ProviderOptions) {
    const address = toEndpointUrl(options.baseUrl);
    super(options, {
      address,
      path: ({ model, stream }) =>
        `/${toModelPath(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      body: ({ model: _, stream: __, ...body }) => body,
      listing: {
        path: "/models?pageSize=1000",
        read: ({ models }) =>
          readModels(models, "name").map(({ name, entry }) => ({
            name: name.replace(/^models\//, ""),
            entry,
          })),
      },
      kinds: ERROR_KINDS,
      loadRewrites: async () => (await import("../field-rule-modules.ts")).GEMINI_REWRITES,
      options: SUPPORTED_OPTIONS,
      // Calls come whole, streamed or not.
      detectsTruncatedCalls: true,
      native: NATIVE,
    });
    this.files = createLazyFiles(async () => {
      const { createGeminiFiles } = await import("../file-modules.ts");
      return createGeminiFiles(address, (account) => this.headers(account), options.newId);
    });
  }

  protected override keyHeaders(token: string) {
    return { "x-goog-api-key": token };
  }

  protected override createWriter(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
  ): RequestBuilder {
    assertModelName(conversation.model, settings.model);
    const getSignature = (callId: string) => this.#memory.get(settings.model, callId)?.[0];
    const files = `${toEndpointUrl(this.options.baseUrl)}/files`;
    return new RequestBuilder(conversation, options, settings, getSignature, files);
  }

  protected override createReader(account: UpstreamAccount, request: WireRequest | null): AnswerReader {
    const context: AnswerContext = {
      secret: account.token,
      newId: this.options.newId,
      ...(request === null
        ? {}
        : {
            rememberSignature: (callId: string, signature: string) =>
              this.#memory.store(request.model, callId, [signature]),
          }),
    };
    return {
      createStreamDecoder: () => new ContentStreamDecoder(context),
      readWhole: (answer) => decodeWholeAnswer(answer, context),
    };
  }
}
