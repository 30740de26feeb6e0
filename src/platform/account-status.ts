import type { ProviderErrorKind } from "../errors/provider-error.ts";

/** Whose fault a failure is: the account's, that of the proxy it is bound to, or the provider's as a whole. */
export type FaultParty = "account" | "proxy" | "provider";

/** One live lease in the queue status. */
export interface LeaseView {
  readonly account: string;
  readonly age_ms: number;
  readonly model: string;
  readonly request_id: string;
  /** Id of the caller's key; empty for one without. */
  readonly key: string;
  readonly dialect: string;
}

/** One account that cools down. `until` is in Unix milliseconds. */
export interface CooldownView {
  readonly account: string;
  /** The proxy that cools down, and the account with it; empty: the account itself. */
  readonly proxy: string;
  readonly kind: ProviderErrorKind;
  readonly reason: string;
  readonly failures: number;
  readonly until: number;
}

/** A provider is down, for one model or (empty) for all, since a time in Unix milliseconds. */
export interface OutageView {
  /** Empty: the default one. */
  readonly provider: string;
  readonly model: string;
  readonly kind: ProviderErrorKind;
  readonly reason: string;
  readonly since: number;
}

/** One waiting request. */
export interface WaitingView {
  readonly request_id: string;
  readonly model: string;
  readonly target: string | null;
  readonly waiting_ms: number;
}

/** How an account is: `failing`: the last of its requests and tests has failed by its, its proxy's or the provider's fault. */
export const ACCOUNT_CONDITIONS = ["ok", "untested", "failing", "cooling", "disabled"] as const;
export type AccountCondition = (typeof ACCOUNT_CONDITIONS)[number];

/** An account that fails, and is used all the same. */
export interface FailingView {
  readonly account: string;
  readonly reason: string;
  /** When it has failed last, Unix milliseconds; 0: only a test has. */
  readonly at: number;
}

/**
 * Contract, Queue status; `leases`, `cooldowns`, `conditions`, `failing`, `outages`, `ready`, `waiting_requests`, `partial` and
 * `silent_shards` go beyond it.
 */
export interface QueueStatus {
  readonly available: number;
  /** Those of them that are neither disabled nor passed over for a failure. */
  readonly ready: number;
  readonly in_use: number;
  readonly total: number;
  readonly available_accounts: readonly string[];
  readonly in_use_accounts: readonly string[];
  readonly max_inflight_per_account: number;
  readonly global_max_inflight: number;
  readonly recommended_concurrency: number;
  readonly waiting: number;
  readonly max_queue_size: number;
  readonly leases: readonly LeaseView[];
  /** How many accounts cool down. */
  readonly cooling: number;
  readonly cooldowns: readonly CooldownView[];
  /** How many accounts are how. */
  readonly conditions: Readonly<Record<AccountCondition, number>>;
  /** Accounts that fail, those that have failed last first. */
  readonly failing: readonly FailingView[];
  readonly outages: readonly OutageView[];
  readonly waiting_requests: readonly WaitingView[];
  /** Some pools have not answered, so that their accounts are missing from all numbers and lists. Absent: there is one pool. */
  readonly partial?: boolean | undefined;
  /** Names of the pools that have not answered. Absent: there is one. */
  readonly silent_shards?: readonly string[] | undefined;
}

/** How many requests there were in a time, and how many of them did not fail. */
export interface SuccessRate {
  readonly requests: number;
  readonly succeeded: number;
}

/** How an account has done since the pool was started. Times are Unix milliseconds, 0 for never. */
export interface AccountActivity {
  readonly inFlight: number;
  readonly lastUsed: number;
  readonly lastSuccess: number;
  readonly lastFault: {
    readonly kind: ProviderErrorKind;
    readonly reason: string;
    readonly fault: FaultParty;
    readonly at: number;
  } | null;
  readonly hour: SuccessRate;
  readonly day: SuccessRate;
}

/** What the pool knows about an account beyond its configuration. */
export interface AccountHealth {
  readonly id: string;
  /** The current token, or null. For masking and for administrative calls; never show it. */
  readonly token: string | null;
  /** Empty before the first test; `ok` after a successful one (contract, Accounts). */
  readonly testStatus: string;
  readonly condition: AccountCondition;
  readonly cooldown: CooldownView | null;
  readonly activity: AccountActivity;
}
