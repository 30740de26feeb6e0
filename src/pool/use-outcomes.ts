import type { AccountFailure } from "../platform/accounts.ts";
import type { AccountState } from "./account-state.ts";
import type { AccountTokens } from "./account-tokens.ts";
import type { Witness } from "./breaker.ts";
import { identityOf } from "./identity.ts";
import type { LeaseRecord } from "./leases.ts";
import type { ProviderTrials } from "./provider-trials.ts";
import type { Proxies } from "./proxies.ts";
import type { Slots } from "./slots.ts";

/** An account on which the provider fails so often, while it works with others, cools down. */
const STRIKES = 3;

/** Who tells how the provider did. */
function witness({ holder, state: { id: account }, serial }: LeaseRecord): Witness {
  return { request: identityOf(holder), model: holder.model, account, serial };
}

/** What the pool learns from how uses of accounts ended: which account, proxy or provider is to blame, or works again. */
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
   * A failure that is the account's or its proxy's fault, if it is anybody's.
   *
   * @param serial number of the request that tells of it
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

  /** The account is not blamed, unless the provider fails on it again and again, and works with others in between. */
  #providerFailed(lease: LeaseRecord, failure: AccountFailure): void {
    const { state, serial } = lease;
    const { lane } = state;
    const { serial: newest } = this.#slots;
    // What lies behind a proxy may be the proxy.
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
