import type { AccountFailure, Lease, LeasedAccount, SignedIn, TokenAnswer } from "../accounts.ts";
import type { UseHold } from "./use-hold.ts";

/** A lease of one of several pools. */
export class ShardedLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #lease: Lease;
  readonly #othersAreWell: (() => Promise<boolean>) | null;
  readonly #hold: UseHold | null;

  /**
   * @param othersAreWell whether an account of another pool is well; null: nobody wants another one
   * @param hold the request's key has limits
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
