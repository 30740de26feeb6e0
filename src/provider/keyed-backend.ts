import type { Conversation } from "../conversation/conversation.ts";
import { isObject } from "../encoding/json.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { Credentials, SignedIn } from "../platform/accounts.ts";
import type { ProviderOptions } from "./driver.ts";
import type {
  Abilities,
  ModelListing,
  PreparedTurn,
  PrepareOptions,
  Provider,
  ProviderAccount,
  TurnDecoder,
  UpstreamAccount,
  UpstreamTurn,
} from "./provider.ts";
import { type ErrorKinds, type ReadRefusal, readRefusal } from "./refusal.ts";
import { eventStreamOf, mediaTypeOf, readRecord, send } from "./transport.ts";

/** What backends call their streams: clients of the public APIs do not look, so that some forget to say it. */
const STREAM_TYPES = ["text/event-stream", "text/plain"];

/**
 * A backend that is asked with an API key and keeps nothing: no accounts, no sessions, no files. A token is its key, and
 * below its address there is a list of models.
 */
export abstract class KeyedBackend implements Provider {
  readonly abilities: Abilities = { images: "backend" };
  protected readonly options: ProviderOptions;
  readonly #address: string;
  readonly #kinds: ErrorKinds;
  readonly models: ModelListing = {
    list: async (account, signal) => {
      const response = await this.#listModels(account, signal);
      if (!response.ok) throw (await this.refusal(response, account, signal)).error;
      return modelNames((await readRecord(response, signal))["data"]);
    },
  };

  /** `address` is what its paths lie below; `kinds` what its refusals mean. */
  constructor(options: ProviderOptions, address: string, kinds: ErrorKinds) {
    this.options = options;
    this.#address = address;
    this.#kinds = kinds;
  }

  /** The headers that carry a key, and whatever else every request has. */
  protected abstract headers(token: string): Readonly<Record<string, string>>;

  abstract prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn;

  async signIn(credentials: Credentials): Promise<SignedIn> {
    return { token: credentials.token === "" ? this.options.token : credentials.token, expiresAt: 0 };
  }

  /** Lists the models, which costs nothing and needs a key where one is needed. */
  async describeAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount> {
    const response = await this.#listModels(account, signal);
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
    return send(account.fetch, this.#address + path, init, signal);
  }

  /** The turn that an answer begins. Some backends answer whole whatever they are asked for. */
  protected async turn(
    response: Response,
    sessionId: string,
    decoderOf: (mediaType: string) => TurnDecoder,
  ): Promise<UpstreamTurn> {
    const mediaType = mediaTypeOf(response);
    const whole = mediaType === "application/json" ? response.body : null;
    return {
      sessionId,
      body: whole ?? (await eventStreamOf(response, STREAM_TYPES)),
      decoder: decoderOf(mediaType),
    };
  }

  /** Reads an answer that is no success. */
  protected refusal(response: Response, account: UpstreamAccount, signal: AbortSignal): Promise<ReadRefusal> {
    return readRefusal(response, account.token, signal, this.#kinds);
  }

  #listModels(account: UpstreamAccount, signal: AbortSignal): Promise<Response> {
    const init = { headers: this.headers(account.token) };
    return send(account.fetch, `${this.#address}/models`, init, signal);
  }
}

/** The `id` of each entry of a model list. */
function modelNames(data: unknown): string[] {
  if (!Array.isArray(data)) throw new ProviderError("malformed", "the provider's list of models is no list");
  return data.flatMap((entry: unknown) => {
    const id = isObject(entry) ? entry["id"] : undefined;
    return typeof id === "string" ? [id] : [];
  });
}
