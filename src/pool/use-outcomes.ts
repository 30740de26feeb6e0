import type { AccountFailure } from "../platform/accounts.ts";
import type { AccountState } from "./account-state.ts";
import type { AccountTokens } from "./account-tokens.ts";
import type { Witness } from "./breaker.ts";
import { identityOf } from "./identity.ts";
import type { LeaseRecord } from "./leases.ts";
import type { ProviderTrials } from "./provider-trials.ts";
import type { Proxies } from "./proxies.ts";
import type { Slots } from "./slots.ts";

/** An account cools down after this many consecutive provider failures, while the provider works with other accounts. */
const STRIKES = 3;

/** The request that reports how the provider did. */
function witness({ holder, state: { id: account }, serial }: LeaseRecord): Witness {
  return { request: identityOf(holder), model: holder.model, account, serial };
}

/** Records the results of account uses: decides which account, proxy or provider failed or works again. */
export class UseOutcomes {
  readonly #slots: Slots;
  readonly #tokens: AccountTokens;
  readonly #proxies: Proxies;
  readonly #trials: ProviderTrials;
  readonly #now: () => number;

  constructor(
    slots: Slots,
    tokens: AccountTokens,
    proxies: Proxies,
    trials: ProviderTrials,
    now: () => number,
  ) {
    this.#slots = slots;
    this.#tokens = tokens;
    this.#proxies = proxies;
    this.#trials = trials;
    this.#now = now;
  }

  /** See `AccountPool.failed`. */
  failed(lease: LeaseRecord, failure: AccountFailure): void {
    if (!lease.told) lease.state.health.failed(failure, this.#now());
    lease.told = true;
    if (failure.fault === "provider") this.#providerFailed(lease, failure);
    else this.blame(lease.state, failure, lease.serial);
  }

  /** See `AccountPool.succeeded`. */
  succeeded(lease: LeaseRecord): void {
    const { state, serial } = lease;
    const { proxy } = state;
    state.lane.breaker.succeeded(witness(lease));
    this.#trials.look(state.lane);
    const proxyWorks = proxy !== null && this.#proxies.succeed(proxy, serial);
    if (serial > state.failedAt) {
      state.strikes = 0;
      if (this.#tokens.succeed(state, serial > (proxy?.failedAt ?? 0))) this.#slots.replaced([state]);
    }
    if (proxyWorks) this.#slots.replaced(proxy.accounts);
  }

  /**
   * Records a failure caused by the account or its proxy; ignores one with another cause.
   *
   * @param serial serial number of the lease that reports it
   */
  blame(state: AccountState, failure: AccountFailure, serial: number): void {
    if (state.account === null) return;
    const { serial: newest } = this.#slots;
    const { proxy } = state;
    if (failure.fault === "proxy" && proxy !== null) {
      if (this.#proxies.fail(proxy, failure, serial, newest, this.#now()))
        this.#slots.replaced(proxy.accounts);
    } else if (failure.fault === "account" && serial > state.failedAt) {
      this.#tokens.fail(state, failure, this.#now());
      state.failedAt = newest;
      this.#slots.replaced([state]);
    }
  }

  /** Does not blame the account, unless the provider fails on it repeatedly and works with other accounts in between. */
  #providerFailed(lease: LeaseRecord, failure: AccountFailure): void {
    const { state, serial } = lease;
    const { lane } = state;
    const { serial: newest } = this.#slots;
    // When a proxy is used, "unreachable" may be a failure of the proxy.
    const unclear = failure.kind === "unreachable" && state.proxy !== null;
    const noted = unclear ? null : lane.breaker.failed(witness(lease), failure, newest, this.#now());
    if (noted?.goesOn != null) this.#trials.goesOn(lane, noted.goesOn);
    if (noted?.begins != null) this.#trials.begins(lane, noted.begins);
    if (state.account === null || serial <= state.failedAt || noted?.first === false) return;
    state.failedAt = newest;
    state.strikes += 1;
    if (state.strikes < STRIKES) return;
    this.#tokens.fail(state, failure, this.#now());
    this.#slots.replaced([state]);
  }
}
