import type { ProviderErrorKind } from "../errors/provider-error.ts";
import type { KeyUse, LimitedUse, LimitRefusal, LimitState, Spent } from "./limits.ts";

/**
 * What the rest of the program sees of the account pool. The pool itself lives in one place per deployment (a Durable
 * Object, or an object in the process on Deno); this is its interface as seen from a request.
 */

/** Why a request got no account. At the edge each is HTTP 429 without `Retry-After` (contract, Errors). */
export type RefusalReason =
  /** The caller's key has used what it may. */
  | "limited"
  /** No account is configured, or the caller excluded all that are usable. */
  | "no_accounts"
  /** `target` names no configured account. */
  | "target_not_found"
  /** Every slot is taken and the waiting queue is full. */
  | "queue_full"
  /** The request waited as long as it may. */
  | "queue_timeout"
  /** The provider is down: it has failed on several accounts in a row, and another request tries it just now. */
  | "provider_down"
  /** The caller's signal aborted while the request waited. */
  | "cancelled";

/** Stands for whichever provider the pinned account belongs to. */
export const ANY_PROVIDER = "*";

/** One request for a slot. */
export interface AcquireRequest {
  /** Shown in the lease list of the queue status. */
  readonly requestId: string;
  /** Resolved model id; shown in the lease list. */
  readonly model: string;
  /** Whose accounts will do; {@link ANY_PROVIDER} with `target` alone. Absent: those of the default provider. */
  readonly provider?: string;
  /** API style of the caller; shown in the lease list. */
  readonly dialect?: string;
  /** Id of the key that asks; shown in the lease list. Absent: there is none. */
  readonly key?: string;
  /** Digest of the key that asks, never the key itself: callers share slots and queue. Absent: the gateway itself. */
  readonly caller?: string;
  /** Identifier, e-mail or mobile of a pinned account (contract, Authentication rule 3): waits for that account alone. */
  readonly target?: string;
  /** Identifiers that must not be chosen: an account switch after an empty answer. Only healthy accounts qualify then. */
  readonly exclude?: readonly string[];
  /** A pinned account may be a disabled one. */
  readonly disabledToo?: boolean;
  /** Longest wait in the queue in milliseconds; the pool's setting when absent, 0 to be refused rather than wait. */
  readonly waitMs?: number;
  /** Absent: the caller's key has no limits that need counting. */
  readonly use?: LimitedUse;
  /** Several pools are asked in turn whether they have a free slot: it is not one that this pool need get parts of limits for. */
  readonly passing?: boolean;
  /** Another pool may do better than with an account that is passed over, or that is tried already since it has failed. */
  readonly wellOnly?: boolean;
}

/** No slot was granted; `failure` is the provider's when it is down. */
export interface Refused {
  readonly refused: RefusalReason;
  readonly failure?: AccountFailure;
  /** What the key has used up, when it is `limited`. */
  readonly limit?: LimitRefusal;
  /** What is left to the key, where that is counted. */
  readonly limits?: LimitState;
  /** The pool has accounts that are well, and busy; told to a request that is `wellOnly`. */
  readonly isWell?: boolean;
  /** The queue is full, and no other pool has room to give: it is of no use to ask again. */
  readonly isFull?: boolean;
}

/** A slot was granted. */
export interface Granted {
  readonly lease: Lease;
  /** What is left to the key, where that is counted. */
  readonly limits?: LimitState;
  /** Version of the newest configuration; absent where nobody can have an older one. */
  readonly configVersion?: number;
}

export type Acquired = Granted | Refused;

/** A request that takes no slot was counted, or refused. */
export type CountAnswer = { readonly limits: LimitState } | Refused;

/** The account behind a lease. Credentials are handed out only with a sign-in ticket. */
export interface LeasedAccount {
  /** E-mail, mobile, or `token:<hash>`. */
  readonly id: string;
  /** Bound proxy, empty when unbound. */
  readonly proxyId: string;
  /** Whose account it is. Absent: the default provider's. */
  readonly provider?: string;
}

/** The right, and the duty, to sign the account in for everybody who waits for it. */
export interface SignInTicket {
  readonly ticket: string;
  readonly credentials: Credentials;
  /** A token that still works, when the sign-in is only the periodic refresh: use it if the sign-in fails. */
  readonly current?: string;
}

/** Whose fault a failure is: the account's, that of the proxy it is bound to, or the provider's as a whole. */
export type FaultParty = "account" | "proxy" | "provider";

/** Why an account could not be used: plain data that crosses RPC, and that everybody who waits can throw anew. */
export interface AccountFailure {
  readonly kind: ProviderErrorKind;
  /** For administrators and callers; holds no secret. */
  readonly message: string;
  /** The upstream's HTTP status, 0 when there was none. */
  readonly status: number;
  /** Null: nobody's, or the request's own. */
  readonly fault: FaultParty | null;
  /** After how many seconds the upstream wants to be asked again; null: it does not say. */
  readonly retryAfter: number | null;
}

/** Who may be told an account's token or credentials: its provider, as it is configured when they are handed out. */
export interface MeantFor {
  /** Whose account it is by now. Absent: the default provider's. */
  readonly provider?: string;
  /** See {@link Granted}. */
  readonly configVersion?: number;
}

export type TokenAnswer =
  | ({ readonly token: string } & MeantFor)
  | ({ readonly signIn: SignInTicket } & MeantFor)
  | { readonly failed: AccountFailure };

/**
 * A slot on one account, held until `release` or disposal. Every method is safe after release. A lease that is not renewed
 * ends: call `renew` every half a second (`BEAT_MS`) while holding one, and stop when it says so.
 */
export interface Lease extends Disposable {
  readonly account: LeasedAccount;
  /** A usable token, when the pool knew one at the time of the grant. */
  readonly initialToken: string | null;
  /**
   * A token for this account; `stale` names one that the provider has refused. Waits while another request signs the
   * account in; answers with a ticket when this request must do so. `accountToken` in `sign-in.ts` does it all.
   */
  token(stale?: string): Promise<TokenAnswer>;
  /** Redeems a ticket. */
  signedIn(ticket: string, result: SignedIn): Promise<void>;
  /** Gives a ticket up; everybody who waits learns of the failure and the account cools down. */
  signInFailed(ticket: string, failure: AccountFailure): Promise<void>;
  /**
   * False when the slot was reclaimed, or may be before the next call: stop using the account. The answer comes before that
   * time. Most calls send nothing.
   */
  renew(): Promise<boolean>;
  /** The account answered. Ends a series of failures. Costs nothing when there was none. */
  succeeded(): Promise<void>;
  /**
   * The use of the account failed. What follows depends on whose fault that is. Resolves with whether another account is
   * well.
   */
  failed(failure: AccountFailure): Promise<boolean>;
  /** Gives the slot back; never fails, never waits, and only the first call counts. */
  release(): void;
}

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

/** Tells whoever waits that its request has left: an `AbortSignal`, or something lighter. */
export interface Leaving {
  readonly aborted: boolean;
  /** `listener` is called once at most. */
  addEventListener(type: "abort", listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The account pool as a request or an administrator sees it. */
export interface AccountPoolClient {
  /**
   * Waits for a slot. Resolves with a refusal rather than throwing; rejects only when the pool cannot be reached.
   * When `signal` aborts the request leaves the queue, and a slot granted in that moment goes back.
   */
  acquire(request: AcquireRequest, signal?: Leaving): Promise<Acquired>;
  /** Counts a request of a key with limits that takes no slot, and ends it: what it uses is known. */
  count(use: LimitedUse): Promise<CountAnswer>;
  /** A request of a key with limits has ended. Only the first call for it counts. Every call of this client that follows knows. */
  settle(use: LimitedUse, spent: Spent): Promise<void>;
  /** What counts towards the limits of the keys that have some, and have used anything this month. */
  keyUses(): Promise<KeyUse[]>;
  /** `most`: entries of each list at most; what needs a look comes first. Absent: all, as they come. */
  status(most?: number): Promise<QueueStatus>;
  /** Health of the named accounts, or of all. Unknown identifiers are left out. */
  health(ids?: readonly string[]): Promise<AccountHealth[]>;
  /** Records the outcome of an account test. Rejects (503) when the account lives in a pool that does not answer. */
  setTestStatus(id: string, status: string): Promise<void>;
  /** Accounts whose token is older than the refresh interval and that can sign in. */
  tokensDueForRefresh(): Promise<string[]>;
  /** Tells the pool that the configuration has changed. */
  configure(configuration: PoolConfiguration): Promise<void>;
}

/** One account as the pool needs it; the fields are those of the configuration. Empty strings mean "not set". */
export interface PoolAccount {
  readonly id: string;
  readonly email: string;
  readonly mobile: string;
  readonly password: string;
  readonly token: string;
  readonly proxyId: string;
  /** Not used, except by administrators. */
  readonly disabled?: boolean;
  /** How many requests it gets in its turn; one unless given. */
  readonly weight?: number;
  /** Whose account it is. Absent: the default provider's. */
  readonly provider?: string;
  /** Its place among all accounts; with several pools alone. */
  readonly rank?: number;
  /** It lives in another pool by now: requests that have it here may finish, and nobody else gets it. */
  readonly moved?: boolean;
}

/**
 * Several pools ("shards"), each of which has a part of the accounts. An account lives in one of `shards` (`ShardMap` says in
 * which); what one of the `earlier` layouts put elsewhere may still be in use there.
 */
export interface PoolLayout {
  /** Grows with each change of `shards`. */
  readonly generation: number;
  readonly shards: readonly string[];
  /** Empty once nothing is in use any more where it was put before. */
  readonly earlier: readonly (readonly string[])[];
  /** Shards that there were, and are no more. */
  readonly former: readonly string[];
}

/** What a pool that is one of several must know of the others. */
export interface PoolShard {
  /** Its own name. */
  readonly name: string;
  /** Whatever is told with a lower number than something else was told before it. */
  readonly order: number;
  readonly layout: PoolLayout;
}

/** Limits; 0 stands for the recommended value (number of accounts times `perAccount`). */
export interface PoolLimits {
  readonly perAccount: number;
  readonly global: number;
  readonly queue: number;
  /** Longest wait in the queue, milliseconds. */
  readonly queueWaitMs: number;
  /** Age at which a token is signed in anew, milliseconds; 0 for never. */
  readonly tokenRefreshMs: number;
}

/** A proxy that accounts may be bound to. `settings` says whether it has been changed, and holds secrets. */
export interface PoolProxy {
  readonly id: string;
  readonly settings: string;
}

export interface PoolConfiguration {
  readonly accounts: readonly PoolAccount[];
  /** None unless given. */
  readonly proxies?: readonly PoolProxy[];
  /** Slots of each account, by provider, where they are not those of `limits`. */
  readonly perAccount?: Readonly<Record<string, number>>;
  readonly limits: PoolLimits;
  /** Version of the configuration that it is from, where grants tell it. One that is older than what the pool has is not taken over. */
  readonly version?: number;
  /** Absent: there is one pool. */
  readonly shard?: PoolShard;
}

/** What an account signs in with. */
export interface Credentials {
  readonly email: string;
  readonly mobile: string;
  readonly password: string;
  /** A token-only account's token: the answer to every sign-in of an account without a password. */
  readonly token: string;
}

/** A token and the Unix time (seconds) at which it ends; 0: not known. */
export interface SignedIn {
  readonly token: string;
  readonly expiresAt: number;
}
