import { type AcquireRequest, ANY_PROVIDER } from "../core/ports/accounts.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { PoolLimits, PoolShard } from "../core/ports/pool-configuration.ts";
import { AccountTable } from "./account-table.ts";
import type { AccountState } from "./accounts/account-state.ts";
import { LeaseRecovery } from "./leases/lease-recovery.ts";
import {
  type HeartbeatAnswer,
  type LeaseHolder,
  type LeaseRecord,
  Leases,
  leaseHolderOf,
} from "./leases/leases.ts";
import type { AcquireOutcome, Grant } from "./queue/grant.ts";
import { type ProviderPool, ProviderPools } from "./queue/provider-pool.ts";
import { RequestQueue, type RequestQueueEvents } from "./queue/request-queue.ts";
import { SlotLimits } from "./queue/slot-limits.ts";
import { Waiter } from "./queue/waiter.ts";
import { isSharedLimit } from "./shards/shared-limit-accounts.ts";
import type { GrantTerms, PoolStore } from "./storage/pool-store.ts";

/** Callbacks of the slots' owner. */
export interface SlotEvents extends RequestQueueEvents {
  /** A slot is granted. Returns the data that the holder receives with it. */
  onGranted(state: AccountState, request: AcquireRequest, now: number): Omit<Grant, "lease">;
  /** A lease has ended, by release or by expiry. */
  onLeaseEnded(lease: LeaseRecord, now: number): void;
  /** No slot is occupied any more. */
  onIdle(): void;
}

/** The system clock counts as set when it differs this much from the monotonic one, milliseconds. */
const CLOCK_DRIFT_MS = 100;

/** The slots' clock. */
export interface SlotClock extends Clock {
  /** Monotonic milliseconds, for leases. */
  readonly monotonicNow: () => number;
}

/**
 * Slots, leases and waiting requests. An account never has more leases than `perAccount`, and all accounts together never
 * more than the global limit. After each change every request that can run gets its slot at once, so a new request cannot
 * overtake a waiting one.
 *
 * While requests wait, slots go to the callers that hold the fewest, so that no caller can keep more than its fair share
 * from others. Running requests keep their slots. The requests of one caller are served in order of arrival. All this
 * applies among the requests for one provider ({@link ProviderPool}); providers share only the global limit.
 */
export class Slots {
  /** Serial number of the newest lease or waiting request. */
  serial = 0;
  readonly providerPools: ProviderPools;
  readonly accounts: AccountTable;
  readonly limits: SlotLimits;
  readonly requestQueue: RequestQueue;
  readonly leases: Leases;
  readonly leaseRecovery: LeaseRecovery;
  readonly #now: () => number;
  readonly #monotonicNow: () => number;
  /** The difference between Unix time and monotonic time, milliseconds. */
  #clockOffset = 0;
  readonly #events: SlotEvents;

  constructor(store: PoolStore, ttlMs: number, terms: GrantTerms, clock: SlotClock, events: SlotEvents) {
    const { now, monotonicNow } = clock;
    this.#now = now;
    this.#monotonicNow = monotonicNow;
    this.#events = events;
    this.providerPools = new ProviderPools(now);
    this.accounts = new AccountTable(this.providerPools);
    this.limits = new SlotLimits(this.providerPools);
    this.requestQueue = new RequestQueue(this, this.providerPools, this.limits, clock, events);
    this.leases = new Leases(ttlMs);
    this.leaseRecovery = new LeaseRecovery(store, monotonicNow(), terms, (id) =>
      this.accounts.getOrCreate(id),
    );
  }

  /** Occupied slots, including unconfirmed leases from before a restart. */
  get inUse(): number {
    return this.leases.size + this.leaseRecovery.unconfirmedLeases;
  }

  /** Occupied slots that count for this pool's global limit: not those that the first pool counts as shared ones. */
  get #countedInUse(): number {
    return this.inUse - this.leases.sharedCount;
  }

  /** Number of slots that the global limit leaves free. */
  get freeSlots(): number {
    return Math.max(0, this.limits.usableSlots - this.#countedInUse);
  }

  /**
   * Assigns an account to the pool of its provider, before it is configured. When the provider changes, the state of the
   * old account is discarded: it is another account.
   */
  assignProvider(state: AccountState, provider: string): void {
    const providerPool = this.providerPools.getOrCreate(provider);
    const previousPool = this.providerPools.of(state);
    if (previousPool === providerPool) return;
    state.account = null;
    this.#updatePosition(state);
    this.#endAwaiting(state, true);
    state.provider = provider;
  }

  /**
   * Applies limits, and the accounts that have `account` set, while requests are running.
   *
   * @param perAccount slots of each account, by provider, where they differ from `limits`
   */
  configure(limits: PoolLimits, perAccount: Readonly<Record<string, number>> = {}, shard?: PoolShard): void {
    this.limits.configure(limits, perAccount, shard);
    this.accounts.recount();
    const states = [...this.accounts];
    for (const state of states) this.#updatePosition(state);
    for (const state of states) {
      if (!state.isHealthy) this.#endAwaiting(state, !state.isOwnedHere);
      if (!state.isOwnedHere) this.accounts.deleteIfUnused(state);
    }
    for (const providerPool of this.providerPools.all) {
      if (providerPool.enabledAccounts > 0) continue;
      const isAffected = ({ target }: AcquireRequest) =>
        providerPool.configuredAccounts === 0 || target === undefined;
      this.requestQueue.rejectMatching(providerPool, isAffected, { refused: "no_accounts" });
    }
    this.requestQueue.rejectWithoutHealthyAccount();
    this.#grantToWaiting();
    this.#events.onScheduleChanged();
  }

  /** See `AccountPool.acquire`. */
  acquire(request: AcquireRequest): AcquireOutcome | Waiter {
    return this.#acquire(request, null);
  }

  /** Treats a held request as if it had just arrived, in its old position among the requests of its caller. */
  admitHeldRequest(waiter: Waiter): void {
    waiter.stopTimer();
    this.providerPools.of(waiter).heldRequests.delete(waiter);
    this.#admitAgain(waiter);
  }

  /** Lets a request that has awaited the account of its conversation use any account. */
  #admitAnywhere(waiter: Waiter): void {
    this.requestQueue.stopAwaiting(waiter);
    this.#admitAgain(waiter);
  }

  /** Requests that await an account need not wait any longer: it is unhealthy, or has gone (`isGone`). */
  #endAwaiting(state: AccountState, isGone: boolean): void {
    for (const waiter of this.providerPools.of(state).queue.listAwaiting(state)) {
      if (waiter.target === null) this.#admitAnywhere(waiter);
      else if (isGone) this.requestQueue.dismiss(waiter, { refused: "target_not_found" });
    }
  }

  #admitAgain(waiter: Waiter): void {
    try {
      const outcome = this.#acquire(waiter.request, waiter);
      if (outcome instanceof Waiter) return;
      if ("granted" in outcome) waiter.settle(outcome);
      else this.requestQueue.dismiss(waiter, outcome);
    } catch (error) {
      this.requestQueue.fail(waiter, error);
    }
  }

  #acquire(request: AcquireRequest, heldWaiter: Waiter | null): AcquireOutcome | Waiter {
    this.processElapsedTime();
    if (this.accounts.total === 0 && !isSharedLimit(request.provider ?? ""))
      return { refused: "no_accounts" };
    const target = request.target === undefined ? null : this.accounts.findByName(request.target);
    if (request.target !== undefined && target?.isListed !== true) {
      return { refused: "target_not_found" };
    }
    const providerPool =
      request.provider === ANY_PROVIDER
        ? target && this.providerPools.of(target)
        : this.providerPools.get(request.provider);
    if (!providerPool) return { refused: "no_accounts" };
    if (target !== null && target.provider !== providerPool.provider) return { refused: "target_not_found" };
    if (target?.isEnabled === false && request.disabledToo !== true) return { refused: "target_not_found" };
    if (target === null && providerPool.enabledAccounts === 0) return { refused: "no_accounts" };
    const exclude = target === null && request.exclude?.length ? new Set(request.exclude) : null;
    if (exclude !== null && !this.hasHealthyExcept(providerPool, exclude)) return { refused: "no_accounts" };
    if (target === null && heldWaiter?.hasAwaited !== true) {
      const awaited = this.requestQueue.enqueueForAccount(
        providerPool,
        request,
        exclude,
        heldWaiter,
        (waiter) => this.#admitAnywhere(waiter),
      );
      if (awaited !== null) return awaited;
    }
    const state = target ?? providerPool.selectAccount(request, exclude);
    const hasFreeSlot = state !== null && providerPool.rotation.hasFreeSlot(state);
    if (hasFreeSlot && (this.freeSlots > 0 || this.#isShared(providerPool, request))) {
      const outcome = this.#grant(state, request);
      if (this.requestQueue.size > 0) this.#events.onScheduleChanged();
      return outcome;
    }
    const outcome = this.requestQueue.enqueue(providerPool, request, target, exclude, heldWaiter);
    if (outcome instanceof Waiter) return outcome;
    const shared = this.limits.sharedLimitsOf(providerPool);
    return {
      ...outcome,
      ...(request.healthyOnly === true
        ? { hasHealthyAccount: providerPool.rotation.hasAvailableHealthy }
        : {}),
      ...(shared === undefined ? {} : { shared }),
    };
  }

  /** Whether the first pool counts the slot of a request: its isolate acquires a shared slot there, too. */
  #isShared(providerPool: ProviderPool, { sharesLimits }: AcquireRequest): boolean {
    return sharesLimits === true && this.limits.mustShare(providerPool);
  }

  /** See `AccountPool.release`. */
  release(token: string): boolean {
    this.processElapsedTime();
    const lease = this.leases.get(token);
    if (lease === undefined) return false;
    this.#endLease(lease);
    this.#grantToWaiting();
    this.#events.onScheduleChanged();
    return true;
  }

  /** See `AccountPool.resumeLease`. */
  resumeLease(token: string, account: string, holder: LeaseHolder, isolate: string): string | null {
    this.processElapsedTime();
    const state = this.accounts.get(account);
    if (state === undefined || !this.leaseRecovery.confirmLease(token, state)) return null;
    this.serial += 1;
    const name = this.leaseRecovery.leaseName(this.serial);
    const lease = this.recordLease(name, state, holder, this.#now(), this.serial);
    this.#assignIsolate(lease, isolate);
    return name;
  }

  /**
   * Records a lease that was granted elsewhere: before a restart, or by an isolate.
   *
   * @param grantedAt Unix milliseconds
   * @param serial see `LeaseRecord.serial`
   */
  recordLease(
    name: string,
    state: AccountState,
    holder: LeaseHolder,
    grantedAt: number,
    serial: number,
  ): LeaseRecord {
    state.leases += 1;
    const fairShare = this.providerPools.of(state).fairShares.getOrCreate(holder.caller);
    fairShare.occupiedSlots += 1;
    return this.leases.add(name, serial, state, holder, fairShare, grantedAt, this.#monotonicNow());
  }

  /** Renews a lease. Returns false when it has ended. */
  renewLease(token: string): boolean {
    const lease = this.leases.get(token);
    if (lease !== undefined) this.leases.renew(lease, this.#monotonicNow());
    return lease !== undefined;
  }

  /** An isolate may select a half-open account for one request. */
  startProbe(state: AccountState): void {
    state.breaker.startProbe(this.#now());
    this.#updatePosition(state);
  }

  /** See `AccountPool.beat`. */
  beat(isolate: string, tokens: readonly string[], known?: number): HeartbeatAnswer {
    this.processElapsedTime();
    const { start, isolates } = this.leaseRecovery;
    const lost: string[] = [];
    // A heartbeat sent before the restart may also omit leases that were granted before the restart.
    let isComplete = known === undefined || known === start;
    for (const token of tokens) {
      const lease = this.leases.get(token);
      if (lease !== undefined) {
        this.leases.renew(lease, this.#monotonicNow());
        this.#assignIsolate(lease, isolate);
      } else if (Number.parseInt(token, 10) < start) isComplete = false;
      else lost.push(token);
    }
    if (isComplete && isolates.stopAwaiting(isolate)) {
      this.processElapsedTime();
      this.#events.onScheduleChanged();
    }
    return { start, lost };
  }

  /** Called when cooldowns of accounts have started or ended: other requests may run now. */
  onHealthChanged(states: Iterable<AccountState>): void {
    const changed = [...states];
    for (const state of changed) this.#updatePosition(state);
    for (const state of changed) if (!state.isHealthy) this.#endAwaiting(state, false);
    this.requestQueue.rejectWithoutHealthyAccount();
    this.#grantToWaiting();
    this.#events.onScheduleChanged();
  }

  /** Processes events that only the passing of time causes. */
  processElapsedTime(): void {
    const now = this.#now();
    const monotonicNow = this.#monotonicNow();
    let freed = false;
    for (
      let lease = this.leases.firstToExpire;
      lease !== null && lease.expiresAt <= monotonicNow;
      lease = this.leases.firstToExpire
    ) {
      this.leaseRecovery.recordReclaimed(lease.token, now);
      this.#endLease(lease);
      freed = true;
    }
    if (this.leaseRecovery.unconfirmedLeases > 0) {
      for (const state of this.leaseRecovery.dropExpiredUnconfirmed(monotonicNow)) {
        this.#onSlotFreed(state);
        freed = true;
      }
    }
    for (const { rotation } of this.providerPools.all)
      if (rotation.nextCooldownEnd <= now) freed = rotation.endExpiredCooldowns(now) || freed;
    if (freed) this.#grantToWaiting();
  }

  /** Whether the provider has a healthy account that is not excluded, busy or not. */
  hasHealthyExcept({ rotation }: ProviderPool, exclude: Iterable<string>): boolean {
    return rotation.countHealthyExcept(exclude) > 0;
  }

  /**
   * When the next event occurs that a waiting request may depend on, Unix milliseconds;
   * `Infinity` when no request waits.
   */
  get nextEventAt(): number {
    if (this.requestQueue.size === 0) return Number.POSITIVE_INFINITY;
    const { unconfirmedLeases, deadline } = this.leaseRecovery;
    const dropAt = unconfirmedLeases > 0 ? deadline : Number.POSITIVE_INFINITY;
    let cooldownEnd = Number.POSITIVE_INFINITY;
    for (const { rotation } of this.providerPools.all)
      cooldownEnd = Math.min(cooldownEnd, rotation.nextCooldownEnd);
    return Math.min(cooldownEnd, Math.min(this.leases.nextExpiry, dropAt) + this.#unixOffset);
  }

  /** What to add to monotonic time for Unix time. It changes only when the system clock is set. */
  get #unixOffset(): number {
    const offset = this.#now() - this.#monotonicNow();
    if (Math.abs(offset - this.#clockOffset) > CLOCK_DRIFT_MS) this.#clockOffset = offset;
    return this.#clockOffset;
  }

  #updatePosition(state: AccountState): void {
    const { rotation, queue } = this.providerPools.of(state);
    rotation.updatePosition(state);
    queue.updateRunnable(state, rotation);
  }

  /** Throws when the store fails; then nothing was granted. */
  #grant(state: AccountState, request: AcquireRequest): AcquireOutcome {
    const providerPool = this.providerPools.of(state);
    const { rotation, fairShares, queue, conversations } = providerPool;
    this.leaseRecovery.raiseHighWaterMark(state, state.occupiedSlots + 1, rotation.perAccount);
    const now = this.#now();
    this.serial += 1;
    const lease = this.leaseRecovery.leaseName(this.serial);
    const shared = request.sharesLimits === true ? this.limits.sharedLimitsOf(providerPool) : undefined;
    const holder = leaseHolderOf(request, shared?.slots !== undefined);
    const fairShare = fairShares.getOrCreate(holder.caller);
    fairShare.occupiedSlots += 1;
    fairShare.lastServedSerial = this.serial;
    state.leases += 1;
    const { selection } = request;
    const isBranch = selection !== undefined && conversations.recordGrant(selection, state, now);
    const monotonicNow = this.#monotonicNow();
    const record = this.leases.add(lease, this.serial, state, holder, fairShare, now, monotonicNow);
    record.conversation = selection?.conversation ?? "";
    record.probePeriod = state.breaker.startProbe(now);
    record.outcomeReported = request.releaseIsSuccess === false;
    rotation.advance(state);
    queue.updateRunnable(state, rotation);
    const grant = this.#events.onGranted(state, request, now);
    return {
      granted: {
        lease,
        ...grant,
        ...(isBranch ? { isBranch } : {}),
        ...(shared === undefined ? {} : { shared }),
      },
    };
  }

  /** Grants slots to all waiting requests that can run, in their order. */
  #grantToWaiting(): void {
    while (this.requestQueue.size > 0) {
      const hasFreeSlots = this.freeSlots > 0;
      const runnable = this.providerPools.nextRunnable(
        (providerPool, { request }) => hasFreeSlots || this.#isShared(providerPool, request),
      );
      if (runnable === null) return;
      const { providerPool, next } = runnable;
      providerPool.queue.remove(next.waiter, providerPool.rotation);
      try {
        next.waiter.settle(this.#grant(next.state, next.waiter.request));
      } catch (error) {
        // The failure affects this request only.
        this.requestQueue.fail(next.waiter, error);
      }
    }
  }

  #endLease(lease: LeaseRecord): void {
    this.leases.remove(lease);
    const { fairShare } = lease;
    fairShare.occupiedSlots -= 1;
    fairShare.owner.deleteIfEmpty(fairShare);
    lease.state.leases -= 1;
    lease.state.breaker.endProbe(lease.probePeriod);
    this.providerPools.of(lease.state).conversations.recordEnd(lease.conversation);
    if (lease.isolate !== "") this.leaseRecovery.isolates.removeLease(lease.isolate);
    this.#events.onLeaseEnded(lease, this.#now());
    this.#onSlotFreed(lease.state);
  }

  #assignIsolate(lease: LeaseRecord, isolate: string): void {
    if (isolate === "" || lease.isolate !== "") return;
    lease.isolate = isolate;
    this.leaseRecovery.isolates.addLease(isolate);
  }

  #onSlotFreed(state: AccountState): void {
    this.#updatePosition(state);
    this.accounts.deleteIfUnused(state);
    if (this.inUse === 0) this.#events.onIdle();
  }
}
