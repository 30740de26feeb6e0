import type { Credentials } from "../platform/accounts.ts";
import type { PoolAccount } from "../platform/pool-configuration.ts";
import type { Cooldown } from "./cooldown.ts";
import { Health } from "./health.ts";
import type { Lane } from "./lane.ts";
import { LinkedList, ListNode } from "./linked-list.ts";
import type { StoredAccount } from "./pool-store.ts";
import type { ProxyState } from "./proxies.ts";
import { SignInGate } from "./sign-in-gate.ts";
import { Trust } from "./trust.ts";
import type { Waiter } from "./waiting-queue.ts";

/** Everything that the pool knows of one account. As a list node it stands in the rotation. */
export class AccountState extends ListNode<AccountState> {
  readonly id: string;
  /** The provider that it belongs to. */
  lane: Lane;
  /** The account's configuration; null once it is removed, while slots are still held. */
  account: PoolAccount | null = null;
  /** Slots held by known leases. */
  leases = 0;
  /** Slots that a lease from before a restart may hold, although its holder has not spoken up yet. */
  ghosts = 0;
  /** Slots that another pool may have granted, of which the account was before. */
  elsewhere = 0;
  /** Durable high-water mark: no more slots than this were ever held since it was lowered last. */
  mark = 0;
  /** Most slots held at once in the current and in the previous window of the sweep. */
  peak = 0;
  previousPeak = 0;
  /** The present series of failures, also after its cooldown has passed. */
  cooldown: Cooldown | null = null;
  /** The cooldown has not passed yet. */
  cooling = false;
  /** The proxy that the account is bound to. */
  proxy: ProxyState | null = null;
  /** Configured and not passed over; kept by the rotation. */
  healthy = false;
  /** Leases granted up to this serial number say nothing new about the account: they were granted before it failed. */
  failedAt = 0;
  /** How often the provider has failed on it in a row, while it worked with others. */
  strikes = 0;
  readonly health = new Health();
  readonly trust = new Trust();
  /** Requests that it has got in its present turn. */
  turn = 0;
  testStatus = "";
  /** The row in durable storage, if any. */
  stored: StoredAccount | null = null;
  readonly gate = new SignInGate();
  /** Requests pinned to this account, in order of arrival. */
  readonly waiters = new LinkedList<Waiter>();

  constructor(id: string, lane: Lane) {
    super();
    this.id = id;
    this.lane = lane;
  }

  get held(): number {
    return this.leases + this.ghosts;
  }

  /** It is configured, and lives in this pool. */
  get isOwn(): boolean {
    return this.account !== null && this.account.moved !== true;
  }

  /** It is the pool's, and may be chosen. */
  get enabled(): boolean {
    return this.isOwn && this.account?.disabled !== true;
  }

  /** It is passed over, for a failure of its own or of its proxy. */
  get passedOver(): boolean {
    return this.cooling || this.proxy?.cooling === true;
  }

  /** Until when it is passed over, Unix milliseconds; 0 when it is not. */
  get passedOverUntil(): number {
    const own = this.cooling ? (this.cooldown?.until ?? 0) : 0;
    return this.proxy?.cooling === true ? Math.max(own, this.proxy.cooldown?.until ?? 0) : own;
  }

  /** It, or its proxy, has failed lately, or it has never worked: a success is news. */
  get failing(): boolean {
    return (
      !this.trust.earned ||
      this.cooldown !== null ||
      this.strikes > 0 ||
      (this.proxy !== null && this.proxy.cooldown !== null)
    );
  }

  /** What the account signs in with; null for token-only and for removed accounts. */
  get credentials(): Credentials | null {
    const account = this.account;
    if (account === null || account.password === "" || (account.email === "" && account.mobile === ""))
      return null;
    const { email, mobile, password, token } = account;
    return { email, mobile, password, token };
  }
}
