import type { AccountFailure, QuotaWindow } from "../core/ports/accounts.ts";
import type { AccountState } from "./accounts/account-state.ts";
import type { AccountTokens } from "./accounts/account-tokens.ts";
import type { Proxies } from "./accounts/proxies.ts";
import type { CircuitProbe } from "./circuit-probe.ts";
import type { OutcomeSource } from "./health/provider-breaker.ts";
import { requestIdentityOf } from "./health/request-identity.ts";
import type { LeaseRecord } from "./leases/leases.ts";
import type { Slots } from "./slots.ts";

/** Extracts the request that reports an outcome from its lease. */
function toOutcomeSource({ holder, state: { id: account }, serial }: LeaseRecord): OutcomeSource {
  return { request: requestIdentityOf(holder), model: holder.model, account, serial };
}

/** Records the results of account uses: decides which account, proxy or provider failed or works again. */
export class OutcomeRecorder {
  readonly #slots: Slots;
  readonly #tokens: AccountTokens;
  readonly #proxies: Proxies;
  readonly #circuitProbe: CircuitProbe;
  readonly #now: () => number;

  constructor(
    slots: Slots,
    tokens: AccountTokens,
    proxies: Proxies,
    circuitProbe: CircuitProbe,
    now: () => number,
  ) {
    this.#slots = slots;
    this.#tokens = tokens;
    this.#proxies = proxies;
    this.#circuitProbe = circuitProbe;
    this.#now = now;
  }

  /** See `AccountPool.failed`. */
  recordFailure(lease: LeaseRecord, failure: AccountFailure): void {
    if (!lease.outcomeReported) {
      lease.state.health.failed(failure, this.#now());
      if (failure.fault !== null)
        this.#slots.providerPools.of(lease.state).breaker.countOutcome(failure, this.#now());
    }
    lease.outcomeReported = true;
    const { modelQuotaResets } = lease.state;
    // The limit of one model says nothing about the account's other models.
    const modelReset = modelQuotaResets.get(lease.holder.model) ?? 0;
    if (failure.kind === "rate_limited" && modelReset > this.#now()) return;
    if (failure.fault === "provider") this.#recordProviderFailure(lease, failure);
    else this.blameAccountOrProxy(lease.state, failure, lease.serial);
  }

  /** See `AccountPool.succeeded`. */
  recordSuccess(lease: LeaseRecord): void {
    const { state, serial } = lease;
    const { proxy } = state;
    const providerPool = this.#slots.providerPools.of(state);
    providerPool.breaker.recordSuccess(toOutcomeSource(lease));
    this.#circuitProbe.resumeHeldRequests(providerPool);
    const proxyWorks = proxy !== null && this.#proxies.recordSuccess(proxy, serial);
    const isProof = state.account !== null && proxy?.breaker.isCurrent(serial) !== false;
    if (state.breaker.isCurrent(serial) && state.breaker.recordSuccess(isProof))
      this.#onBreakerChanged(state);
    if (proxyWorks) this.#slots.onHealthChanged(proxy.accounts);
  }

  /** See `AccountPool.recordQuota`. The account, or its model, cools down until the last exhausted quota resets. */
  recordQuota({ state, holder }: LeaseRecord, windows: readonly QuotaWindow[]): void {
    if (state.account === null) return;
    const latestReset = (isOfModel: boolean) =>
      Math.max(
        0,
        ...windows
          .filter((window) => window.isOfModel === isOfModel && window.isExhausted)
          .map(({ resetsAt }) => resetsAt),
      );
    state.quota = windows;
    const providerPool = this.#slots.providerPools.of(state);
    const modelReset = latestReset(true);
    if (modelReset === 0) state.modelQuotaResets.delete(holder.model);
    else state.modelQuotaResets.set(holder.model, modelReset);
    providerPool.modelQuotasUntil = Math.max(providerPool.modelQuotasUntil, modelReset);
    state.quotaResetsAt = latestReset(false);
    state.isOutOfQuota = state.quotaResetsAt > this.#now();
    this.#slots.onHealthChanged([state]);
  }

  /**
   * Records a failure caused by the account or its proxy; ignores one with another cause.
   *
   * @param serial serial number of the lease that reports it
   */
  blameAccountOrProxy(state: AccountState, failure: AccountFailure, serial: number): void {
    if (state.account === null) return;
    const { serial: newest } = this.#slots;
    const { proxy } = state;
    if (failure.fault === "proxy" && proxy !== null) {
      if (this.#proxies.recordFailure(proxy, failure, serial, newest, this.#now()))
        this.#slots.onHealthChanged(proxy.accounts);
    } else if (failure.fault === "account" && state.breaker.isCurrent(serial)) {
      state.breaker.recordFailure(failure, newest, this.#now());
      this.#onBreakerChanged(state);
    }
  }

  #onBreakerChanged(state: AccountState): void {
    this.#tokens.breakerChanged(state);
    this.#slots.onHealthChanged([state]);
  }

  /** Does not blame the account, unless the provider fails on it repeatedly and works with other accounts in between. */
  #recordProviderFailure(lease: LeaseRecord, failure: AccountFailure): void {
    const { state, serial } = lease;
    const providerPool = this.#slots.providerPools.of(state);
    const { serial: newest } = this.#slots;
    // When a proxy is used, "unreachable" may be a failure of the proxy.
    const isAmbiguous = failure.kind === "unreachable" && state.proxy !== null;
    const effect = isAmbiguous
      ? null
      : providerPool.breaker.recordFailure(toOutcomeSource(lease), failure, newest, this.#now());
    if (effect?.outageContinues != null)
      this.#circuitProbe.onOutageContinues(providerPool, effect.outageContinues);
    if (effect?.outageStarted != null) this.#circuitProbe.onOutageStarted(providerPool, effect.outageStarted);
    if (state.account === null || !state.breaker.isCurrent(serial) || effect?.isFirst === false) return;
    if (state.breaker.recordStrike(failure, newest, this.#now())) this.#onBreakerChanged(state);
  }
}
