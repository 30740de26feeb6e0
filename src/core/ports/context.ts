import type { NamedModel } from "../config/name-list.ts";
import type { ConfigSnapshot } from "../config/snapshot.ts";
import type { MemoryReservation } from "../http/memory-budget.ts";
import type { RetryBudget } from "../retries/retry-budget.ts";
import type { Capture } from "./captures.ts";
import type { Platform } from "./platform.ts";
import type { RequestFacts, RequestOutcome } from "./request-outcome.ts";
import type { ConnectionResponses } from "./responses.ts";
import type { RequestLimits } from "./subject-limits.ts";
import type { Fetch } from "./upstream.ts";

/** The OpenTelemetry trace of one request. It never contains texts of a conversation or secrets. */
export interface RequestTrace {
  /** Why the answer ended; empty: unknown. */
  finishReason: string;
  /** Adds the attempts of a budget. */
  watch(retries: Pick<RetryBudget, "attempts">): void;
  /** Adds the header `traceparent` of the current attempt to all requests of a `fetch`. */
  propagate(fetch: Fetch, retries: Pick<RetryBudget, "attempts">): Fetch;
  /** Ends the trace. The promise settles when it was sent, or could not be sent. Never rejects. */
  end(outcome: RequestOutcome): Promise<void>;
}

/** What the history needs to know of a request that is refused. The log line has none of it. */
export interface RefusedRequestNotes {
  /** Whether the history has a record of the request's generation. */
  hasRecord?: boolean;
  /** Whether the caller's configured key may be used for a model; absent: the caller has none. */
  allowsModel?: (model: NamedModel) => boolean;
  /** Throws the 403 of a model that the caller's configured key must not be used for; absent: the caller has no such key. */
  assertModelAllowed?: (model: NamedModel) => void;
  /** The API style of the route. */
  style?: string;
  /** The model name that the caller wrote, as far as it could be read. */
  model?: string;
  /** Of the error. Not the error itself: its cause can hold the whole body, and the context may outlive the request. */
  message?: string;
}

/** What the runtime provides for one request. */
export interface RequestRuntime {
  readonly platform: Platform;
  /** Keeps the work running after the response has been returned. */
  waitUntil(work: Promise<unknown>): void;
  /**
   * Calls `end` if the process must end before the request has ended, so that the request ends with an error. Absent: the
   * platform never says so.
   */
  readonly beforeEnd?: (end: () => void) => void;
  /** The responses of the WebSocket connection that the request came over; absent for an ordinary request. */
  readonly connection?: ConnectionResponses;
  /** The client's address if the platform guarantees it; otherwise empty. */
  readonly clientAddress: string;
}

/** One request while the program handles it. */
export interface Context extends RequestRuntime {
  readonly request: Request;
  /** Shared with other requests to the same address: do not change it. */
  readonly url: URL;
  /** The model that the path names. It takes the place of `model` in the body. */
  readonly pathModel?: string;
  /** The id that the caller sent, if any: it may not be unique. */
  readonly requestId: string;
  /** A unique id of this request. */
  readonly uniqueRequestId: string;
  /** Milliseconds since the epoch at which the request came in. */
  readonly startedAt: number;
  readonly facts: RequestFacts;
  readonly requestLimits: RequestLimits;
  readonly refusedRequest: RefusedRequestNotes;
  /** The OpenTelemetry trace; absent: the deployment sends none. */
  readonly trace?: RequestTrace;
  /** The memory for bodies that the request has reserved; released when the request ends. */
  readonly memory: MemoryReservation;
  /** Receives a capture of each upstream exchange of the request, even if captures are disabled. */
  readonly onCapture?: (capture: Capture) => void;
  /**
   * Ends the request with its {@link RequestOutcome}. Call it before the end of a streamed answer is sent; all
   * other answers are recorded before their first byte. Later calls do nothing.
   *
   * @param status the HTTP status of the answer
   */
  recordOutcome(status: number): void;
  /**
   * Keeps the request's memory until `sent` settles, because its answer is sent after its response was returned.
   * Without a call it is released with the response.
   */
  keepUntil(sent: Promise<void>): void;
  /**
   * Serves a request that this request contains, with the same authorization, limits and log as a separate request of the
   * same client. Never throws.
   *
   * @param connection the responses of the WebSocket connection, if this request is one
   */
  serveRequest(request: Request, connection?: ConnectionResponses): Promise<Response>;
  /** The configuration, at most two seconds old. Read once per request; the two methods below may replace it. */
  config(): Promise<ConfigSnapshot>;
  /**
   * Looks up a key or model that the configuration does not have, before the request is refused or passed through. True:
   * there was a newer configuration, so try again.
   */
  lookUpConfig(name: string): Promise<boolean>;
  /** Ensures at least the version that a grant stated, or throws 503. */
  ensureConfigVersion(version: number): Promise<void>;
}
