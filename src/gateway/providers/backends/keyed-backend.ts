import { type Conversation, hasAttachments } from "../../../core/conversation/conversation.ts";
import { hasUpstreamName, type ResolvedModel } from "../../../core/conversation/model.ts";
import { toPlainText } from "../../../core/conversation/plain-text.ts";
import { isObject } from "../../../core/encoding/json.ts";
import type { Credentials, SignInResult } from "../../../core/ports/accounts.ts";
import type { FollowUp, PreparedTurn } from "../answers/upstream-turn.ts";
import type { ProviderOptions } from "../driver.ts";
import { readErrorResponse, type UpstreamErrorResponse } from "../errors/error-response.ts";
import { isMissingModelError } from "../errors/missing-model.ts";
import type { FilesApi } from "../files/files-api.ts";
import { toRecord } from "../json.ts";
import type { NativePath, NativeRequest } from "../native/native-path.ts";
import { type NativeWire, withModelName } from "../native/native-request.ts";
import type {
  ModelListing,
  PrepareOptions,
  Provider,
  ProviderAccount,
  ProviderCapabilities,
} from "../provider.ts";
import type { FieldRule } from "../refused-fields/field-rules.ts";
import {
  type RefusedFieldMemory,
  RefusedFields,
  type SentRequest,
} from "../refused-fields/refused-field-memory.ts";
import { DropParams } from "../requests/drop-params.ts";
import { readJson, send } from "../transport.ts";
import { mayRepeatCall, type UpstreamAccount } from "../upstream-account.ts";
import { BackendModelNames } from "./backend-model-names.ts";
import type { AnswerReader, KeyedProtocol, RequestSettings, RequestWriter } from "./keyed-protocol.ts";
import { MissingEndpoints } from "./missing-endpoints.ts";
import { DEFAULT_LISTING } from "./model-list.ts";
import { openTurn } from "./open-turn.ts";

/**
 * A backend that authenticates with an API key, without accounts and sessions. It may store files. An account's token is
 * the key, and the model list is at a path below the base URL. Session ids are made up. A follow-up turn resends the
 * conversation with the suffix.
 */
export abstract class KeyedBackend<Wire extends { readonly model: string }> implements Provider {
  readonly capabilities: ProviderCapabilities;
  protected readonly options: ProviderOptions;
  readonly #protocol: KeyedProtocol<Wire>;
  readonly #refusedTranslatedFields = new RefusedFields<Wire>();
  readonly #refusedNativeFields = new RefusedFields<NativeWire>();
  readonly #dropParams: DropParams;
  readonly native: NativePath | undefined;
  readonly #missingEndpoints = new MissingEndpoints();
  readonly #names = new BackendModelNames();
  readonly models: ModelListing = {
    list: async (account, signal) => {
      const { path, read } = this.#protocol.listing ?? DEFAULT_LISTING;
      const response = await this.#get(account, path, signal);
      if (!response.ok) throw (await this.readError(response, account, signal)).error;
      const answer = await readJson(response, signal);
      // Some backends of OpenAI's protocol send the bare list.
      return read(Array.isArray(answer) ? { data: answer } : toRecord(answer));
    },
  };

  constructor(options: ProviderOptions, protocol: KeyedProtocol<Wire>) {
    this.options = options;
    this.#protocol = protocol;
    this.#dropParams = new DropParams(options.dropParams ?? []);
    const search = { models: new Set(Object.keys(options.models)) };
    this.capabilities = { images: "backend", options: protocol.options, search };
    const { native } = protocol;
    if (options.native === false) return;
    this.native = {
      speaks: (dialect) => dialect === native.dialect || native.optionalPaths?.[dialect] !== undefined,
      accepts: ({ dialect, tools, stream, model }) =>
        (options.toolCalls === "native" || tools.length === 0) &&
        (stream || options.wholeAnswers) &&
        !this.#missingEndpoints.has(dialect, this.getBackendName(model)),
      prepare: (request, conversation, translate) => {
        const turn = this.#prepareNative(request, conversation);
        if (request.dialect === native.dialect) return turn;
        const model = this.getBackendName(conversation.model);
        return this.#missingEndpoints.withFallback(turn, request.dialect, model, translate);
      },
    };
  }

  abstract readonly files: FilesApi;

  /** The header that carries an API key. */
  protected abstract keyHeaders(token: string): Readonly<Record<string, string>>;

  /** Further headers of every request. */
  protected protocolHeaders(): Readonly<Record<string, string>> {
    return {};
  }

  /** The headers of every request of an account. */
  protected headers(account: UpstreamAccount): Readonly<Record<string, string>> {
    return { ...this.protocolHeaders(), ...this.#credentialHeaders(account) };
  }

  #credentialHeaders({ token, tokenType }: UpstreamAccount): Readonly<Record<string, string>> {
    if (tokenType === "access_token") return { authorization: `Bearer ${token}` };
    if (tokenType === "aws_keys") return {};
    const { keyHeader = "" } = this.options;
    if (keyHeader === "") return this.keyHeaders(token);
    return { [keyHeader]: /^authorization$/i.test(keyHeader) ? `Bearer ${token}` : token };
  }

  /** Throws a `GatewayError` 400 for an attachment that cannot be sent. */
  protected abstract createWriter(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
  ): RequestWriter<Wire>;

  /** Creates the reader of the answer to one request. A native request (null) has the caller's own reasoning state. */
  protected abstract createReader(
    account: UpstreamAccount,
    request: Wire | null,
    conversation: Conversation,
  ): AnswerReader;

  prepare(requested: Conversation, options: PrepareOptions): PreparedTurn {
    const conversation = capOutputTokens(requested);
    const { toolCalls, newId, wholeAnswers } = this.options;
    const calls = toolCalls === "native" && conversation.tools.length > 0;
    const isWhole = wholeAnswers && !conversation.stream && (this.#protocol.detectsTruncatedCalls || !calls);
    const { model } = conversation;
    const settings = { model: this.getBackendName(model), toolCalls, whole: isWhole };
    const writer = this.createWriter(conversation, options, settings);
    return {
      promptText: writer.promptText,
      whole: isWhole,
      load: (signal: AbortSignal) => writer.load(signal),
      open: async (account: UpstreamAccount, signal: AbortSignal, followUp: FollowUp | null) => {
        const dropped: string[] = [];
        const builtRequest = this.#dropParams.removeFrom(
          await writer.build(followUp?.suffix ?? "", signal),
          dropped,
        );
        const post = (named: Wire) => this.#postGeneration(account, named, isWhole, signal);
        const sendTurn = () => this.#withNameFallback(account, builtRequest, model, post, signal);
        const { request, sent } = await sendTurn().catch(async (error: unknown) => {
          if (!hasAttachments(conversation)) throw error;
          const { recoverFromFileRejection } = await import("../file-modules.ts");
          await recoverFromFileRejection(
            error,
            conversation,
            this.files,
            account,
            signal,
            this.options.sleep,
          );
          if (!mayRepeatCall(account, "file", error)) throw error;
          return sendTurn();
        });
        const reader = this.createReader(account, request, conversation);
        const turn = await openTurn(sent.response, followUp?.sessionId ?? newId(), reader, signal);
        return { ...turn, dropped: [...dropped, ...sent.dropped] };
      },
    };
  }

  /** Prepares a request that is sent as the caller wrote it, but for the model's name and refused optional members. */
  #prepareNative(request: NativeRequest, conversation: Conversation): PreparedTurn {
    const { model } = conversation;
    const { stream } = request;
    const configured: string[] = [];
    const text = this.#dropParams.removeFromText(request.text, configured);
    const wire = { model: this.getBackendName(model), stream, text };
    return {
      // Not the body: an image in it is no text, and would count many times what the model reads.
      promptText: toPlainText(conversation),
      whole: !stream,
      open: async (account, signal) => {
        const post = (named: NativeWire) =>
          this.#refusedNativeFields.of(named.model).send(named, {
            loadRules: async () => (await import("../field-rule-modules.ts")).NATIVE_RULES,
            send: (trimmed) => this.#postNative(account, trimmed, request, signal),
            read: (response) => this.readError(response, account, signal, true),
            mayRepeat: (rejection) => mayRepeatCall(account, "refused_field", rejection),
            toBody: (sent) => JSON.parse(sent.text),
          });
        const { sent } = await this.#withNameFallback(account, wire, model, post, signal);
        const { response } = sent;
        const reader = this.createReader(account, null, conversation);
        const turn = await openTurn(response, this.options.newId(), reader, signal);
        return {
          ...turn,
          dropped: [...configured, ...sent.dropped],
          native: { headers: response.headers },
        };
      },
    };
  }

  #postNative(
    account: UpstreamAccount,
    wire: NativeWire,
    { dialect, headers, query }: NativeRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const { address, native } = this.#protocol;
    const ownPath = typeof this.#protocol.path === "string" ? this.#protocol.path : this.#protocol.path(wire);
    const path = native.optionalPaths?.[dialect] ?? ownPath;
    const separator = path.includes("?") ? "&" : "?";
    const init = {
      method: "POST",
      headers: {
        ...this.protocolHeaders(),
        "content-type": "application/json",
        ...headers,
        ...this.#credentialHeaders(account),
      },
      body: native.createBody?.(wire) ?? (native.hasModelInBody ? withModelName(wire) : wire.text),
    };
    return send(account.fetch, address + path + (query === "" ? "" : separator + query), init, signal);
  }

  async signIn(credentials: Credentials): Promise<SignInResult> {
    return { token: credentials.token === "" ? this.options.token : credentials.token, expiresAt: 0 };
  }

  /** Checks the key by listing the models, which costs nothing and requires the key where the backend requires one. */
  async checkAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount> {
    const response = await this.#get(account, DEFAULT_LISTING.path, signal);
    // Not every backend lists its models. A missing list does not mean that the key is invalid.
    if (response.ok || response.status === 404 || response.status === 405) await response.body?.cancel();
    else throw (await this.readError(response, account, signal)).error;
    return { id: "", sessionCount: 0 };
  }

  /** Returns the configured backend name for a canonical model, else the id itself. */
  protected modelName(id: string): string {
    const { models } = this.options;
    return Object.hasOwn(models, id) ? (models[id] ?? id) : id;
  }

  protected post(
    account: UpstreamAccount,
    path: string,
    body: unknown,
    accept: string,
    signal: AbortSignal,
    furtherHeaders: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const ownHeaders = { "content-type": "application/json", accept };
    const headers = { ...this.headers(account), ...furtherHeaders, ...ownHeaders };
    const sent = isObject(body) ? this.#dropParams.removeFrom(body) : body;
    const init = { method: "POST", headers, body: JSON.stringify(sent) };
    return send(account.fetch, this.#protocol.address + path, init, signal);
  }

  /** The fields that a model is known to refuse. `model` is the backend's name for it. */
  protected fieldsOf(model: string): RefusedFieldMemory<Wire> {
    return this.#refusedTranslatedFields.of(model);
  }

  async #loadRules(): Promise<readonly FieldRule<Wire>[]> {
    const { TRANSLATED_RULES } = await import("../field-rule-modules.ts");
    return [...TRANSLATED_RULES, ...(await this.#protocol.loadRewrites())];
  }

  /** The text of a JSON body without the members that the provider never gets. */
  protected withoutDropParams(text: string): string {
    return this.#dropParams.removeFromText(text);
  }

  /** Returns the backend's name for a model, as far as it is known. */
  protected getBackendName(model: ResolvedModel): string {
    const { id, upstream, requested } = model;
    if (hasUpstreamName(model)) return upstream;
    return this.#isMapped(id) ? this.modelName(id) : this.#names.resolveName(id, requested);
  }

  #isMapped(id: string): boolean {
    return Object.hasOwn(this.options.models, id);
  }

  /**
   * Sends the request. If the backend does not have an unmapped model, sends it once more with a name that the
   * backend lists.
   */
  async #withNameFallback<Request extends { readonly model: string }>(
    account: UpstreamAccount,
    request: Request,
    model: ResolvedModel,
    post: (request: Request) => Promise<SentRequest>,
    signal: AbortSignal,
  ): Promise<{ readonly request: Request; readonly sent: SentRequest }> {
    try {
      return { request, sent: await post(request) };
    } catch (error) {
      // A caller who names the provider of a model means exactly that model. Other providers of a route may follow.
      if (!isMissingModelError(error) || model.provider !== undefined) throw error;
      await this.#names.refresh(
        async () => (await this.models.list(account, signal)).map(({ name }) => name),
        Date.now(),
      );
      signal.throwIfAborted();
      if (this.#isMapped(model.id) && !hasUpstreamName(model)) {
        const mapping = `PROVIDER_MODELS maps ${model.id} to ${request.model}`;
        throw this.#names.withAvailableModels(error, mapping);
      }
      const named = { ...request, model: this.getBackendName(model) };
      const isKnown = named.model !== request.model;
      if (!isKnown || !mayRepeatCall(account, "model_name", error))
        throw this.#names.withAvailableModels(error);
      return { request: named, sent: await post(named) };
    }
  }

  #postGeneration(
    account: UpstreamAccount,
    request: Wire,
    isWhole: boolean,
    signal: AbortSignal,
  ): Promise<SentRequest> {
    const accept = isWhole ? "application/json" : "text/event-stream, application/json";
    const { path, body = identity, requestHeaders } = this.#protocol;
    const requestPath = typeof path === "string" ? path : path(request);
    return this.fieldsOf(request.model).send(request, {
      loadRules: () => this.#loadRules(),
      send: (trimmed) =>
        this.post(account, requestPath, body(trimmed), accept, signal, requestHeaders?.(trimmed)),
      read: (response) => this.readError(response, account, signal),
      mayRepeat: (rejection) => mayRepeatCall(account, "refused_field", rejection),
      toBody: (sent) => sent,
    });
  }

  /** Reads an error response. */
  protected readError(
    response: Response,
    account: UpstreamAccount,
    signal: AbortSignal,
    isVerbatim = false,
  ): Promise<UpstreamErrorResponse> {
    const { kinds } = this.#protocol;
    return readErrorResponse(response, account.token, signal, isVerbatim ? { ...kinds, isVerbatim } : kinds);
  }

  #get(account: UpstreamAccount, path: string, signal: AbortSignal): Promise<Response> {
    const init = { headers: this.headers(account) };
    return send(account.fetch, this.#protocol.address + path, init, signal);
  }
}

/** Limits the requested tokens to the model's known output limit, because backends refuse more. */
function capOutputTokens(conversation: Conversation): Conversation {
  const { model, options, expectedTokens } = conversation;
  const { output } = model;
  if (output === undefined) return conversation;
  const { maxTokens } = options;
  return {
    ...conversation,
    ...(expectedTokens === undefined ? {} : { expectedTokens: Math.min(expectedTokens, output) }),
    ...(maxTokens === undefined ? {} : { options: { ...options, maxTokens: Math.min(maxTokens, output) } }),
  };
}

const identity = (request: unknown) => request;
