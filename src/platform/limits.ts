/**
 * What a key may use, as the place that counts it sees it: the account pool. Tokens are counts; costs are whole billionths of
 * the currency in which the prices are, so that they add up exactly up to 2^53, and to 15 digits beyond.
 */

/** The limits that need counting, by the names that they have in the configuration. */
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

/** What is absent, or 0, is not limited. */
export type KeyLimits = Readonly<Partial<Record<LimitName, number>>>;

/** What a request has used, or is expected to use. */
export interface Spent {
  readonly tokens: number;
  readonly cost: number;
}

/** One request of a key with limits, from its beginning to its end: over all of its attempts, and wherever it waits. */
export interface LimitedUse extends Spent {
  /** Names the request for good. Never what a client sends: asking again with the same name costs nothing. */
  readonly id: string;
  /** The key's id. */
  readonly key: string;
  readonly limits: KeyLimits;
}

/** Why a request has to wait, or has no place at all. */
export interface LimitRefusal {
  readonly limit: LimitName;
  /** The limit. */
  readonly max: number;
  /** What counts towards it now. */
  readonly used: number;
  /** After how many milliseconds there is room; null: there never is for what the request asks for. */
  readonly resetMs: number | null;
}

/** How a rolling minute stands. `resetMs`: after how many milliseconds all of it is there again. */
export interface WindowState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/** What is left of a key's minute; null: it has no such limit. */
export interface LimitState {
  readonly requests: WindowState | null;
  readonly tokens: WindowState | null;
}

/** What counts towards a key's limits now. Days and months are those of UTC. */
export interface KeyUse {
  readonly key: string;
  readonly parallel: number;
  readonly minute: { readonly requests: number; readonly tokens: number };
  readonly day: Spent;
  readonly month: Spent;
}

/** How one request stands with the limits of its key; filled in on its way. */
export interface Quota {
  /** What it asks the pool for. Undefined: it has not asked yet, or its key has no limits that need counting. */
  use?: LimitedUse;
  /** It may have been let in: what it used is to be told. */
  counts?: boolean;
  /** What is left to the key, as its answer tells. */
  left?: LimitState;
}
