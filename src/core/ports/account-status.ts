import type { ProviderErrorKind } from "../errors/provider-error.ts";

/** Who is at fault for a failure: the account, the proxy that the account is bound to, or the provider as a whole. */
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

/** One account in cooldown. `until` is in Unix milliseconds. */
export interface CooldownView {
  readonly account: string;
  /** The id of the proxy whose failure started the cooldown; empty if the account itself failed. */
  readonly proxy: string;
  readonly kind: ProviderErrorKind;
  readonly reason: string;
  readonly failures: number;
  readonly until: number;
}

/** An outage of a provider, for one model or (empty) for all models. `since` is in Unix milliseconds. */
export interface ProviderOutageView {
  /** Empty for the default provider. */
  readonly provider: string;
  readonly model: string;
  readonly kind: ProviderErrorKind;
  readonly reason: string;
  readonly since: number;
}

export const PROVIDER_HEALTHS = ["healthy", "degraded", "down"] as const;

/** The health of a provider, from the results of its requests. */
export interface ProviderHealthView {
  readonly health: (typeof PROVIDER_HEALTHS)[number];
  /** The last failure and its time in Unix milliseconds; null: none for ten minutes. */
  readonly last_error: { readonly reason: string; readonly at: number } | null;
}

/** A provider that is not healthy. */
export interface ProviderTrouble extends ProviderHealthView {
  /** Empty for the default provider. */
  readonly provider: string;
}

/** One waiting request. */
export interface WaitingRequestView {
  readonly request_id: string;
  readonly model: string;
  readonly target: string | null;
  readonly waiting_ms: number;
}

/** What a provider says is left of a quota of an account. */
export interface QuotaView {
  /** The provider's name of it. */
  readonly name: string;
  /** Share that is left, 0 to 1. */
  readonly remaining: number;
  /** When it begins anew, Unix milliseconds. */
  readonly resets_at: number;
}

/**
 * Health of an account. `failing`: most of its latest requests failed, and the account, its proxy or the provider was at
 * fault; or its test failed and it has no requests.
 */
export const ACCOUNT_CONDITIONS = ["ok", "untested", "failing", "cooling", "disabled"] as const;
export type AccountCondition = (typeof ACCOUNT_CONDITIONS)[number];

/** An account that fails but is not in cooldown, so the pool still uses it. */
export interface FailingAccountView {
  readonly account: string;
  readonly reason: string;
  /** Time of the last failed request, Unix milliseconds; 0 if only a test failed. */
  readonly at: number;
}

/** The queue status (docs/contract/accounts.md, Queue status). */
export interface QueueStatus {
  readonly available: number;
  /** Available accounts that are neither disabled nor in cooldown. */
  readonly ready: number;
  readonly in_use: number;
  readonly total: number;
  readonly available_accounts: readonly string[];
  readonly in_use_accounts: readonly string[];
  readonly max_inflight_per_account: number;
  /** Slots of the listed accounts that have another number of them; 0: no limit. Absent: there are none. */
  readonly account_slots?: Readonly<Record<string, number>> | undefined;
  readonly global_max_inflight: number;
  readonly recommended_concurrency: number;
  readonly waiting: number;
  readonly max_queue_size: number;
  readonly leases: readonly LeaseView[];
  /** Number of accounts in cooldown. */
  readonly cooling: number;
  readonly cooldowns: readonly CooldownView[];
  /** Number of accounts in each condition. */
  readonly conditions: Readonly<Record<AccountCondition, number>>;
  /** Failing accounts, latest failure first. */
  readonly failing: readonly FailingAccountView[];
  readonly outages: readonly ProviderOutageView[];
  /** The providers that are not healthy; absent: none. */
  readonly troubles?: readonly ProviderTrouble[] | undefined;
  readonly waiting_requests: readonly WaitingRequestView[];
  /** True if some pool shards did not answer: numbers and lists lack their accounts. Absent if there is only one pool. */
  readonly partial?: boolean | undefined;
  /** Names of the pool shards that did not answer. Absent if there is only one pool. */
  readonly silent_shards?: readonly string[] | undefined;
}

/** Number of requests in a period, and how many of them succeeded. */
export interface SuccessCounts {
  readonly requests: number;
  readonly succeeded: number;
}

/** Activity of an account since the pool started. Times are Unix milliseconds, 0 for never. */
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
  readonly hour: SuccessCounts;
  readonly day: SuccessCounts;
}

/** What the pool knows about an account in addition to its configuration. */
export interface AccountHealth {
  readonly id: string;
  /** The current token, or null. Use it for masking and administrative calls only; never show it. */
  readonly token: string | null;
  /** Empty before the first test; `ok` after a successful one (docs/contract/accounts.md). */
  readonly testStatus: string;
  readonly condition: AccountCondition;
  readonly cooldown: CooldownView | null;
  /** Quotas that the provider states, as of its latest answer; absent in answers of an older shard. */
  readonly quotas?: readonly QuotaView[];
  readonly activity: AccountActivity;
}
