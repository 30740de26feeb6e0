/*
 * The retries within one request of a caller: which kinds there are, how many of each, and how many in all. `RetryBudget`
 * decides by this table. The callers of `take` only say why they would try again. Two repetitions are below it, because they
 * are no new attempts: calls to a pool that has just restarted (below), and a GET or DELETE to a provider whose connection
 * broke (`send` in `src/gateway/providers/transport.ts`).
 */

/** Counting of a kind begins anew with each request, model of a route, account, or call of the provider's API. */
export type RetryScope = "request" | "model" | "account" | "call";

interface RetryRule {
  readonly scope: RetryScope;
  readonly max: number;
  /** The provider did not see the failed attempt, so it does not count in the total. */
  readonly isUnseen?: true;
  /** The retry is another whole turn on the same account: it counts as a full attempt without a call of `beginAttempt`. */
  readonly isNextTurn?: true;
}

/** The kinds of retries. */
export const RETRY_RULES = {
  /** The next model of a route, after one that could not answer. A route has at most 20 models. */
  model: { scope: "request", max: 19 },
  /** The first busy model of a route, once more with waiting, after all models failed. */
  busy_model: { scope: "request", max: 1, isUnseen: true },
  /** Another account, after a failure that may be the provider's. `account_failovers` of the configuration is the limit. */
  account: { scope: "model", max: Number.POSITIVE_INFINITY },
  /** Another account, after one that cannot sign in or whose proxy fails. Only time limits it (`QUEUE_TIMEOUT_MS`). */
  unusable_account: { scope: "model", max: Number.POSITIVE_INFINITY, isUnseen: true },
  /** A follow-up turn on the same account, after reasoning without an answer (docs/contract.md, general rule 7). */
  answer: { scope: "account", max: 1, isNextTurn: true },
  /** Another account, after a second answer without visible output (docs/contract.md, general rule 7). */
  answer_account: { scope: "model", max: 1 },
  /** The same call with a new token, after the provider refused the old one. */
  token: { scope: "call", max: 1 },
  /** The same call with a model name that the provider lists. */
  model_name: { scope: "call", max: 1 },
  /** The same request at another endpoint, after one that the provider does not have. */
  endpoint: { scope: "call", max: 1 },
  /** The same call without a field that the provider refuses by name. */
  refused_field: { scope: "call", max: 40 },
  /** The same call after the provider has processed a file. */
  file: { scope: "call", max: 1 },
  /** A second answer, after one that breaks the requested format. */
  format: { scope: "request", max: 1 },
} as const satisfies Readonly<Record<string, RetryRule>>;

/** Why a request is tried again. */
export type RetryKind = keyof typeof RETRY_RULES;

/** Most attempts of one request that a provider sees, the first included. */
export const MAX_ATTEMPTS = 100;

/** No retry begins later than this after the request's first attempt, milliseconds. */
export const MAX_RETRY_TIME_MS = 60 * 60_000;

/**
 * Pauses before repeated calls to a pool that has just restarted, milliseconds. These repetitions belong to the transport:
 * they do not count as attempts, and they end with the request's wait for an account.
 */
export const POOL_CALL_PAUSES_MS: readonly number[] = [20, 100, 400];

/** How often a request of a key with limits asks several pools for a slot, if it loses each slot before it can start. */
export const MAX_SLOT_ATTEMPTS = 3;
