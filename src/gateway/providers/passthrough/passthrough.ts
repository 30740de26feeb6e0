import type { ResolvedModel } from "../../../core/conversation/model.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import type { OpenedSocket } from "../../../core/ports/web-socket.ts";
import type { UpstreamAccount } from "../upstream-account.ts";

/** A request to an endpoint whose requests and answers need no translation. */
export interface PassthroughRequest {
  /** The path below the provider's base URL. */
  readonly path: string;
  /** Default: `POST`. */
  readonly method?: "GET";
  /** The path names a stored object: HTTP 404 says that there is none, and not that the backend lacks the endpoint. */
  readonly isStoredObject?: true;
  /** Null: the request names no model. */
  readonly model: ResolvedModel | null;
  /** The caller's headers that go to the provider, `content-type` included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Creates the body; null: none. `model` is the provider's name for the model; empty if the request names none. */
  readonly createBody: (model: string) => BodyInit | null;
}

/** A WebSocket to a provider, and the provider's name for its model; empty: none. */
export interface OpenedRealtime {
  readonly socket: OpenedSocket;
  readonly model: string;
}

/** Endpoints whose requests and answers need no translation. */
export interface Passthrough {
  /**
   * Sends a request and returns the successful answer with its body unread. Throws a `GatewayError` 501 if the backend
   * does not have the endpoint.
   */
  send(account: UpstreamAccount, request: PassthroughRequest, signal: AbortSignal): Promise<Response>;
  /**
   * Opens a WebSocket. Throws the same errors.
   *
   * @param query of the address, without the model
   */
  openSocket(
    account: UpstreamAccount,
    request: Pick<PassthroughRequest, "path" | "model" | "headers">,
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<OpenedRealtime>;
}

/** A request to the prompts that a provider caches under names. */
export interface CacheRequest {
  readonly method: "POST" | "GET" | "PATCH" | "DELETE";
  /** The provider's name of the cache; empty: all of them. */
  readonly name: string;
  /** Without the question mark; empty: none. */
  readonly query: string;
  /** The model of a new cache; null: the request names none. */
  readonly model: ResolvedModel | null;
  /** Creates the body. `model` is the provider's name for the model; empty if the request names none. */
  readonly createBody: (model: string) => string | null;
}

/** Prompts that a provider caches under names, at the account that created them. */
export interface PromptCaches {
  /** Sends a request and returns the JSON answer. */
  send(account: UpstreamAccount, request: CacheRequest, signal: AbortSignal): Promise<JsonObject>;
}
