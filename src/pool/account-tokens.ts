import type { AccountFailure, SignedIn, TokenAnswer } from "../platform/accounts.ts";
import type { PoolAccount } from "../platform/pool-configuration.ts";
import type { AccountState } from "./account-state.ts";
import { nextCooldown } from "./cooldown.ts";
import type { PoolStore, StoredAccount } from "./pool-store.ts";

/** What a token that is kept was got with: one of another provider must never be sent to this one. */
function configuredToken({ provider = "", token }: PoolAccount): string {
  return provider === "" ? token : `${provider}\n${token}`;
}

/** Tokens, tests and failures of the accounts: what is kept of them in durable storage, and when. */
export class AccountTokens {
  /** Age at which a token is signed in anew, milliseconds; 0 for never. */
  refreshMs = 0;
  readonly #store: PoolStore;

  constructor(store: PoolStore, now: number, state: (id: string) => AccountState) {
    this.#store = store;
    for (const stored of store.loadAccounts()) this.#know(state(stored.id), stored, now);
  }

  /** Takes over what another pool knows of an account that has come from there, unless this one knows something itself. */
  adopt(state: AccountState, stored: StoredAccount, now: number): void {
    const { account } = state;
    if (account === null || state.stored !== null) return;
    this.#know(state, stored, now);
    this.#start(state, account, now);
    this.#save(state);
  }

  #know(state: AccountState, stored: StoredAccount, now: number): void {
    state.stored = stored;
    state.testStatus = stored.testStatus;
    state.cooldown = stored.cooldown;
    state.cooling = stored.cooldown !== null && stored.cooldown.until > now;
    if (stored.cooldown !== null) state.trust.lose();
    else if (stored.proven) state.trust.earn();
  }

  /** Takes over an account's configuration. Changed credentials end what was known of the old ones. */
  configure(state: AccountState, account: PoolAccount, now: number): void {
    const before = state.account;
    state.account = account;
    if (before === null) {
      this.#start(state, account, now);
      return;
    }
    const tokenChanged = before.token !== account.token;
    const passwordChanged = before.password !== account.password;
    if (!tokenChanged && !passwordChanged) return;
    state.cooldown = null;
    state.cooling = false;
    state.trust.reset();
    if (tokenChanged && account.token !== "") {
      state.gate.hold({ token: account.token, expiresAt: 0, issuedAt: now }, now, state.credentials);
    } else if (passwordChanged || tokenChanged) {
      state.gate.hold(null, now, state.credentials);
    }
    this.#save(state);
  }

  #start(state: AccountState, account: PoolAccount, now: number): void {
    const { stored } = state;
    const isKnown = stored !== null && stored.configuredToken === configuredToken(account);
    if (!isKnown) {
      // What is kept was learnt with another token, or of another provider's account.
      state.cooldown = null;
      state.cooling = false;
      state.trust.reset();
    }
    if (isKnown && stored.token !== "") {
      state.gate.hold(
        { token: stored.token, expiresAt: stored.expiresAt, issuedAt: stored.issuedAt },
        now,
        state.credentials,
      );
    } else if (account.token !== "") {
      state.gate.hold({ token: account.token, expiresAt: 0, issuedAt: now }, now, state.credentials);
    } else {
      state.gate.hold(null, now, state.credentials);
    }
  }

  /** The account is gone from the configuration: whoever waits for its token learns that there is none. */
  gone(state: AccountState, now: number): void {
    this.remove(state);
    state.gate.hold(null, now, null);
  }

  /** The account is another one from now on, or none. */
  remove(state: AccountState): void {
    state.account = null;
    state.cooldown = null;
    state.cooling = false;
    state.strikes = 0;
    state.trust.reset();
    state.turn = 0;
    state.testStatus = "";
    state.gate.withdraw();
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
  ): TokenAnswer | Promise<TokenAnswer> {
    return state.gate.request(lease, stale, now, this.refreshMs, state.credentials);
  }

  signedIn(state: AccountState, ticket: string, result: SignedIn, now: number): void {
    if (state.gate.signedIn(ticket, result, now)) this.#save(state);
  }

  /** True when the account should cool down: nobody can use it now. */
  signInFailed(state: AccountState, ticket: string, failure: AccountFailure, now: number): boolean {
    return state.gate.failed(ticket, failure, now) && !state.gate.usable(now);
  }

  /** A lease ended. */
  leaseEnded(state: AccountState, lease: string, now: number): void {
    if (state.gate.busy) state.gate.holderGone(lease, now, state.credentials);
  }

  /** The account failed, and cools down. */
  fail(state: AccountState, failure: AccountFailure, now: number): void {
    state.cooldown = nextCooldown(state.cooldown, failure, now);
    state.cooling = true;
    state.trust.lose();
    this.#save(state);
  }

  /**
   * The account works, for a request that was granted after it failed last; `proxyToo`: and after its proxy did. True when that
   * ends a series of failures, or a trial.
   */
  succeed(state: AccountState, proxyToo: boolean): boolean {
    const proven = proxyToo && state.account !== null && state.trust.earn();
    if (state.cooldown === null && !proven) return false;
    state.cooldown = null;
    state.cooling = false;
    this.#save(state);
    return true;
  }

  setTestStatus(state: AccountState, status: string): void {
    if (state.testStatus === status) return;
    state.testStatus = status;
    this.#save(state);
  }

  /** Whether the account's token should be signed in anew although it still serves. */
  due(state: AccountState, now: number): boolean {
    return state.credentials !== null && state.gate.due(now, this.refreshMs);
  }

  #save(state: AccountState): void {
    const { account, gate } = state;
    if (account === null) return;
    state.stored = {
      id: state.id,
      token: gate.held?.token ?? "",
      expiresAt: gate.held?.expiresAt ?? 0,
      issuedAt: gate.held?.issuedAt ?? 0,
      configuredToken: configuredToken(account),
      testStatus: state.testStatus,
      proven: state.trust.earned,
      cooldown: state.cooldown,
    };
    this.#store.saveAccount(state.stored);
  }
}
