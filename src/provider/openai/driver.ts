import type { Conversation } from "../../conversation/conversation.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import { ProviderError } from "../../errors/provider-error.ts";
import type { Credentials, SignedIn } from "../../platform/accounts.ts";
import type {
  FollowUp,
  PreparedTurn,
  PrepareOptions,
  Provider,
  ProviderAccount,
  ProviderFile,
  UpstreamAccount,
  UpstreamTurn,
} from "../provider.ts";
import { readRefusal, type StatusKinds } from "../refusal.ts";
import { eventStreamOf, mediaTypeOf, send } from "../transport.ts";
import { CompletionStreamDecoder, WholeCompletionDecoder } from "./decoder.ts";
import { OptionalFields } from "./optional-fields.ts";
import { RequestBuilder } from "./request.ts";
import type { WireRequest } from "./wire.ts";

/** What the openai driver is told. */
export interface OpenAiProviderOptions {
  /** Includes the version: `/chat/completions` is appended to it. */
  readonly baseUrl: string;
  /** The API key for accounts that have none of their own. */
  readonly token: string;
  /** Canonical model id → the backend's name; an id that is not in it is sent as it is. */
  readonly models: Readonly<Record<string, string>>;
  readonly toolCalls: "native" | "markup";
  readonly newId: () => string;
}

/** What is not found at a backend is the model (or the whole API): nothing that the caller asked for by address. */
const STATUS_KINDS: StatusKinds = { 404: "model_unavailable" };

/**
 * The driver of any chat-completions backend. It has no accounts and no sessions: a token is the backend's API key, a
 * session is an id that the driver makes up, and a follow-up turn replays the conversation with the suffix.
 */
export class OpenAiProvider implements Provider {
  readonly kind = "openai";
  readonly #options: OpenAiProviderOptions;
  readonly #baseUrl: string;
  readonly #optional = new OptionalFields();

  constructor(options: OpenAiProviderOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
  }

  async signIn(credentials: Credentials): Promise<SignedIn> {
    return { token: credentials.token === "" ? this.#options.token : credentials.token, expiresAt: 0 };
  }

  /** Lists the models, which costs nothing and needs a key where one is needed. */
  async describeAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount> {
    const init = { headers: { authorization: `Bearer ${account.token}` } };
    const response = await send(account.fetch, `${this.#baseUrl}/models`, init, signal);
    // Not every backend lists its models; that says nothing against the key.
    if (response.ok || response.status === 404 || response.status === 405) await response.body?.cancel();
    else throw (await readRefusal(response, account.token, signal, STATUS_KINDS)).error;
    return { id: "", sessionCount: 0 };
  }

  async createSession(): Promise<string> {
    return this.#options.newId();
  }

  async deleteSession(): Promise<void> {}

  async deleteAllSessions(): Promise<number> {
    return 0;
  }

  prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn {
    const { models, toolCalls, newId } = this.#options;
    const { id } = conversation.model;
    const model = Object.hasOwn(models, id) ? (models[id] ?? id) : id;
    const builder = new RequestBuilder(conversation, options, { model, toolCalls });
    return {
      promptText: builder.promptText,
      load: (signal: AbortSignal) => builder.load(signal),
      open: async (account: UpstreamAccount, signal: AbortSignal, followUp: FollowUp | null) => {
        const request = await builder.build(followUp?.suffix ?? "", signal);
        const response = await this.#complete(account, request, signal);
        return this.#turnOf(account, response, followUp?.sessionId ?? newId());
      },
    };
  }

  async resume(): Promise<UpstreamTurn> {
    throw new ProviderError("invalid_request", "this provider cannot go on with a message");
  }

  async uploadFile(): Promise<ProviderFile> {
    throw noFiles();
  }

  async readFile(): Promise<ProviderFile> {
    throw noFiles();
  }

  /** Posts a request; again without the optional fields that the backend refuses by name, as long as it does. */
  async #complete(account: UpstreamAccount, full: WireRequest, signal: AbortSignal): Promise<Response> {
    let request = this.#optional.trim(full);
    const learned: (() => void)[] = [];
    for (;;) {
      const init = {
        method: "POST",
        headers: {
          authorization: `Bearer ${account.token}`,
          "content-type": "application/json",
          accept: "text/event-stream, application/json",
        },
        body: JSON.stringify(request),
      };
      const response = await send(account.fetch, `${this.#baseUrl}/chat/completions`, init, signal);
      if (response.ok) {
        for (const accept of learned) accept();
        return response;
      }
      const { error, text } = await readRefusal(response, account.token, signal, STATUS_KINDS);
      const correctable = response.status === 400 || response.status === 422;
      const retry = correctable ? this.#optional.retry(request, text) : null;
      if (retry === null) throw error;
      request = retry.request;
      learned.push(retry.accepted);
    }
  }

  async #turnOf(account: UpstreamAccount, response: Response, sessionId: string): Promise<UpstreamTurn> {
    const context = { secret: account.token, newId: this.#options.newId };
    // Some backends answer whole whatever they are asked for.
    if (mediaTypeOf(response) === "application/json" && response.body !== null) {
      return { sessionId, body: response.body, decoder: new WholeCompletionDecoder(context) };
    }
    return { sessionId, body: await eventStreamOf(response), decoder: new CompletionStreamDecoder(context) };
  }
}

function noFiles(): GatewayError {
  return new GatewayError(501, "this provider keeps no files: send them within the request", {
    code: "unsupported",
  });
}
