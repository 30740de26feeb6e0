import type { Conversation } from "../conversation/conversation.ts";
import type { ResolvedModel } from "../conversation/model.ts";
import { isObject, type JsonObject } from "../encoding/json.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { Credentials, SignedIn } from "../platform/accounts.ts";
import { BackendNames, lacksModel } from "./backend-names.ts";
import type { ProviderOptions } from "./driver.ts";
import { type OptionalField, OptionalFields } from "./optional-fields.ts";
import type {
  Abilities,
  FollowUp,
  ModelListing,
  PreparedTurn,
  PrepareOptions,
  Provider,
  ProviderAccount,
  ProviderEvent,
  TurnDecoder,
  UpstreamAccount,
  UpstreamTurn,
} from "./provider.ts";
import { type ErrorKinds, type ReadRefusal, readRefusal } from "./refusal.ts";
import { eventStreamOf, isWhole, mediaTypeOf, readAnswer, readRecord, send } from "./transport.ts";

/** What backends call their streams: clients of the public APIs do not look, so that some forget to say it. */
const STREAM_TYPES = ["text/event-stream", "text/plain"];

/** What a request needs besides the conversation. */
export interface RequestSettings {
  /** The backend's name for the model. */
  readonly model: string;
  readonly toolCalls: "native" | "markup";
  /** The answer is asked for in one piece: nobody waits for its parts. */
  readonly whole: boolean;
}

/** Reads the answer to one request. Both ways come to the same events. */
export interface AnswerReader {
  streamed(): TurnDecoder;
  /** Throws as a decoder does. */
  whole(answer: JsonObject): readonly ProviderEvent[];
}

/** Writes the requests that one conversation comes to. */
export interface RequestWriter<Wire> {
  /** Everything that the model reads, as one text. */
  readonly promptText: string;
  /** Fetches what is behind URLs. Throws a `GatewayError` 400 for what cannot be sent. */
  load(signal: AbortSignal): Promise<void>;
  /** The request, with the suffix of a follow-up turn (blank: none). */
  build(suffix: string, signal: AbortSignal): Promise<Wire>;
}

/** What a protocol of keyed backends is made of. */
export interface KeyedProtocol<Wire> {
  /** What its paths lie below. */
  readonly address: string;
  /** Where generations are asked for. */
  readonly path: string | ((request: Wire) => string);
  /** What is posted there; the request itself unless given. */
  readonly body?: (request: Wire) => unknown;
  /** Where all models are listed, and their names in what is answered; `/models`, and the `id` of each in `data`. */
  readonly listing?: { readonly path: string; readonly names: (body: JsonObject) => readonly string[] };
  /** What its refusals mean. */
  readonly kinds: ErrorKinds;
  readonly optional: readonly OptionalField<Wire>[];
  /** Which options of a request it has fields for. */
  readonly options: Abilities["options"];
  /** Whether an answer that came in one piece tells a call that was cut from a complete one. */
  readonly tellsCutCalls: boolean;
}

/**
 * A backend that is asked with an API key and keeps nothing: no accounts, no sessions, no files. A token is its key, and
 * below its address there is a list of models. A session is an id that is made up, and a follow-up turn replays the
 * conversation with the suffix.
 */
export abstract class KeyedBackend<Wire extends { readonly model: string }> implements Provider {
  readonly abilities: Abilities;
  protected readonly options: ProviderOptions;
  readonly #protocol: KeyedProtocol<Wire>;
  /** By the backend's name for a model: what a model knows depends on its generation. */
  readonly #optional = new Map<string, OptionalFields<Wire>>();
  readonly #names = new BackendNames();
  readonly models: ModelListing = {
    list: async (account, signal) => {
      const { path, names } = this.#protocol.listing ?? LISTING;
      const response = await this.#get(account, path, signal);
      if (!response.ok) throw (await this.refusal(response, account, signal)).error;
      return names(await readRecord(response, signal));
    },
  };

  constructor(options: ProviderOptions, protocol: KeyedProtocol<Wire>) {
    this.options = options;
    this.#protocol = protocol;
    const search = { models: new Set(Object.keys(options.models)) };
    this.abilities = { images: "backend", options: protocol.options, search };
  }

  /** The headers that carry a key, and whatever else every request has. */
  protected abstract headers(token: string): Readonly<Record<string, string>>;

  /** Throws a `GatewayError` 400 for an attachment that cannot be sent. */
  protected abstract writer(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
  ): RequestWriter<Wire>;

  protected abstract reader(
    account: UpstreamAccount,
    request: Wire,
    conversation: Conversation,
  ): AnswerReader;

  prepare(asked: Conversation, options: PrepareOptions): PreparedTurn {
    const conversation = withinOutput(asked);
    const { toolCalls, newId, wholeAnswers } = this.options;
    const calls = toolCalls === "native" && conversation.tools.length > 0;
    const whole = wholeAnswers && !conversation.stream && (this.#protocol.tellsCutCalls || !calls);
    const { model } = conversation;
    const settings = { model: this.#nameOf(model), toolCalls, whole };
    const writer = this.writer(conversation, options, settings);
    return {
      promptText: writer.promptText,
      whole,
      load: (signal: AbortSignal) => writer.load(signal),
      open: async (account: UpstreamAccount, signal: AbortSignal, followUp: FollowUp | null) => {
        const built = await writer.build(followUp?.suffix ?? "", signal);
        const { request, response } = await this.#ask(account, built, model, whole, signal);
        const reader = this.reader(account, request, conversation);
        return turnOf(response, followUp?.sessionId ?? newId(), reader, signal);
      },
    };
  }

  async signIn(credentials: Credentials): Promise<SignedIn> {
    return { token: credentials.token === "" ? this.options.token : credentials.token, expiresAt: 0 };
  }

  /** Lists the models, which costs nothing and needs a key where one is needed. */
  async describeAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount> {
    const response = await this.#get(account, LISTING.path, signal);
    // Not every backend lists its models; that says nothing against the key.
    if (response.ok || response.status === 404 || response.status === 405) await response.body?.cancel();
    else throw (await this.refusal(response, account, signal)).error;
    return { id: "", sessionCount: 0 };
  }

  /** The backend's name for a canonical model. */
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
  ): Promise<Response> {
    const headers = { ...this.headers(account.token), "content-type": "application/json", accept };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return send(account.fetch, this.#protocol.address + path, init, signal);
  }

  /** What a model is known to refuse, by the backend's name for it. */
  protected optionalOf(model: string): OptionalFields<Wire> {
    const known = this.#optional.get(model);
    if (known !== undefined) return known;
    // Callers make names up: only what was learnt is worth keeping.
    const fresh: OptionalFields<Wire> = new OptionalFields(this.#protocol.optional, () => {
      if (this.#optional.has(model)) return;
      for (const oldest of this.#optional.keys()) {
        if (this.#optional.size < MOST_MODELS) break;
        this.#optional.delete(oldest);
      }
      this.#optional.set(model, fresh);
    });
    return fresh;
  }

  /** The backend's name for a model, as far as it is known. */
  #nameOf({ id, upstream, provider, requested }: ResolvedModel): string {
    if (provider !== undefined) return upstream;
    return this.#isMapped(id) ? this.modelName(id) : this.#names.nameOf(id, requested);
  }

  #isMapped(id: string): boolean {
    return Object.hasOwn(this.options.models, id);
  }

  /** Asks; a model that nobody has mapped, and that the backend does not have, once more by a name that the backend lists. */
  async #ask(
    account: UpstreamAccount,
    request: Wire,
    model: ResolvedModel,
    whole: boolean,
    signal: AbortSignal,
  ): Promise<{ readonly request: Wire; readonly response: Response }> {
    try {
      return { request, response: await this.#complete(account, request, whole, signal) };
    } catch (error) {
      // Who names a provider's model means that one; others of a route may be waiting to be asked.
      if (!lacksModel(error) || model.provider !== undefined || this.#isMapped(model.id)) throw error;
      await this.#names.learn(() => this.models.list(account, signal), Date.now());
      signal.throwIfAborted();
      const named = { ...request, model: this.#nameOf(model) };
      if (named.model === request.model) throw this.#names.explained(error);
      return { request: named, response: await this.#complete(account, named, whole, signal) };
    }
  }

  #complete(account: UpstreamAccount, request: Wire, whole: boolean, signal: AbortSignal): Promise<Response> {
    const accept = whole ? "application/json" : "text/event-stream, application/json";
    const { path, body } = this.#protocol;
    const below = typeof path === "string" ? path : path(request);
    return this.optionalOf(request.model).send(
      request,
      (trimmed) => this.post(account, below, body?.(trimmed) ?? trimmed, accept, signal),
      (response) => this.refusal(response, account, signal),
    );
  }

  /** Reads an answer that is no success. */
  protected refusal(response: Response, account: UpstreamAccount, signal: AbortSignal): Promise<ReadRefusal> {
    return readRefusal(response, account.token, signal, this.#protocol.kinds);
  }

  #get(account: UpstreamAccount, path: string, signal: AbortSignal): Promise<Response> {
    const init = { headers: this.headers(account.token) };
    return send(account.fetch, this.#protocol.address + path, init, signal);
  }
}

/** A conversation that asks for no more tokens than its model is known to give: backends refuse what is beyond. */
function withinOutput(conversation: Conversation): Conversation {
  const { model, sampling, expectedTokens } = conversation;
  const { output } = model;
  if (output === undefined) return conversation;
  const { maxTokens } = sampling;
  return {
    ...conversation,
    ...(expectedTokens === undefined ? {} : { expectedTokens: Math.min(expectedTokens, output) }),
    ...(maxTokens === undefined ? {} : { sampling: { ...sampling, maxTokens: Math.min(maxTokens, output) } }),
  };
}

/** The turn that an answer begins. Some backends answer whole, or with a stream, whatever they are asked for. */
async function turnOf(
  response: Response,
  sessionId: string,
  reader: AnswerReader,
  signal: AbortSignal,
): Promise<UpstreamTurn> {
  if (isWhole(mediaTypeOf(response))) {
    return { sessionId, read: async () => reader.whole(await readAnswer(response, signal)) };
  }
  return { sessionId, body: await eventStreamOf(response, STREAM_TYPES), decoder: reader.streamed() };
}

/** So many models are remembered that refuse something. */
const MOST_MODELS = 200;

const LISTING = { path: "/models", names: (body: JsonObject) => modelNames(body["data"], "id") };

/** A member of each entry of a model list. Throws a `ProviderError` for what is no list. */
export function modelNames(list: unknown, member: string): string[] {
  if (!Array.isArray(list)) throw new ProviderError("malformed", "the provider's list of models is no list");
  return list.flatMap((entry: unknown) => {
    const name = isObject(entry) ? entry[member] : undefined;
    return typeof name === "string" ? [name] : [];
  });
}
