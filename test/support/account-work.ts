import { ProviderError, type ProviderErrorKind } from "../../src/core/errors/provider-error.ts";
import type { Context } from "../../src/core/ports/context.ts";
import type { AccountRequest, AccountSession } from "../../src/gateway/accounts/account-request.ts";
import { withAccount } from "../../src/gateway/accounts/with-account.ts";
import { type MemoryGateway, managed } from "./memory-gateway.ts";

/** Runs work with an account, for tests. */
export class AccountWork {
  readonly context: Context;
  readonly abort = new AbortController();
  /** Tokens of the calls to the provider, oldest first. */
  readonly tokens: string[] = [];
  readonly #request: Partial<AccountRequest>;

  constructor(gateway: MemoryGateway, request: Partial<AccountRequest> = {}) {
    this.context = gateway.context();
    this.#request = request;
  }

  /** Runs work with an account. */
  with<T>(work: (session: AccountSession) => Promise<T>): Promise<T> {
    const { context, abort } = this;
    const request = { context, caller: managed(), model: "m", dialect: "test", abort, ...this.#request };
    return withAccount(request, (session) => {
      this.tokens.push(session.account.token);
      return work(session);
    });
  }

  /** Fails with these failures, one per try; then succeeds. */
  failing(...failures: readonly unknown[]): Promise<string> {
    const rest = [...failures];
    return this.with(async ({ accountId }) => {
      if (rest.length > 0) throw rest.shift();
      return accountId;
    });
  }

  /** Makes one call whose token is rejected as expired `times` times. Resolves with the tokens used. */
  expiring(times: number): Promise<readonly string[]> {
    const tokens: string[] = [];
    return this.with((session) =>
      session.runWithToken(async ({ token }) => {
        tokens.push(token);
        if (tokens.length <= times) throw refusal("token_expired");
        return tokens;
      }),
    );
  }

  /** Holds an account for some milliseconds, or until the work is aborted. */
  lasting(milliseconds: number): Promise<string> {
    const { signal } = this.abort;
    return this.with(
      ({ accountId }) =>
        new Promise((resolve, reject) => {
          const timer = setTimeout(() => resolve(accountId), milliseconds);
          signal.addEventListener("abort", () => {
            clearTimeout(timer);
            reject(signal.reason);
          });
        }),
    );
  }
}

/** An error of the provider. */
export function refusal(kind: ProviderErrorKind): ProviderError {
  return new ProviderError(kind, `the provider says ${kind}`);
}
