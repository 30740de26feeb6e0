/**
 * The limits of a key, as the account pool counts them. Tokens are counts. Costs are whole billionths of the currency
 * of the prices: sums are exact up to 2^53, and to 15 digits beyond.
 */

/** The limits that need counting, by their names in the configuration. */
export const LIMIT_NAMES = [
  "requests_per_minute",
  "tokens_per_minute",
  "max_parallel",
  "tokens_per_day",
  "tokens_per_month",
  "cost_per_day",
  "cost_per_month",
] as const;

export type LimitName = (typeof LIMIT_NAMES)[number];

/** An absent limit, or 0, means unlimited. */
export type KeyLimits = Readonly<Partial<Record<LimitName, number>>>;

/** What a request has used, or is expected to use. */
export interface SpentAmounts {
  readonly tokens: number;
  readonly cost: number;
}

/** One request of a key with limits, from start to end, over all attempts and queues. */
export interface LimitedUse extends SpentAmounts {
  /** A unique id of the request. Never a value from the client: the pool counts a repeated id only once. */
  readonly id: string;
  /** The key's id. */
  readonly key: string;
  readonly limits: KeyLimits;
}

/** Why a request must wait, or can never be served. */
export interface LimitRefusal {
  readonly limit: LimitName;
  /** The value of the limit. */
  readonly max: number;
  /** The current usage. */
  readonly used: number;
  /** Milliseconds until there is room; null if the request exceeds the whole limit. */
  readonly resetMs: number | null;
}

/** State of a rolling minute. `resetMs`: milliseconds until the whole limit is available again. */
export interface RateWindowState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/** The remaining limits of a key's minute; null if the key has no such limit. */
export interface RemainingLimits {
  readonly requests: RateWindowState | null;
  readonly tokens: RateWindowState | null;
}

/** Current usage of a key's limits. Days and months are in UTC. */
export interface KeyLimitUsage {
  readonly key: string;
  readonly parallel: number;
  readonly minute: { readonly requests: number; readonly tokens: number };
  readonly day: SpentAmounts;
  readonly month: SpentAmounts;
}

/** The state of one request's limits; filled in while the request is served. */
export interface RequestQuota {
  /**
   * The use that the request has declared to the pool. Undefined if not declared yet, or if the key has no limits to
   * count.
   */
  use?: LimitedUse;
  /** True if the pool may have admitted the request: its usage must be settled. */
  mustSettle?: boolean;
  /** The remaining limits, for the answer's headers. */
  remaining?: RemainingLimits;
}
