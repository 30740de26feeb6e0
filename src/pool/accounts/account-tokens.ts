import type { AccountFailure, SignInResult, TokenResult } from "../../core/ports/accounts.ts";
import type { PoolAccount } from "../../core/ports/pool-configuration.ts";
import type { PoolStore, StoredAccount } from "../storage/pool-store.ts";
import type { AccountState } from "./account-state.ts";

/**
 * The credential that a stored token belongs to. It includes the provider: a token of one provider must never reach another
 * one.
 */
function configuredToken({ provider = "", token, auth, endpointDigest = "" }: PoolAccount): string {
  const own = token === "" && endpointDigest !== "" ? `endpoint ${endpointDigest}` : token;
  const credential = auth === undefined ? own : `auth ${auth.grantDigest}`;
  return provider === "" ? credential : `${provider}\n${credential}`;
}

/** Whether two configurations of an account get access tokens in the same way. */
function hasSameAuth(left: PoolAccount, right: PoolAccount): boolean {
  if (left.endpointDigest !== right.endpointDigest) return false;
  return left.auth === right.auth || JSON.stringify(left.auth) === JSON.stringify(right.auth);
}

/** Tokens, test results and failures of the accounts. Decides what is stored of them, and when. */
export class AccountTokens {
  /** Age at which a token is refreshed by a new sign-in, milliseconds; 0: never. */
  refreshMs = 0;
  readonly #store: PoolStore;

  constructor(store: PoolStore, now: number, state: (id: string) => AccountState) {
    this.#store = store;
    for (const stored of store.loadAccounts()) this.#loadStored(state(stored.id), stored, now);
  }

  /** Imports what another shard knows about an account that has moved here, unless this pool already has stored state. */
  importState(state: AccountState, stored: StoredAccount, now: number): void {
    const { account } = state;
    if (account === null || state.stored !== null) return;
    this.#loadStored(state, stored, now);
    this.#initializeToken(state, account, now);
    this.#save(state);
  }

  #loadStored(state: AccountState, stored: StoredAccount, now: number): void {
    state.stored = stored;
    state.testStatus = stored.testStatus;
    state.refreshToken = stored.refreshToken;
    state.breaker.restore(stored.cooldown, stored.proven, now);
  }

  /** Applies an account's configuration. Changed credentials discard what was known about the old ones. */
  configure(state: AccountState, account: PoolAccount, now: number): void {
    const previous = state.account;
    state.account = account;
    if (previous === null) {
      this.#initializeToken(state, account, now);
      return;
    }
    const tokenChanged = previous.token !== account.token;
    const passwordChanged = previous.password !== account.password;
    const authChanged = !hasSameAuth(previous, account);
    if (!tokenChanged && !passwordChanged && !authChanged) return;
    state.breaker.reset();
    state.clearQuota();
    if (previous.auth?.grantDigest !== account.auth?.grantDigest) state.refreshToken = "";
    if ((tokenChanged || authChanged) && account.token !== "") {
      state.gate.replaceToken({ token: account.token, expiresAt: 0, issuedAt: now }, now, state.credentials);
    } else {
      state.gate.replaceToken(null, now, state.credentials);
    }
    this.#save(state);
  }

  #initializeToken(state: AccountState, account: PoolAccount, now: number): void {
    const { stored } = state;
    const isKnown = stored !== null && stored.configuredToken === configuredToken(account);
    if (!isKnown) {
      // The stored state belongs to another token, or to an account of another provider.
      state.breaker.reset();
      state.refreshToken = "";
    }
    if (isKnown && stored.token !== "") {
      state.gate.replaceToken(
        { token: stored.token, expiresAt: stored.expiresAt, issuedAt: stored.issuedAt },
        now,
        state.credentials,
      );
    } else if (account.token !== "") {
      state.gate.replaceToken({ token: account.token, expiresAt: 0, issuedAt: now }, now, state.credentials);
    } else {
      state.gate.replaceToken(null, now, state.credentials);
    }
  }

  /** The account was removed from the configuration. Requests that wait for its token get an error. */
  removeFromConfiguration(state: AccountState, now: number): void {
    this.clear(state);
    state.gate.replaceToken(null, now, null);
  }

  /** Discards all state of an account that is removed, or becomes another account. */
  clear(state: AccountState): void {
    state.account = null;
    state.breaker.reset();
    state.clearQuota();
    state.turn = 0;
    state.testStatus = "";
    state.refreshToken = "";
    state.gate.reset();
    if (state.stored !== null) this.#store.removeAccount(state.id);
    state.stored = null;
  }

  /** See `SignInGate.peek`. */
  peek(state: AccountState, now: number): string | null {
    return state.gate.peek(now, this.refreshMs, state.credentials !== null);
  }

  request(
    state: AccountState,
    lease: string,
    stale: string | undefined,
    now: number,
  ): TokenResult | Promise<TokenResult> {
    return state.gate.request(lease, stale, now, this.refreshMs, state.credentials);
  }

  /** See `SignInGate.signedIn`. A new refresh token is stored even when the ticket is not valid any more. */
  signedIn(state: AccountState, ticket: string, result: SignInResult, now: number): void {
    const isRotated = result.rotation !== undefined && this.#replaceRefreshToken(state, result.rotation);
    if (state.gate.signedIn(ticket, result, now) || isRotated) this.#save(state);
  }

  /** Replaces the account's refresh token. Returns false if the account has another one than the replaced one. */
  #replaceRefreshToken(
    state: AccountState,
    { replaced, refreshToken }: NonNullable<SignInResult["rotation"]>,
  ): boolean {
    if (state.credentials?.auth?.refresh_token !== replaced) return false;
    state.refreshToken = refreshToken;
    return true;
  }

  /** Returns true when the account must cool down: the sign-in failed and there is no usable token. */
  signInFailed(state: AccountState, ticket: string, failure: AccountFailure, now: number): boolean {
    return state.gate.failed(ticket, failure, now) && !state.gate.hasUsableToken(now);
  }

  leaseEnded(state: AccountState, lease: string, now: number): void {
    if (state.gate.hasPendingSignIn) state.gate.onLeaseEnded(lease, now, state.credentials);
  }

  /** The state of the account's circuit breaker has changed. */
  breakerChanged(state: AccountState): void {
    this.#save(state);
  }

  setTestStatus(state: AccountState, status: string): void {
    if (state.testStatus === status) return;
    state.testStatus = status;
    this.#save(state);
  }

  /** Whether the token should be refreshed although it is still usable. */
  isRefreshDue(state: AccountState, now: number): boolean {
    return state.credentials !== null && state.gate.isRefreshDue(now, this.refreshMs);
  }

  #save(state: AccountState): void {
    const { account, gate } = state;
    if (account === null) return;
    state.stored = {
      id: state.id,
      token: gate.currentToken?.token ?? "",
      expiresAt: gate.currentToken?.expiresAt ?? 0,
      issuedAt: gate.currentToken?.issuedAt ?? 0,
      configuredToken: configuredToken(account),
      refreshToken: state.refreshToken,
      testStatus: state.testStatus,
      proven: state.breaker.isProven,
      cooldown: state.breaker.cooldown,
    };
    this.#store.saveAccount(state.stored);
  }
}
