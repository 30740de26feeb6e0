import { ProviderError } from "../errors/provider-error.ts";
import { faultOf } from "./fault.ts";

/** How an attempt with an account ended. */
export interface FailedAttempt {
  readonly account: string;
  readonly error: unknown;
  /** The account was signed in, and the work had begun. */
  readonly begun: boolean;
  /** Another account is well, busy or not. */
  readonly othersWell: boolean;
  /** Nothing of the work has been seen: it may be done again. */
  readonly repeatable: boolean;
  /** Whoever works wants another account, although this one did nothing wrong. */
  readonly wanted: boolean;
}

/** What bounds the search for an account that works. */
export interface FailoverOptions {
  /** The request wants one account and no other. */
  readonly pinned: boolean;
  /** How many other accounts are tried when the provider fails. */
  readonly others: number;
  /** Until when a request goes on to accounts that it has not come to speak through, milliseconds since the epoch. */
  readonly until: number;
  /**
   * Until when other accounts are tried after a failure of the provider. A silence that has lasted this long is not sat through
   * once more, by a caller who waits and on slots that others want.
   */
  readonly othersUntil: number;
}

/**
 * What a request has been through in search of an account, what is tried next, and what its caller is told in the end.
 * Pure: it decides, `withAccount` acts.
 *
 * An account that cannot be spoken through (its sign-in fails, its token is refused, its proxy does not work) has not shown
 * the provider the request, and is passed over from then on: such accounts are left as long as the request may wait for one at
 * all. Any other failure may be the request's doing, and is tried on so many others.
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

  /** Whether another account is to be tried after an attempt that failed at `now`. */
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
   * What the caller is told. A failure of the provider says more than one account's trouble, which is told only where no
   * account is well: then as the account's, never as if the caller's own key were wrong.
   *
   * @param busy why no further account was granted although one is well
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

/** Whether a failure came before the provider had heard anything of the request. */
function isUnheard(error: unknown, begun: boolean): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { kind } = error;
  return isAccountsOwn(error) || (!begun && kind === "account_suspended");
}

/** Whether a failure says nothing of the provider: its account cannot be spoken through. */
function isAccountsOwn(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { kind } = error;
  return faultOf(error) === "proxy" || kind === "invalid_credentials" || kind === "token_expired";
}

function renamed(error: ProviderError, kind: "account_suspended" | "invalid_credentials"): ProviderError {
  return new ProviderError(kind, error.message, error.status, error);
}
