import type {
  AccountFailure,
  Lease,
  LeasedAccount,
  QuotaWindow,
  SignInResult,
  TokenResult,
} from "../../../core/ports/accounts.ts";
import type { LimitLease } from "./limit-lease.ts";

/** A lease of one of several shards. */
export class ShardedLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #lease: Lease;
  readonly #isOtherShardHealthy: (() => Promise<boolean>) | null;
  readonly #limitLease: LimitLease | null;
  readonly #sharedSlot: Lease | null;

  /**
   * @param isOtherShardHealthy whether another shard has a healthy account; null: the request needs its target account
   * @param limitLease keeps the request counted at the limit shard; null: none of its subjects has limits
   * @param sharedSlot the request's slot of the limit for all shards together; null: there is no such limit
   */
  constructor(
    lease: Lease,
    isOtherShardHealthy: (() => Promise<boolean>) | null,
    limitLease: LimitLease | null,
    sharedSlot: Lease | null,
  ) {
    this.account = lease.account;
    this.initialToken = lease.initialToken;
    this.#lease = lease;
    this.#isOtherShardHealthy = isOtherShardHealthy;
    this.#limitLease = limitLease;
    this.#sharedSlot = sharedSlot;
  }

  getToken(stale?: string): Promise<TokenResult> {
    return this.#lease.getToken(stale);
  }

  completeSignIn(ticket: string, result: SignInResult): Promise<void> {
    return this.#lease.completeSignIn(ticket, result);
  }

  failSignIn(ticket: string, failure: AccountFailure): Promise<void> {
    return this.#lease.failSignIn(ticket, failure);
  }

  async renew(): Promise<boolean> {
    const renewals = [
      this.#lease.renew(),
      this.#sharedSlot?.renew() ?? true,
      this.#limitLease?.isCounted() ?? true,
    ];
    return (await Promise.all(renewals)).every(Boolean);
  }

  reportSuccess(): Promise<void> {
    return this.#lease.reportSuccess();
  }

  async reportFailure(failure: AccountFailure): Promise<boolean> {
    if (await this.#lease.reportFailure(failure)) return true;
    return this.#isOtherShardHealthy === null ? false : this.#isOtherShardHealthy();
  }

  reportQuota(windows: readonly QuotaWindow[]): Promise<void> {
    return this.#lease.reportQuota(windows);
  }

  release(): void {
    this.#limitLease?.end();
    this.#sharedSlot?.release();
    this.#lease.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
