import type { Caller } from "../../core/auth/callers.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RetryBudget } from "../../core/retries/retry-budget.ts";
import type { ExpectedTokens } from "../../pool/limits/limited-use.ts";
import type { RegisteredProvider } from "../providers/provider-registry.ts";
import type { UpstreamAccount } from "../providers/upstream-account.ts";
import type { SelectableTurn } from "./conversation-accounts.ts";

/** A piece of work that needs a provider account. */
export interface AccountRequest {
  readonly context: Context;
  readonly caller: Caller;
  /** The provider whose account the work needs. Default: the default provider. */
  readonly provider?: RegisteredProvider;
  /** Canonical model id and API style, as the queue status shows them. Empty: none. */
  readonly model: string;
  readonly dialect: string;
  /** The conversation that the work belongs to, for session affinity. Absent: none. */
  readonly turn?: SelectableTurn;
  /** Ends the wait and the work. The lease renewal also aborts it when the slot is lost. */
  readonly abort: AbortController;
  /**
   * Whether failed work may be retried with another account. The caller must not have seen any result yet. Default: never.
   */
  readonly canRetry?: () => boolean;
  /** Whether to try another account after a failure that `attributeFault` attributes to no party. */
  readonly shouldTryAnotherAccount?: (failure: unknown) => boolean;
  /** Decides on the retries of the request, and lists its attempts. Default: a budget for this work alone. */
  readonly retries?: RetryBudget;
  /** How long to wait for an account, milliseconds. Default: the deployment's queue timeout. */
  readonly waitMs?: number;
  /** The expected usage of the work. Default: nothing. */
  readonly estimateUsage?: () => ExpectedTokens;
  /** The work reads or deletes what exists: used-up limits of tokens and cost do not refuse it. */
  readonly costsNothing?: true;
  /** Called for each account that fails, even when no other account is tried. */
  readonly onAccountFailed?: (account: string, failure: unknown) => void;
  /**
   * Called after each wait for a token, whether it succeeded or failed. `since`: when the wait began, milliseconds since
   * the epoch.
   */
  readonly onSignInWait?: (account: string, since: number) => void;
}

/** A request whose budget for retries is known. */
export type BudgetedRequest = AccountRequest & { readonly retries: RetryBudget };

/** Access to the provider with one account's credentials. */
export interface AccountSession {
  /** Account identifier. Empty with the caller's own token. */
  readonly accountId: string;
  /** The account with its current token. */
  readonly account: UpstreamAccount;
  /** Reports that the provider has begun to answer, so the account works. Further calls have no effect. */
  reportAnswering(): void;
  /** Runs `operation` with the account. If the token has expired, gets a new one and runs `operation` once more. */
  runWithToken<T>(operation: (account: UpstreamAccount) => Promise<T>): Promise<T>;
}
