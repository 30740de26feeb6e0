import { hashText } from "../../core/encoding/text-hash.ts";
import type { Credentials, QuotaWindow } from "../../core/ports/accounts.ts";
import type { PoolAccount } from "../../core/ports/pool-configuration.ts";
import { CircuitBreaker } from "../health/circuit-breaker.ts";
import { Health } from "../health/health.ts";
import { isSharedLimit } from "../shards/shared-limit-accounts.ts";
import type { StoredAccount } from "../storage/pool-store.ts";
import { ListNode } from "../structures/linked-list.ts";
import { SignInGate } from "./sign-in-gate.ts";

/** State of a proxy: when it fails, all accounts bound to it cool down. */
export class ProxyState {
  readonly id: string;
  readonly accounts = new Set<AccountState>();
  readonly breaker = new CircuitBreaker();

  constructor(id: string) {
    this.id = id;
  }
}

/**
 * Everything that the pool knows about one account. It is a list node because the rotation
 * keeps accounts in a linked list.
 */
export class AccountState extends ListNode<AccountState> {
  readonly id: string;
  /** The provider that it belongs to. Empty: the default provider. */
  provider = "";
  /** The account's configuration; null once it is removed, while slots are still occupied. */
  account: PoolAccount | null = null;
  /** Slots held by known leases. */
  leases = 0;
  /** Leases from before a restart that may still hold slots, although no holder has resumed them yet. */
  unconfirmedLeases = 0;
  /** Slots that an earlier shard of the account may still have granted. */
  slotsElsewhere = 0;
  /** Durable high-water mark: the account has never occupied more slots than this since the mark was last lowered. */
  highWaterMark = 0;
  /** Largest number of occupied slots in the current and in the previous window of the sweep. */
  peak = 0;
  previousPeak = 0;
  /** What the provider has said is left for the account. */
  quota: readonly QuotaWindow[] = [];
  /** When the account's exhausted quotas reset, Unix milliseconds; 0: none is exhausted. */
  quotaResetsAt = 0;
  /** The same for quotas of single models, by model. */
  readonly modelQuotaResets = new Map<string, number>();
  /** Whether the account waits for `quotaResetsAt`. */
  isOutOfQuota = false;
  /** The proxy that the account is bound to. */
  proxy: ProxyState | null = null;
  /** Configured, enabled and not cooling down. The rotation maintains this flag. */
  isHealthy = false;
  readonly health = new Health();
  readonly breaker = new CircuitBreaker();
  /** Requests granted in its current turn of the rotation. */
  turn = 0;
  testStatus = "";
  /** The refresh token that has replaced the configured one; empty: none has. */
  refreshToken = "";
  /** The account's row in durable storage, if any. */
  stored: StoredAccount | null = null;
  readonly gate = new SignInGate();
  /** Its place in the configuration, for the strategy `fill_first`. */
  position = 0;
  /** Hash of its id, for the strategy `affinity`. */
  readonly hash: number;

  constructor(id: string) {
    super();
    this.id = id;
    this.hash = hashText(id);
  }

  get occupiedSlots(): number {
    return this.leases + this.unconfirmedLeases;
  }

  /** Whether the account is configured and this pool owns it (it has not moved to another shard). */
  get isOwnedHere(): boolean {
    return this.account !== null && this.account.moved !== true;
  }

  /** Whether this pool owns the account, and it is not a limit that the pools share. */
  get isListed(): boolean {
    return this.isOwnedHere && !isSharedLimit(this.provider);
  }

  /** Whether this pool owns the account and may select it. */
  get isEnabled(): boolean {
    return this.isOwnedHere && this.account?.disabled !== true;
  }

  /** Forgets what the provider has said is left: the credentials are others now. */
  clearQuota(): void {
    this.quota = [];
    this.quotaResetsAt = 0;
    this.isOutOfQuota = false;
    this.modelQuotaResets.clear();
  }

  /** Whether its own cooldown, an exhausted quota or the cooldown of its proxy is running. */
  get isCoolingDown(): boolean {
    return this.breaker.isOpen || this.isOutOfQuota || this.proxy?.breaker.isOpen === true;
  }

  /** When the cooldown ends, Unix milliseconds; 0 without a cooldown. */
  get coolingDownUntil(): number {
    const quotaUntil = this.isOutOfQuota ? this.quotaResetsAt : 0;
    return Math.max(this.breaker.openUntil, quotaUntil, this.proxy?.breaker.openUntil ?? 0);
  }

  /**
   * Whether a request must report a success: the account or its proxy has failed recently, or
   * the account has never worked.
   */
  get mustReportSuccess(): boolean {
    return this.breaker.awaitsSuccess || (this.proxy !== null && this.proxy.breaker.cooldown !== null);
  }

  /** The credentials for a sign-in; null for token-only and for removed accounts. */
  get credentials(): Credentials | null {
    const account = this.account;
    if (account === null) return null;
    const { email, mobile, password, token, auth } = account;
    if (auth !== undefined) {
      const refreshToken = this.refreshToken === "" ? {} : { refresh_token: this.refreshToken };
      return { email, mobile, password: "", token: "", auth: { ...auth.settings, ...refreshToken } };
    }
    if (password === "" || (email === "" && mobile === "")) return null;
    return { email, mobile, password, token };
  }
}
