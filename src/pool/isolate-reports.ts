import type { AccountFailure, QuotaWindow } from "../core/ports/accounts.ts";
import type { AccountState } from "./accounts/account-state.ts";
import type { LeaseHolder } from "./leases/leases.ts";
import type { OutcomeRecorder } from "./outcome-recorder.ts";
import type { Slots } from "./slots.ts";

/**
 * What an isolate knew when a request began: of each shard the serial number in its latest answer. Results of requests that
 * began before the isolate knew of a failure say nothing about the time after it.
 */
export type KnownSerials = readonly number[];

/** A running request on an account without a limit. */
export interface StartedRequest {
  /** The isolate's name of the request. */
  readonly name: string;
  readonly account: string;
  readonly holder: LeaseHolder;
  readonly ageMs: number;
}

/** How requests on an account ended, or what the provider says is left for the account. */
export type IsolateResult = {
  readonly account: string;
  readonly holder: LeaseHolder;
  readonly known: KnownSerials;
} & (
  | { readonly succeeded: number }
  | { readonly failure: AccountFailure }
  | { readonly quota: readonly QuotaWindow[] }
);

/** What a pool learns of requests that an isolate ran on accounts without a limit. */
export interface IsolateReport {
  readonly isolate: string;
  /** The index of the pool that gets the report. */
  readonly shard: number;
  /** Requests that are reported for the first time. */
  readonly started: readonly StartedRequest[];
  /** Names of running requests that were reported earlier. */
  readonly running: readonly string[];
  /** Names of requests that were reported as running and have ended. */
  readonly ended: readonly string[];
  /** In the order in which they came. */
  readonly results: readonly IsolateResult[];
}

/** What an isolate must know to select accounts itself. */
export interface IsolateReportAnswer {
  /** The pool's newest serial number. */
  readonly serial: number;
  /** Running requests of the report that the pool does not know: it has restarted. */
  readonly unknown: readonly string[];
  /** Accounts that the isolate must not select. */
  readonly resting: readonly string[];
  /** Resting accounts that the isolate may select for one request, to find out whether they work again. */
  readonly probes: readonly string[];
  /** Providers that are down, for one model or (empty) for all. */
  readonly outages: readonly { readonly provider: string; readonly model: string }[];
  /** See `AcquireGrant.configVersion`. */
  readonly configVersion?: number;
}

/**
 * The reports of isolates about requests on accounts without a limit, which took no slot here. A running request counts as a
 * lease, so that it is visible and counts wherever leases do; it ends when the isolate reports its end or falls silent.
 */
export class IsolateReports {
  readonly #slots: Slots;
  readonly #outcomes: OutcomeRecorder;
  readonly #now: () => number;

  constructor(slots: Slots, outcomes: OutcomeRecorder, now: () => number) {
    this.#slots = slots;
    this.#outcomes = outcomes;
    this.#now = now;
  }

  apply({ isolate, shard, started, running, ended, results }: IsolateReport): IsolateReportAnswer {
    const leaseName = (name: string) => `${isolate}/${name}`;
    this.#slots.processElapsedTime();
    // Failures get a number after all that isolates know, and what begins after this answer a later one.
    this.#slots.serial += 1;
    for (const result of results) this.#applyResult(result, shard);
    for (const { name, account, holder, ageMs } of started) {
      const state = this.#findAccount(account);
      if (state === null || this.#slots.leases.get(leaseName(name)) !== undefined) continue;
      this.#slots.recordLease(leaseName(name), state, holder, this.#now() - ageMs, this.#slots.serial);
      state.health.used(this.#now());
    }
    for (const name of ended) this.#endLease(leaseName(name));
    const unknown = running.filter((name) => !this.#slots.renewLease(leaseName(name)));
    this.#slots.serial += 1;
    return { ...this.#readHealth(), unknown, serial: this.#slots.serial };
  }

  /** The account, if this pool owns it. */
  #findAccount(id: string): AccountState | null {
    const state = this.#slots.accounts.get(id);
    return state?.isOwnedHere === true ? state : null;
  }

  #applyResult(result: IsolateResult, shard: number): void {
    const state = this.#findAccount(result.account);
    if (state === null) return;
    const now = this.#now();
    const providerPool = this.#slots.providerPools.of(state);
    state.health.used(now);
    if ("succeeded" in result) {
      for (let n = 0; n < result.succeeded; n += 1) {
        state.health.succeeded(now);
        providerPool.breaker.countOutcome(null, now);
      }
      if (!state.mustReportSuccess && !providerPool.breaker.tracksModel(result.holder.model)) return;
    }
    const serial = result.known[shard] ?? 1;
    const lease = this.#slots.recordLease("result", state, result.holder, now, serial);
    if ("failure" in result) this.#outcomes.recordFailure(lease, result.failure);
    else if ("quota" in result) this.#outcomes.recordQuota(lease, result.quota);
    else this.#outcomes.recordSuccess(lease);
    this.#endLease(lease.token);
  }

  /** Its result is counted separately. */
  #endLease(token: string): void {
    const lease = this.#slots.leases.get(token);
    if (lease === undefined) return;
    lease.outcomeReported = true;
    this.#slots.release(token);
  }

  /** The health of the accounts without a limit. */
  #readHealth(): Pick<IsolateReportAnswer, "resting" | "probes" | "outages"> {
    const resting: string[] = [];
    const probes: string[] = [];
    const outages: { provider: string; model: string }[] = [];
    for (const { isUnlimited, provider, breaker, conversations } of this.#slots.providerPools.all) {
      if (!isUnlimited) continue;
      for (const { model } of breaker.outages(provider)) outages.push({ provider, model });
      for (const state of conversations.accounts.values()) {
        if (state.isHealthy && state.breaker.cooldown === null) continue;
        resting.push(state.id);
        if (state.isHealthy && state.breaker.hasAllowance) {
          probes.push(state.id);
          this.#slots.startProbe(state);
        }
      }
    }
    return { resting, probes, outages };
  }
}
