import type { ConfigSnapshot } from "../config/snapshot.ts";
import type { BodyHold } from "../http/body-budget.ts";
import type { RequestTimers } from "../http/request-timers.ts";
import type { Capture } from "./captures.ts";
import type { Quota } from "./limits.ts";
import type { Platform } from "./platform.ts";
import type { ConnectionResponses } from "./responses.ts";

/** What one request's log line says beyond method, path, status and duration. Never secrets, never content. */
export interface LogFields {
  /** The pattern of the route that answered. */
  route?: string;
  /** Id of the caller's key, never the key. */
  key?: string;
  dialect?: string;
  /** What the request is for. */
  operation?: "chat" | "embeddings" | "files";
  model?: string;
  /** The model as the caller wrote it. */
  requestedModel?: string;
  stream?: boolean;
  /** Id of the provider that was asked, where there was a choice. */
  provider?: string;
  account?: string;
  queueMs?: number;
  firstTokenMs?: number;
  promptTokens?: number;
  /** Part of `promptTokens`. */
  cachedTokens?: number;
  completionTokens?: number;
  /** Part of `completionTokens`. */
  reasoningTokens?: number;
  /** The provider stated token counts that no answer can have; estimates were counted instead. */
  usageRefused?: boolean;
  /** Accounts that were asked. */
  attempts?: number;
  retries?: number;
  error?: string;
  /** The HTTP status of that error, which a stream that had begun could not tell any more. */
  errorStatus?: number;
  /** How an administrator was let in: `token:<id>`, or `key`. */
  administrator?: string;
  /** After how many seconds the provider wants to be asked again. */
  retryAfterSeconds?: number;
  cause?: string;
  /** Settles when a streamed answer has ended: the log line waits for it. */
  streaming?: Promise<void>;
}

/** The runtime's part of one request. */
export interface RequestRuntime {
  readonly platform: Platform;
  /** Keeps work alive after the response has been returned. */
  waitUntil(work: Promise<unknown>): void;
  /** The responses of the connection that the request came over; missing for one that came by itself. */
  readonly connection?: ConnectionResponses;
  /** The client's address as the platform vouches for it; empty when it cannot. */
  readonly clientAddress: string;
}

/** One request on its way through the program. */
export interface Context extends RequestRuntime {
  readonly request: Request;
  /** Shared with other requests to the same address: not to be changed. */
  readonly url: URL;
  /** The caller's own, if it has sent one: others may be called the same. */
  readonly requestId: string;
  /** No other request's. */
  readonly identity: string;
  /** Milliseconds since the epoch at which the request came in. */
  readonly startedAt: number;
  readonly log: LogFields;
  readonly quota: Quota;
  /** What the request holds of the memory for bodies; given back when it is over. */
  readonly hold: BodyHold;
  /** What is to happen at its time while the request is served. */
  readonly timers: RequestTimers;
  /** Takes a capture of each exchange with the upstream that serves the request, whether captures are on or not. */
  readonly onCapture?: (capture: Capture) => void;
  /**
   * Writes the log line, and records the request's outcome: to be called before the end of a streamed answer is sent. All other answers are
   * recorded before any of them is sent. Called again, it does nothing.
   *
   * @param status the HTTP status of the answer
   */
  record(status: number): void;
  /**
   * Serves another request of the same client, which came over this one's connection, as if it had come by itself: access,
   * limits and log included. Never throws.
   */
  serve(request: Request, connection: ConnectionResponses): Promise<Response>;
  /** The configuration, read once a request, and again when `confirmConfig` finds a newer one. */
  config(): Promise<ConfigSnapshot>;
  /** From now until it is confirmed a copy of the configuration will do, however old. */
  allowConfigCopy(): void;
  /** See `RequestConfig.confirm`. */
  confirmConfig(version?: number): Promise<boolean>;
}
