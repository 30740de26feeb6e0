import type {
  AccountFailure,
  AccountPoolClient,
  AcquireRequest,
  Lease,
  LeasedAccount,
  QuotaWindow,
  SignInResult,
  TokenResult,
} from "../../../core/ports/accounts.ts";
import { leaseHolderOf, SLOT_RECLAIMED } from "../../../pool/leases/leases.ts";
import type { IsolateReporter, LocalRequest } from "./isolate-reporter.ts";
import type { TokenCache } from "./token-cache.ts";

/** What the leases of an isolate have in common. */
export interface LocalLeaseContext {
  /** The account pool of the deployment. */
  readonly pool: AccountPoolClient;
  readonly reporter: IsolateReporter;
  readonly tokens: TokenCache;
  /** Whether another account of the same provider is healthy. */
  hasOtherHealthyAccount(account: LeasedAccount): boolean;
}

/**
 * A lease on an account without a limit, which this isolate has selected itself. The deployment's pool is asked only for
 * tokens that the isolate does not have, with a slot there until the token is known.
 */
export class LocalLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #lease: Lease;
  readonly #acquireRequest: AcquireRequest;
  readonly #context: LocalLeaseContext;
  readonly #request: LocalRequest;
  /** The slot in the deployment's pool. */
  #tokenLease: Lease | null = null;
  #hasResult = false;
  #isReleased = false;

  constructor(lease: Lease, acquireRequest: AcquireRequest, context: LocalLeaseContext) {
    this.#lease = lease;
    this.#acquireRequest = acquireRequest;
    this.#context = context;
    this.account = lease.account;
    this.initialToken = context.tokens.get(lease.account.id) ?? lease.initialToken;
    this.#request = context.reporter.start(lease.account.id, leaseHolderOf(acquireRequest));
  }

  async getToken(stale?: string): Promise<TokenResult> {
    if (this.#isReleased) return SLOT_RECLAIMED;
    const { pool, tokens } = this.#context;
    const { selection: _, exclude: __, ...request } = this.#acquireRequest;
    const acquired = await pool.acquire({
      ...request,
      target: this.account.id,
      // The isolate reports the result of the request.
      releaseIsSuccess: false,
    });
    if (!("lease" in acquired)) return { failed: acquired.failure ?? UNAVAILABLE };
    this.#endTokenLease();
    this.#tokenLease = acquired.lease;
    if (this.#isReleased) {
      this.#endTokenLease();
      return SLOT_RECLAIMED;
    }
    const answer = await acquired.lease.getToken(stale);
    if (!("signIn" in answer)) this.#endTokenLease();
    if ("token" in answer) tokens.set(this.account.id, answer.token, answer.expiresAt ?? 0);
    return answer;
  }

  async completeSignIn(ticket: string, result: SignInResult): Promise<void> {
    this.#context.tokens.set(this.account.id, result.token, result.expiresAt * 1_000);
    await this.#tokenLease?.completeSignIn(ticket, result);
    this.#endTokenLease();
  }

  async failSignIn(ticket: string, failure: AccountFailure): Promise<void> {
    await this.#tokenLease?.failSignIn(ticket, failure);
    this.#endTokenLease();
  }

  #endTokenLease(): void {
    this.#tokenLease?.release();
    this.#tokenLease = null;
  }

  async renew(): Promise<boolean> {
    // No other request needs the slot, so it does not end when the isolate stalls.
    await this.#lease.renew();
    this.#context.reporter.tick();
    return this.#tokenLease === null || this.#tokenLease.renew();
  }

  reportSuccess(): Promise<void> {
    return this.#lease.reportSuccess();
  }

  async reportFailure(failure: AccountFailure): Promise<boolean> {
    this.#hasResult = true;
    if (failure.fault === null) return false;
    await this.#context.reporter.reportFailure(this.#request, failure);
    return this.#context.hasOtherHealthyAccount(this.account);
  }

  async reportQuota(windows: readonly QuotaWindow[]): Promise<void> {
    this.#context.reporter.reportQuota(this.#request, windows);
    await this.#lease.reportQuota(windows);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#endTokenLease();
    this.#lease.release();
    this.#context.reporter.end(this.#request, !this.#hasResult);
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/** The deployment's pool grants no slot on the account. */
const UNAVAILABLE: AccountFailure = {
  kind: "unreachable",
  message: "the account's token is not available",
  status: 0,
  fault: null,
  retryAfter: null,
};
