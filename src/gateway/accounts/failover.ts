import { ProviderError } from "../../core/errors/provider-error.ts";
import type { RetryBudget } from "../../core/retries/retry-budget.ts";
import { attributeFault } from "./fault-attribution.ts";

/** How an attempt with an account ended. */
export interface AttemptFailure {
  readonly account: string;
  readonly error: unknown;
  /** Whether the account was signed in and the work had started. */
  readonly hasStarted: boolean;
  /** Whether another account is healthy, busy or not. */
  readonly hasOtherHealthyAccount: boolean;
  /** Whether the caller has seen no result yet, so the work may be retried. */
  readonly canRetry: boolean;
  /** Whether the operation requests another account although this account has not failed. */
  readonly wantsAnotherAccount: boolean;
}

/** Limits of the search for a working account. */
interface FailoverOptions {
  /** Counts the retries of the request. */
  readonly retries: RetryBudget;
  /** Whether the request accepts only one specific account. */
  readonly isPinned: boolean;
  /** How many other accounts to try after failures of the provider. */
  readonly maxOtherAccounts: number;
  /**
   * Deadline for trying further accounts after failures in which the provider did not see the request, milliseconds since
   * the epoch.
   */
  readonly unreachedDeadline: number;
  /**
   * Deadline for trying other accounts after a failure of the provider, milliseconds since the epoch. After a long silence
   * the request does not wait a second time: its caller is waiting, and it occupies slots that other requests need.
   */
  readonly otherAccountsDeadline: number;
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
  readonly triedAccounts: string[] = [];
  readonly #options: FailoverOptions;
  readonly #failures: unknown[] = [];
  #hasOtherHealthyAccount = false;

  constructor(options: FailoverOptions) {
    this.#options = options;
  }

  /** Records an attempt that failed at `now`. Returns whether to try another account. */
  shouldRetry(attempt: AttemptFailure, now: number): boolean {
    const { account, error, hasStarted, canRetry, wantsAnotherAccount } = attempt;
    this.#hasOtherHealthyAccount = attempt.hasOtherHealthyAccount;
    this.triedAccounts.push(account);
    this.#failures.push(error);
    if (this.#options.isPinned) return false;
    const { retries, unreachedDeadline, otherAccountsDeadline, maxOtherAccounts } = this.#options;
    if (attributeFault(error) === null) return wantsAnotherAccount && retries.take("answer_account", error);
    if (hasStarted && !canRetry) return false;
    if (failedBeforeProvider(error, hasStarted))
      return now < unreachedDeadline && retries.take("unusable_account", error);
    return now < otherAccountsDeadline && retries.take("account", error, maxOtherAccounts);
  }

  /**
   * The error for the caller. A failure of the provider is preferred: it says more than a problem of one account. An
   * account's problem is reported only if no account is healthy, and never as if the caller's own key were wrong.
   *
   * @param busyError why the pool granted no further account although one is healthy
   */
  chooseError(busyError: unknown = null): unknown {
    const { isPinned } = this.#options;
    const mostInformative =
      this.#failures.findLast((failure) => !isAccountOrProxyFailure(failure)) ?? this.#failures.at(-1);
    if (!(mostInformative instanceof ProviderError) || !isAccountOrProxyFailure(mostInformative))
      return mostInformative;
    if (!isPinned && busyError !== null) return busyError;
    if (!isPinned && this.#hasOtherHealthyAccount) return withErrorKind(mostInformative, "account_suspended");
    return mostInformative.kind === "token_expired"
      ? withErrorKind(mostInformative, "invalid_credentials")
      : mostInformative;
  }
}

/** Whether the failure happened before the provider saw the request. */
function failedBeforeProvider(error: unknown, hasStarted: boolean): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { kind } = error;
  return isAccountOrProxyFailure(error) || (!hasStarted && kind === "account_suspended");
}

/** Whether the failure concerns only the account or its proxy, and says nothing about the provider. */
function isAccountOrProxyFailure(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { kind } = error;
  return attributeFault(error) === "proxy" || kind === "invalid_credentials" || kind === "token_expired";
}

function withErrorKind(
  error: ProviderError,
  kind: "account_suspended" | "invalid_credentials",
): ProviderError {
  const { message, status, upstreamWords } = error;
  return new ProviderError(kind, message, { status, cause: error, upstreamWords });
}
