import type { AccountFailure, Lease, LeasedAccount, SignedIn, TokenAnswer } from "../accounts.ts";
import type { UseHold } from "./use-hold.ts";

/** A lease of one of several shards. */
export class ShardedLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #lease: Lease;
  readonly #othersAreWell: (() => Promise<boolean>) | null;
  readonly #hold: UseHold | null;

  /**
   * @param othersAreWell whether another shard has a healthy account; null: the request needs its target account
   * @param hold keeps the request counted at the quota shard; null: its key has no limits
   */
  constructor(lease: Lease, othersAreWell: (() => Promise<boolean>) | null, hold: UseHold | null) {
    this.account = lease.account;
    this.initialToken = lease.initialToken;
    this.#lease = lease;
    this.#othersAreWell = othersAreWell;
    this.#hold = hold;
  }

  token(stale?: string): Promise<TokenAnswer> {
    return this.#lease.token(stale);
  }

  signedIn(ticket: string, result: SignedIn): Promise<void> {
    return this.#lease.signedIn(ticket, result);
  }

  signInFailed(ticket: string, failure: AccountFailure): Promise<void> {
    return this.#lease.signInFailed(ticket, failure);
  }

  async renew(): Promise<boolean> {
    return (await this.#lease.renew()) && (this.#hold === null || (await this.#hold.counts()));
  }

  succeeded(): Promise<void> {
    return this.#lease.succeeded();
  }

  async failed(failure: AccountFailure): Promise<boolean> {
    if (await this.#lease.failed(failure)) return true;
    return this.#othersAreWell === null ? false : this.#othersAreWell();
  }

  release(): void {
    this.#hold?.end();
    this.#lease.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
