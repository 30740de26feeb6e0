import { indexAccountsByName } from "../core/config/account-identifier.ts";
import type { AccountHealth, QueueStatus } from "../core/ports/account-status.ts";
import type {
  AccountFailure,
  AcquireRequest,
  LeasedAccount,
  QuotaWindow,
  SignInResult,
  TokenResult,
} from "../core/ports/accounts.ts";
import type { PoolAccount, PoolConfiguration } from "../core/ports/pool-configuration.ts";
import { AccountMoves } from "./account-moves.ts";
import type { AccountState } from "./accounts/account-state.ts";
import { AccountTokens } from "./accounts/account-tokens.ts";
import { HealthPersistence } from "./accounts/health-persistence.ts";
import { Proxies } from "./accounts/proxies.ts";
import { CircuitProbe } from "./circuit-probe.ts";
import { requestIdentityOf } from "./health/request-identity.ts";
import { type IsolateReport, type IsolateReportAnswer, IsolateReports } from "./isolate-reports.ts";
import { CLAIM_MS, LEASE_TTL_MS } from "./leases/lease-timing.ts";
import { type HeartbeatAnswer, type LeaseHolder, type LeaseRecord, SLOT_RECLAIMED } from "./leases/leases.ts";
import { LimitedRequests } from "./limited-requests.ts";
import { UseLedger } from "./limits/use-ledger.ts";
import { noopStore, type UseStore } from "./limits/use-store.ts";
import { type MaintenanceClock, MaintenanceTimers } from "./maintenance-timers.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";
import { listAccountHealth, readQueueStatus, readShardStatus } from "./pool-status.ts";
import type { AcquireOutcome, Grant } from "./queue/grant.ts";
import { Waiter } from "./queue/waiter.ts";
import { Handover } from "./shards/account-handover.ts";
import type { ShardStatus } from "./shards/shard-status.ts";
import { isSharedLimit, isSharedQueue } from "./shards/shared-limit-accounts.ts";
import { Slots } from "./slots.ts";
import type { PoolStore } from "./storage/pool-store.ts";

/** Dependencies and settings of the pool. */
export interface PoolOptions extends MaintenanceClock {
  readonly store: PoolStore;
  /** Store for the counted use of subjects with limits; by default a restart loses it. */
  readonly uses?: UseStore;
  /** Lifetime of a lease that is not renewed, milliseconds. */
  readonly leaseTtlMs?: number;
  /** How long a restarted pool holds slots back for leases that were just granted, milliseconds. */
  readonly claimMs?: number;
  /** How long a request waits during an outage for the result of the probe, milliseconds; 0: not at all. */
  readonly probeWaitMs?: number;
  /**
   * Name of the process in which the pool and all lease holders run: leases granted in another process have ended with it.
   * Absent or empty: holders may outlive the pool.
   */
  readonly boot?: string;
  /** Lease holders end together with the pool: it stores nothing about leases, and grants even when its storage fails. */
  readonly holdersShareProcess?: boolean;
}

/** Default of {@link PoolOptions.probeWaitMs}. */
const PROBE_WAIT_MS = 1_000;

/** The account data that a lease holder receives. */
function toLeasedAccount({ id, account, provider }: AccountState): LeasedAccount {
  return {
    id,
    proxyId: account?.proxyId ?? "",
    ...(provider === "" ? {} : { provider }),
    ...(account?.tokenType === undefined ? {} : { tokenType: account.tokenType }),
  };
}

/**
 * The account pool: slots on provider accounts, waiting requests, and sign-ins. This class holds the rules only: clock,
 * timers and storage are injected; there is no network. All methods run synchronously to their end, so each sees exact
 * counts. A lease ends exactly once, by release or by expiry; ending it again, or too late, has no effect.
 */
export class AccountPool {
  /** Counts requests of subjects with limits. */
  readonly limitedRequests: LimitedRequests;
  /** Accounts that move between this pool and other shards. */
  readonly moves: AccountMoves;
  readonly #now: () => number;
  readonly #store: PoolStore;
  readonly #slots: Slots;
  readonly #tokens: AccountTokens;
  readonly #proxies = new Proxies();
  readonly #maintenance: MaintenanceTimers;
  readonly #ledger: UseLedger;
  readonly #health: HealthPersistence;
  readonly #circuitProbe: CircuitProbe;
  readonly #monotonicNow: () => number;
  readonly #outcomeRecorder: OutcomeRecorder;
  readonly #isolateReports: IsolateReports;
  readonly #handover = new Handover();
  /** See `PoolShard.order`. */
  #order = 0;
  /** Version of the configuration; 0: unknown. */
  #configVersion = 0;

  constructor(options: PoolOptions) {
    const { store, uses = noopStore, now, setTimer, monotonicNow = now } = options;
    const { leaseTtlMs = LEASE_TTL_MS, claimMs = CLAIM_MS, boot = "" } = options;
    const terms = {
      boot,
      claimMs,
      awaitMs: leaseTtlMs,
      holdersShareProcess: options.holdersShareProcess === true,
    };
    this.#now = now;
    this.#store = store;
    this.#maintenance = new MaintenanceTimers(
      options,
      () => this.#slots.inUse === 0,
      () => this.#onWake(),
      () => this.#clearWhenIdle(),
    );
    this.#monotonicNow = monotonicNow;
    this.#slots = new Slots(
      store,
      leaseTtlMs,
      terms,
      { now, setTimer, monotonicNow },
      {
        onGranted: (state, request, at) => this.#onGranted(state, request, at),
        onLeaseEnded: (lease, at) => this.#onLeaseEnded(lease, at),
        onDismissed: (request) => this.#onUnserved(request),
        onIdle: () => this.#maintenance.onIdle(),
        onScheduleChanged: () => this.#scheduleWake(),
      },
    );
    this.#tokens = new AccountTokens(store, now(), (id) => this.#slots.accounts.getOrCreate(id));
    this.#circuitProbe = new CircuitProbe(this.#slots, options.probeWaitMs ?? PROBE_WAIT_MS, now);
    this.#outcomeRecorder = new OutcomeRecorder(
      this.#slots,
      this.#tokens,
      this.#proxies,
      this.#circuitProbe,
      now,
    );
    this.#isolateReports = new IsolateReports(this.#slots, this.#outcomeRecorder, now);
    this.#health = new HealthPersistence(store, this.#slots.accounts);
    this.#ledger = new UseLedger(uses, now(), this.#slots.leaseRecovery.orphanTimeoutMs);
    this.limitedRequests = new LimitedRequests(this.#ledger, this.#maintenance, now);
    this.moves = new AccountMoves(this.#slots, this.#tokens, this.#handover, now);
    if (this.#slots.leaseRecovery.hasHighWaterMarks || this.#ledger.hasUses)
      this.#maintenance.scheduleSweep();
  }

  /**
   * Applies accounts and limits while requests are running: no request loses its slot, and limits are never exceeded.
   * Returns false when the pool already has a newer configuration.
   */
  configure({ accounts, limits, proxies = [], perAccount, version, shard }: PoolConfiguration): boolean {
    // A configuration without a shard is outdated once there are several pools.
    if (this.#order > (shard?.order ?? 0) || this.#order === shard?.order) return false;
    if (version !== undefined) {
      if (version < this.#configVersion) return false;
      this.#configVersion = version;
    }
    this.#order = shard?.order ?? 0;
    if (shard !== undefined) this.#handover.configure(shard.layout, shard.name);
    this.#slots.processElapsedTime();
    this.#tokens.refreshMs = limits.tokenRefreshMs;
    const configured = new Set<string>();
    for (const [index, account] of accounts.entries()) {
      if (configured.has(account.id)) continue;
      configured.add(account.id);
      this.#configureAccount(account, index);
    }
    for (const state of this.#slots.accounts) {
      if (configured.has(state.id)) continue;
      this.#tokens.removeFromConfiguration(state, this.#now());
      this.#proxies.bind(state, "");
    }
    this.#proxies.configure(proxies);
    this.#slots.accounts.idsByName = indexAccountsByName(accounts.filter(({ moved }) => moved !== true));
    this.#slots.configure(limits, perAccount, shard);
    return true;
  }

  #configureAccount(account: PoolAccount, index: number): void {
    const { id, provider = "", rank = index, proxyId, moved } = account;
    const state = this.#slots.accounts.getOrCreate(id);
    if (state.account !== null && state.provider !== provider) this.#tokens.clear(state);
    state.position = rank;
    this.#slots.assignProvider(state, provider);
    this.#tokens.configure(state, account, this.#now());
    this.#proxies.bind(state, proxyId);
    if (isSharedLimit(state.provider)) state.breaker.markProven();
    if (isSharedQueue(state.provider)) state.slotsElsewhere = Number.POSITIVE_INFINITY;
    else state.slotsElsewhere = moved === true ? 0 : this.#handover.slotsElsewhere(id);
  }

  /** Whether the provider has an enabled account that is not cooling down, busy or not. Absent: the default provider. */
  hasHealthyAccount(provider: string | undefined): boolean {
    this.#slots.processElapsedTime();
    const providerPool = this.#slots.providerPools.get(provider);
    return providerPool !== undefined && this.#slots.hasHealthyExcept(providerPool, []);
  }

  /**
   * Grants a slot, refuses the request, or lets it wait. Throws when the storage fails: then nothing is granted. The result
   * may be used once {@link confirmStored} has resolved.
   */
  acquire(request: AcquireRequest): AcquireOutcome | Waiter {
    const { use } = request;
    if (use === undefined) return this.#admit(request);
    const limited = this.limitedRequests.reserve(use);
    if (limited !== null) return limited;
    const outcome = this.#admit(request);
    if (outcome instanceof Waiter) this.#ledger.recordWaiting(use.id);
    return outcome;
  }

  #admit(request: AcquireRequest): AcquireOutcome | Waiter {
    // A request pinned to one account bypasses the circuit breaker and gets that account's own result.
    const providerPool =
      request.target === undefined ? this.#slots.providerPools.get(request.provider) : undefined;
    const decision =
      providerPool === undefined ? null : this.#circuitProbe.rejectOrHold(providerPool, request);
    if (decision !== null) {
      if (!(decision instanceof Waiter)) this.#releaseReservation(request);
      return decision;
    }
    try {
      const outcome = this.#slots.acquire(request);
      if ("refused" in outcome) this.#onUnserved(request);
      return outcome;
    } catch (error) {
      this.#onUnserved(request);
      throw error;
    }
  }

  /**
   * Resolves when the consequences of an outcome are stored; null: they are. When the storage fails, it reverts the outcome
   * and rejects.
   *
   * @param hasSettlements whether the request also brought results of other requests that must be stored
   */
  confirmStored(
    request: AcquireRequest,
    outcome: AcquireOutcome | Waiter,
    hasSettlements = false,
  ): Promise<void> | null {
    const stored = request.use === undefined && !hasSettlements ? null : this.limitedRequests.whenStored();
    if (stored === null) return null;
    return stored.catch((error: unknown) => {
      this.#revertOutcome(request, outcome);
      throw error;
    });
  }

  #revertOutcome({ use, exclude = [] }: AcquireRequest, outcome: AcquireOutcome | Waiter): void {
    if (outcome instanceof Waiter) outcome.cancel();
    else if ("granted" in outcome) {
      const lease = this.#slots.leases.get(outcome.granted.lease);
      // The release of this lease must not count as a success of the account.
      if (lease !== undefined) lease.outcomeReported = true;
      this.release(outcome.granted.lease);
      if (use !== undefined) this.limitedRequests.releaseUnserved(use.id, exclude.length === 0);
    }
  }

  /** Releases a slot. Returns false when the lease had already ended. */
  release(token: string): boolean {
    return this.#slots.release(token);
  }

  /** Renews a lease. Returns false when it was reclaimed: another request may have the slot. */
  renew(token: string): boolean {
    this.#slots.processElapsedTime();
    return this.#slots.renewLease(token);
  }

  /**
   * Resumes a lease that was granted before a restart of the pool, under a new name. Returns null when it has ended. Each
   * name can be resumed once. `isolate` is the isolate whose heartbeats will name the lease; empty: the holder renews it
   * itself.
   */
  resumeLease(token: string, account: string, holder: LeaseHolder, isolate = ""): string | null {
    const name = this.#slots.resumeLease(token, account, holder, isolate);
    if (name !== null && holder.use !== undefined) this.#ledger.resume(holder.use);
    return name;
  }

  /** Renews the long-lived leases of an isolate; `tokens` must name all of them. */
  beat(isolate: string, tokens: readonly string[], known?: number): HeartbeatAnswer {
    return this.#slots.beat(isolate, tokens, known);
  }

  /** See `Lease.getToken`. A request for the token also renews the lease. */
  token(token: string, stale?: string): TokenResult | Promise<TokenResult> {
    if (!this.renew(token)) return SLOT_RECLAIMED;
    const lease = this.#slots.leases.get(token);
    if (lease === undefined) return SLOT_RECLAIMED;
    const { state } = lease;
    const answer = this.#tokens.request(state, token, stale, this.#now());
    return answer instanceof Promise
      ? answer.then((result) => this.#withCurrentProvider(state, result))
      : this.#withCurrentProvider(state, answer);
  }

  /** Adds the account's current provider and configuration version to the answer: they may have changed since the grant. */
  #withCurrentProvider({ provider }: AccountState, answer: TokenResult): TokenResult {
    if ("failed" in answer) return answer;
    return {
      ...answer,
      ...(provider === "" ? {} : { provider }),
      ...(this.#configVersion === 0 ? {} : { configVersion: this.#configVersion }),
    };
  }

  /** See `Lease.completeSignIn`. Only the ticket must be valid: a token is useful even if the lease has ended. */
  signedIn(account: string, ticket: string, result: SignInResult): void {
    const state = this.#slots.accounts.get(account);
    if (state !== undefined) this.#tokens.signedIn(state, ticket, result, this.#now());
  }

  /** See `Lease.failSignIn`. */
  signInFailed(account: string, ticket: string, failure: AccountFailure): void {
    const state = this.#slots.accounts.get(account);
    if (state === undefined) return;
    const mustCoolDown = this.#tokens.signInFailed(state, ticket, failure, this.#now());
    if (mustCoolDown) this.#outcomeRecorder.blameAccountOrProxy(state, failure, Number.POSITIVE_INFINITY);
  }

  /**
   * Records that the use of a lease's account failed. Failures of requests granted before the last failure are ignored, so
   * one burst counts once. Returns whether another account of the provider is healthy.
   */
  failed(token: string, failure: AccountFailure): boolean {
    this.#slots.processElapsedTime();
    const lease = this.#slots.leases.get(token);
    if (lease === undefined) return false;
    this.#outcomeRecorder.recordFailure(lease, failure);
    return this.#slots.hasHealthyExcept(this.#slots.providerPools.of(lease.state), [lease.state.id]);
  }

  /** Records that the account of a lease works. */
  succeeded(token: string): void {
    this.#slots.processElapsedTime();
    const lease = this.#slots.leases.get(token);
    if (lease !== undefined) this.#outcomeRecorder.recordSuccess(lease);
  }

  /** Records what the provider says is left for the account of a lease. See `Lease.reportQuota`. */
  recordQuota(token: string, windows: readonly QuotaWindow[]): void {
    this.#slots.processElapsedTime();
    const lease = this.#slots.leases.get(token);
    if (lease !== undefined) this.#outcomeRecorder.recordQuota(lease, windows);
  }

  /** Learns of the requests that an isolate ran on accounts without a limit. */
  report(report: IsolateReport): IsolateReportAnswer {
    const answer = this.#isolateReports.apply(report);
    this.#maintenance.scheduleSweep();
    return { ...answer, ...(this.#configVersion === 0 ? {} : { configVersion: this.#configVersion }) };
  }

  /** Records the result of an account test. */
  setTestStatus(id: string, status: string): void {
    const state = this.#slots.accounts.get(id);
    if (state === undefined) return;
    this.#tokens.setTestStatus(state, status);
    if (status === "ok") state.health.testSucceeded(this.#now());
  }

  /** Ids of accounts that can sign in and whose token is older than the refresh interval. */
  tokensDueForRefresh(): string[] {
    const now = this.#now();
    return [...this.#slots.accounts]
      .filter((state) => state.isEnabled && this.#tokens.isRefreshDue(state, now))
      .map((state) => state.id);
  }

  /** The queue status (docs/contract/accounts.md, Queue status); at most `maxEntries` entries of each list. */
  status(maxEntries?: number): QueueStatus {
    this.#slots.processElapsedTime();
    return readQueueStatus(this.#slots, this.#now(), maxEntries);
  }

  /** The same, with the data needed to merge the statuses of several pools. */
  shardStatus(maxEntries?: number): ShardStatus {
    this.#slots.processElapsedTime();
    return readShardStatus(this.#slots, this.#now(), maxEntries);
  }

  /** Health of the configured accounts among `ids`, or of all. */
  health(ids?: readonly string[]): AccountHealth[] {
    this.#slots.processElapsedTime();
    const { accounts } = this.#slots;
    return listAccountHealth(ids === undefined ? accounts : ids.map((id) => accounts.get(id)), this.#now());
  }

  /**
   * Reclaims expired leases, lowers the stored high-water marks, and saves the accounts' health. Returns when to call again
   * (Unix milliseconds), or null.
   */
  sweep(): number | null {
    this.#slots.processElapsedTime();
    const { leaseRecovery } = this.#slots;
    let needsSweep = true;
    try {
      this.#store.flush();
      leaseRecovery.lowerHighWaterMarks(this.#now(), this.#monotonicNow());
      this.#health.save();
      const hasUses = this.#ledger.sweep(this.#now());
      this.#store.flush();
      needsSweep = leaseRecovery.hasHighWaterMarks || hasUses;
    } catch {
      // The storage failed: the next sweep retries.
    }
    return this.#maintenance.onSwept(needsSweep);
  }

  /** The alarm requested with `wakeAt` could not be set, so `sweep` will not be called. */
  onAlarmFailed(): void {
    this.#maintenance.onSwept(false);
  }

  #onGranted(state: AccountState, { model, use }: AcquireRequest, at: number): Omit<Grant, "lease"> {
    this.#maintenance.scheduleSweep();
    if (use !== undefined) this.#ledger.begin(use.id, at);
    state.health.used(at);
    return {
      account: toLeasedAccount(state),
      token: this.#tokens.peek(state, at),
      failing: state.mustReportSuccess || this.#slots.providerPools.of(state).breaker.tracksModel(model),
      ...(use === undefined ? {} : { limits: this.#ledger.getLimitState(use, at) }),
      ...(this.#configVersion === 0 ? {} : { configVersion: this.#configVersion }),
    };
  }

  #onLeaseEnded({ state, token, holder, outcomeReported, expiresAt }: LeaseRecord, at: number): void {
    const providerPool = this.#slots.providerPools.of(state);
    // A lease released without a report counts as a success. An expired lease has no known result.
    if (!outcomeReported && expiresAt > this.#monotonicNow()) {
      state.health.succeeded(at);
      providerPool.breaker.countOutcome(null, at);
    }
    this.#circuitProbe.onRequestEnded(providerPool, requestIdentityOf(holder));
    if (holder.use !== undefined) this.#ledger.releaseSlot(holder.use, at);
    this.#tokens.leaseEnded(state, token, at);
  }

  /** A request was refused, or has left the queue. */
  #onUnserved(request: AcquireRequest): void {
    const providerPool = this.#slots.providerPools.get(request.provider);
    if (providerPool !== undefined)
      this.#circuitProbe.onRequestEnded(providerPool, requestIdentityOf(request));
    this.#releaseReservation(request);
  }

  #releaseReservation({ use }: AcquireRequest): void {
    if (use !== undefined) this.#ledger.releaseReservation(use.id, this.#now());
  }

  /** While requests wait, a timer processes events that no call would trigger. */
  #scheduleWake(): void {
    this.#maintenance.scheduleWake(this.#slots.nextEventAt);
  }

  #onWake(): void {
    this.#slots.processElapsedTime();
    this.#scheduleWake();
  }

  /** The pool has been idle for a while. Without high-water marks a restart holds no slots back. */
  #clearWhenIdle(): void {
    this.#slots.leaseRecovery.clearHighWaterMarks();
    for (const state of [...this.#slots.accounts]) this.#slots.accounts.deleteIfUnused(state);
  }
}
