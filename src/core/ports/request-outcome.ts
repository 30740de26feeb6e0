import type { HistoryMode } from "../config/history-mode.ts";
import type { Role } from "../config/roles.ts";

/** An attempt that failed by the fault of the provider or of its account. */
export interface ProviderFailure {
  /** Its number, from 1: see `attempts` of {@link RequestFacts}. */
  readonly attempt: number;
  /** Id of the provider. */
  readonly provider: string;
  readonly account: string;
  readonly model: string;
  /** The code of its error. */
  readonly code: string;
}

/** What is known of a request while it is handled; the log line has all of it. Never secrets, never content. */
export interface RequestFacts {
  /** The pattern of the matched route. */
  route?: string;
  /** Id of the caller's key, never the key itself. */
  key?: string;
  /** Ids of the key's team and user. */
  team?: string;
  user?: string;
  /** The request's tags, sorted, with commas between them. */
  tags?: string;
  /** What history and captures keep of the request, if not everything. */
  history?: HistoryMode;
  dialect?: string;
  /** The kind of work. */
  operation?:
    | "chat"
    | "embeddings"
    | "files"
    | "images"
    | "audio"
    | "moderations"
    | "rerank"
    | "batches"
    | "caches"
    | "realtime";
  model?: string;
  /** The model name as the caller wrote it. */
  requestedModel?: string;
  stream?: boolean;
  /** Id of the provider that was used, if several were possible. */
  provider?: string;
  account?: string;
  queueMs?: number;
  firstTokenMs?: number;
  promptTokens?: number;
  completionTokens?: number;
  /** Part of `completionTokens`. */
  reasoningTokens?: number;
  /** Details of the usage (`UsageDetails`). */
  cachedTokens?: number;
  cacheWrite5mTokens?: number;
  cacheWrite1hTokens?: number;
  audioInputTokens?: number;
  audioOutputTokens?: number;
  imageInputTokens?: number;
  imageOutputTokens?: number;
  webSearches?: number;
  webFetches?: number;
  /** Seconds of audio that the provider counted. */
  audioSeconds?: number;
  /** Searches that the provider counted for a request to rank documents. */
  searchUnits?: number;
  /** The provider states no usage of an answer that is no text, so its cost is unknown. */
  hasUncountedAnswer?: boolean;
  /** The provider reported impossible token counts; the gateway counted estimates instead. */
  usageRefused?: boolean;
  /** Whether the answer passed through as the provider sent it, or was translated. */
  answerPath?: "native" | "translated";
  /** Names of request members that were left out because the provider refuses them, separated by commas. */
  droppedParams?: string;
  /** Whether the answer came from the response cache. Absent: it is not on for the request. */
  cache?: "hit" | "miss";
  /** Number of accounts tried. */
  attempts?: number;
  /** Those of them that failed by the fault of a provider. */
  failedAttempts?: readonly ProviderFailure[];
  retries?: number;
  error?: string;
  /** The HTTP status of `error`, if the stream had already begun and could not report it. */
  errorStatus?: number;
  /** How the administrator authenticated: `token:<id>`, or `key`. */
  administrator?: string;
  /** The administrator's role. */
  administratorRole?: Role;
  /** Seconds after which the provider accepts a retry. */
  retryAfterSeconds?: number;
  cause?: string;
}

/**
 * The event that ends a request. The log line, metrics, usage, history, limits and the trace are made from it, and from
 * nothing else.
 */
export interface RequestOutcome {
  readonly method: string;
  /** The path that the client sent. */
  readonly path: string;
  readonly status: number;
  /** The id that the caller sent, if any: it may not be unique. */
  readonly requestId: string;
  /** `req_` and a random UUID without hyphens. */
  readonly uniqueRequestId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly facts: Readonly<RequestFacts>;
}
