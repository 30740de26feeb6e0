import type { AccountAuth } from "../config/schemas/account-auth-schema.ts";
import type { SelectionStrategy } from "../config/selection-strategy.ts";
import type { ProviderErrorKind } from "../errors/provider-error.ts";
import type { AccountHealth, FaultParty, QueueStatus } from "./account-status.ts";
import type { PoolConfiguration, TokenType } from "./pool-configuration.ts";
import type {
  LimitedUse,
  LimitRefusal,
  RemainingLimits,
  SpentAmounts,
  SubjectUsage,
} from "./subject-limits.ts";

/**
 * The account pool as a request sees it. The pool is one Durable Object on Workers, or several shards; on Deno it is an
 * object in the process.
 */

/** Why the pool refused a slot. `createRefusalError` chooses the status of the answer (docs/contract/errors.md). */
export type RefusalReason =
  /** The caller's key has reached one of its limits. */
  | "limited"
  /** The configuration has no account, or the request excluded all usable accounts. */
  | "no_accounts"
  /** `target` names no configured account. */
  | "target_not_found"
  /** All slots are in use and the queue is full. */
  | "queue_full"
  /** The request reached its maximum time in the queue. */
  | "queue_timeout"
  /** The provider is down: it failed on several accounts in a row, and another request is already the half-open probe. */
  | "provider_down"
  /** The caller's signal aborted while the request was in the queue. */
  | "cancelled";

/** Matches any provider; the pinned account decides. */
export const ANY_PROVIDER = "*";

/** How the pool selects the account of a request. */
export interface AccountSelection {
  readonly strategy: SelectionStrategy;
  /** The key of the conversation, for `affinity`. Absent: the request belongs to none. */
  readonly conversation?: string;
  /** How long to wait for the conversation's account while that one is busy, milliseconds. Absent: not at all. */
  readonly waitMs?: number;
  /** The conversation's account as this isolate knows it. What the pool knows itself is newer. */
  readonly lastAccount?: string;
}

/** One request for a slot. */
export interface AcquireRequest {
  /** Shown in the lease list of the queue status. */
  readonly requestId: string;
  /** Distinguishes this request from others, since callers can choose the `requestId` freely. Absent: use `requestId`. */
  readonly identity?: string;
  /** Resolved model id; shown in the lease list. */
  readonly model: string;
  /**
   * The provider whose accounts may be used; {@link ANY_PROVIDER} only together with `target`. Absent: the default
   * provider.
   */
  readonly provider?: string;
  /** API style of the caller; shown in the lease list. */
  readonly dialect?: string;
  /** Id of the caller's key; shown in the lease list. Absent if there is no key. */
  readonly key?: string;
  /**
   * Digest of the caller's key, never the key itself, for fair sharing of slots and queue. Absent for the gateway's own
   * requests.
   */
  readonly caller?: string;
  /**
   * Identifier, e-mail or mobile of a pinned account (docs/contract/keys.md, Authentication, rule 3). The request waits
   * for this account only.
   */
  readonly target?: string;
  /** Identifiers of the accounts that this request has already tried. The pool then offers only healthy accounts. */
  readonly exclude?: readonly string[];
  /** True if the pinned account may be a disabled one. */
  readonly disabledToo?: boolean;
  /** Maximum wait in the queue, milliseconds; 0 to fail instead of waiting. Absent: the pool's setting. */
  readonly waitMs?: number;
  /** Absent: the accounts take turns. */
  readonly selection?: AccountSelection;
  /** Absent if the caller's key has no limits to count. */
  readonly use?: LimitedUse;
  /** Version of the configuration that the request was prepared with. */
  readonly configVersion?: number;
  /** The caller acquires what `AcquireGrant.shared` and `AcquireRefusal.shared` name at the first pool shard. */
  readonly sharesLimits?: boolean;
  /** Refuse rather than use an account in cooldown or half-open state: another pool shard may have a healthy one. */
  readonly healthyOnly?: boolean;
  /** False if the release of the slot without a report says nothing about the account. Absent: it counts as a success. */
  readonly releaseIsSuccess?: false;
}

/**
 * The limits of all pool shards together that apply to a request. The first shard counts them, as slots of providers with
 * these names.
 */
export interface SharedLimitNames {
  /** Of which a request must have a slot in addition to an account's. Absent: no global limit is set. */
  readonly slots?: string;
  /** For which a request waits while it waits at any shard. */
  readonly queue: string;
}

/** The pool granted no slot. `failure` is the provider's failure during an outage. */
export interface AcquireRefusal {
  readonly refused: RefusalReason;
  readonly failure?: AccountFailure;
  /** The exhausted limit; present if `refused` is `limited`. */
  readonly limit?: LimitRefusal;
  /** What remains of the limits of the request's subjects, if they are counted. */
  readonly limits?: RemainingLimits;
  /** The pool has healthy accounts, but all are busy. Set only for a request with `healthyOnly`. */
  readonly hasHealthyAccount?: boolean;
  /** The queue of all pool shards together is full: do not ask again. */
  readonly isFull?: boolean;
  /** What a request must acquire at the first shard before it waits. Absent: no limit is shared. */
  readonly shared?: SharedLimitNames;
}

/** The pool granted a slot. */
export interface AcquireGrant {
  readonly lease: Lease;
  /** The request runs beside another one of its conversation, on another account. The conversation stays where it is. */
  readonly isBranch?: boolean;
  /** What remains of the limits of the request's subjects, if they are counted. */
  readonly limits?: RemainingLimits;
  /** Version of the newest configuration. Absent if no isolate can have an older one. */
  readonly configVersion?: number;
  /** What the request must acquire at the first shard, too. Absent: no limit is shared. */
  readonly shared?: SharedLimitNames;
}

export type AcquireResult = AcquireGrant | AcquireRefusal;

/** The result of counting a request that takes no slot. */
export type CountResult = { readonly limits: RemainingLimits } | AcquireRefusal;

/** The account of a lease, without credentials. Only a {@link SignInTicket} contains credentials. */
export interface LeasedAccount {
  /** E-mail, mobile, or `token:<hash>`. */
  readonly id: string;
  /** Bound proxy, empty when unbound. */
  readonly proxyId: string;
  /** The account's provider. Absent: the default provider. */
  readonly provider?: string;
  /** What the account's token is. Absent: an API key, or the token of a sign-in with a password. */
  readonly tokenType?: TokenType;
}

/** The task to sign the account in, on behalf of all requests that wait for its token. */
export interface SignInTicket {
  readonly ticket: string;
  readonly credentials: Credentials;
  /** A token that still works, if the sign-in is only the periodic refresh. Use it if the sign-in fails. */
  readonly current?: string;
}

/**
 * Why an account could not be used. Plain data: it crosses RPC, and every waiting request throws its own error from it.
 */
export interface AccountFailure {
  readonly kind: ProviderErrorKind;
  /** For administrators and callers; holds no secret. */
  readonly message: string;
  /** The provider's own words where `message` is a fixed text; for administrators only. Absent: none. */
  readonly upstreamWords?: string;
  /**
   * Whether `message` has the provider's own words: they may quote the request that failed,
   * which other callers must not read.
   */
  readonly isQuote?: true;
  /** The upstream's HTTP status, 0 when there was none. */
  readonly status: number;
  /** Null if none of them is at fault, or the request itself is. */
  readonly fault: FaultParty | null;
  /** Seconds after which the upstream accepts a retry; null if it did not say. */
  readonly retryAfter: number | null;
}

/**
 * The provider that may receive an account's token or credentials, according to the configuration at the time of
 * handing out.
 */
export interface CredentialAudience {
  /** The account's current provider. Absent: the default provider. */
  readonly provider?: string;
  /** See {@link AcquireGrant}. */
  readonly configVersion?: number;
}

/** A quota that a provider states for an account. */
export interface QuotaWindow {
  /** The provider's name of it, for example `requests`, `5h` or `primary`. */
  readonly name: string;
  /** What is left, as a share from 0 to 1. */
  readonly remaining: number;
  /** Whether the provider refuses further requests until `resetsAt`. */
  readonly isExhausted: boolean;
  /** When it begins anew, Unix milliseconds. */
  readonly resetsAt: number;
  /** Whether it limits only the requested model. */
  readonly isOfModel: boolean;
}

export type TokenResult =
  | ({
      readonly token: string;
      /** Unix milliseconds; absent or 0: unknown. */
      readonly expiresAt?: number;
    } & CredentialAudience)
  | ({ readonly signIn: SignInTicket } & CredentialAudience)
  | { readonly failed: AccountFailure };

/**
 * A slot on one account, held until `release` or disposal. All methods are safe to call after release.
 * A lease expires unless renewed: call `renew` every half second (`HEARTBEAT_MS`), and stop using the account when it
 * returns false.
 */
export interface Lease extends Disposable {
  readonly account: LeasedAccount;
  /** A usable token, if the pool knew one when it granted the lease. */
  readonly initialToken: string | null;
  /**
   * Returns a token for this account. `stale` is a token that the provider has rejected. Waits while another request
   * signs the account in; returns a {@link SignInTicket} if this request must sign in. `getAccountToken` in `sign-in.ts`
   * handles both cases.
   */
  getToken(stale?: string): Promise<TokenResult>;
  /** Completes the sign-in of a ticket with the new token. */
  completeSignIn(ticket: string, result: SignInResult): Promise<void>;
  /** Reports that the sign-in of a ticket failed: all waiting requests get the failure, and the account enters cooldown. */
  failSignIn(ticket: string, failure: AccountFailure): Promise<void>;
  /**
   * Extends the lease. Returns false if the pool reclaimed the slot, or may reclaim it before the next call: stop using
   * the account. The promise always resolves before that time. Most calls send nothing.
   */
  renew(): Promise<boolean>;
  /** Reports that the account answered. Ends a series of failures; costs nothing if there was none. */
  reportSuccess(): Promise<void>;
  /**
   * Reports that a request on this account failed. The party at fault decides the consequences. Resolves with whether
   * another account is healthy.
   */
  reportFailure(failure: AccountFailure): Promise<boolean>;
  /** Reports what the provider says is left for the account. While nothing is left, other accounts are used. */
  reportQuota(windows: readonly QuotaWindow[]): Promise<void>;
  /** Returns the slot to the pool. Never throws and never waits; only the first call counts. */
  release(): void;
}

/** The account pool as requests and administrators see it. */
export interface AccountPoolClient {
  /**
   * Waits for a slot. Resolves with a refusal instead of throwing; rejects only if the pool is unreachable. If `signal`
   * aborts, the request leaves the queue, and a slot granted at that moment returns to the pool.
   */
  acquire(request: AcquireRequest, signal?: AbortSignal): Promise<AcquireResult>;
  /** Counts a request that takes no slot, for subjects with limits. Its usage is final. */
  countRequest(use: LimitedUse): Promise<CountResult>;
  /**
   * Records the final usage of a request with limits. Only the first call per request counts. All later calls
   * of this client see the result.
   */
  settleUsage(use: LimitedUse, spent: SpentAmounts): Promise<void>;
  /** Current usage of the subjects that have limits and were used this month; with `subject`, of this one only. */
  listSubjectUsage(subject?: string): Promise<SubjectUsage[]>;
  /**
   * `maxEntries` bounds each list; then the entries that need attention come first. Absent: all entries, in no special
   * order.
   */
  getStatus(maxEntries?: number): Promise<QueueStatus>;
  /** Health of the given accounts, or of all. Skips unknown identifiers. */
  getHealth(ids?: readonly string[]): Promise<AccountHealth[]>;
  /** Records the result of an account test. Rejects (503) if the account's pool shard does not answer. */
  setTestStatus(id: string, status: string): Promise<void>;
  /** Identifiers of the accounts that can sign in and whose token is older than the refresh interval. */
  listTokensDueForRefresh(): Promise<string[]>;
  /** Sends a changed configuration to the pool. */
  configure(configuration: PoolConfiguration): Promise<void>;
}

/** The sign-in data of an account. */
export interface Credentials {
  readonly email: string;
  readonly mobile: string;
  readonly password: string;
  /** The token of a token-only account: every sign-in of an account without a password returns it. */
  readonly token: string;
  /** How to get an access token, with the newest refresh token. Absent: the account signs in at its provider. */
  readonly auth?: AccountAuth;
}

/** The replacement of a refresh token by a token endpoint (RFC 6749, section 6). */
export interface RefreshTokenRotation {
  readonly replaced: string;
  readonly refreshToken: string;
}

/** A token and its expiry in Unix seconds; 0 if unknown. */
export interface SignInResult {
  readonly token: string;
  readonly expiresAt: number;
  /** The pool stores the new refresh token, unless it has a newer one. */
  readonly rotation?: RefreshTokenRotation;
}
