import { ProviderError } from "../errors/provider-error.ts";
import { faultOf } from "./fault.ts";

/** How an attempt with an account ended. */
export interface FailedAttempt {
  readonly account: string;
  readonly error: unknown;
  /** Whether the account was signed in and the work had started. */
  readonly begun: boolean;
  /** Whether another account is healthy, busy or not. */
  readonly othersWell: boolean;
  /** Whether the caller has seen no result yet, so the work may be retried. */
  readonly repeatable: boolean;
  /** Whether the work asks for another account, although this account did nothing wrong. */
  readonly wanted: boolean;
}

/** Limits of the search for a working account. */
export interface FailoverOptions {
  /** Whether the request accepts only one specific account. */
  readonly pinned: boolean;
  /** How many other accounts to try after failures of the provider. */
  readonly others: number;
  /**
   * Deadline for trying further accounts after failures in which the provider did not see the request, milliseconds since
   * the epoch.
   */
  readonly until: number;
  /**
   * Deadline for trying other accounts after a failure of the provider, milliseconds since the epoch. After a long silence
   * the request does not wait a second time: its caller is waiting, and it occupies slots that other requests need.
   */
  readonly othersUntil: number;
}

/**
 * Records a request's failed attempts, and chooses the next step and the final error. It does no I/O: `withAccount` acts on
 * its decisions.
 *
 * When an account's sign-in fails, its token is refused, or its proxy does not work, the provider has not seen the request.
 * The request then tries further accounts until its queue timeout. Any other failure may be caused by the request itself,
 * so the request tries only a limited number of other accounts.
 */
export class Failover {
  /** The accounts that have failed. */
  readonly tried: string[] = [];
  readonly #options: FailoverOptions;
  readonly #failures: unknown[] = [];
  #others = 0;
  #othersWell = false;

  constructor(options: FailoverOptions) {
    this.#options = options;
  }

  /** Records an attempt that failed at `now`. Returns whether to try another account. */
  goesOn(attempt: FailedAttempt, now: number): boolean {
    const { account, error, begun, repeatable, wanted } = attempt;
    this.#othersWell = attempt.othersWell;
    this.tried.push(account);
    this.#failures.push(error);
    if (this.#options.pinned) return false;
    if (faultOf(error) === null) return wanted;
    if (begun && !repeatable) return false;
    if (isUnheard(error, begun)) return now < this.#options.until;
    this.#others += 1;
    return this.#others <= this.#options.others && now < this.#options.othersUntil;
  }

  /**
   * The error for the caller. A failure of the provider is preferred: it says more than a problem of one account. An
   * account's problem is reported only if no account is healthy, and never as if the caller's own key were wrong.
   *
   * @param busy why the pool granted no further account although one is healthy
   */
  verdict(busy: unknown = null): unknown {
    const { pinned } = this.#options;
    const telling = this.#failures.findLast((failure) => !isAccountsOwn(failure)) ?? this.#failures.at(-1);
    if (!(telling instanceof ProviderError) || !isAccountsOwn(telling)) return telling;
    if (!pinned && busy !== null) return busy;
    if (!pinned && this.#othersWell) return renamed(telling, "account_suspended");
    return telling.kind === "token_expired" ? renamed(telling, "invalid_credentials") : telling;
  }
}

/** Whether the failure happened before the provider saw the request. */
function isUnheard(error: unknown, begun: boolean): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { kind } = error;
  return isAccountsOwn(error) || (!begun && kind === "account_suspended");
}

/** Whether the failure concerns only the account or its proxy, and says nothing about the provider. */
function isAccountsOwn(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { kind } = error;
  return faultOf(error) === "proxy" || kind === "invalid_credentials" || kind === "token_expired";
}

function renamed(error: ProviderError, kind: "account_suspended" | "invalid_credentials"): ProviderError {
  return new ProviderError(kind, error.message, error.status, error);
}
