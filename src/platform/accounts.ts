import type { ProviderErrorKind } from "../errors/provider-error.ts";
import type { AbortSignalLike } from "../http/light-abort-controller.ts";
import type { AccountHealth, FaultParty, QueueStatus } from "./account-status.ts";
import type { KeyUse, LimitedUse, LimitRefusal, LimitState, Spent } from "./limits.ts";
import type { PoolConfiguration } from "./pool-configuration.ts";

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
  /** Tells its attempts from those of others, where the caller chose the `requestId`. Absent: that does. */
  readonly identity?: string;
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

/** The account pool as a request or an administrator sees it. */
export interface AccountPoolClient {
  /**
   * Waits for a slot. Resolves with a refusal rather than throwing; rejects only when the pool cannot be reached.
   * When `signal` aborts the request leaves the queue, and a slot granted in that moment goes back.
   */
  acquire(request: AcquireRequest, signal?: AbortSignalLike): Promise<Acquired>;
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
