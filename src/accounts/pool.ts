import type { ProviderErrorKind } from "../provider/errors.ts";
import type { SignedIn } from "../provider/provider.ts";
import { AccountState } from "./account-state.ts";
import { AccountTokens } from "./account-tokens.ts";
import {
  type AccountHealth,
  type AcquireRequest,
  LEASE_TTL_MS,
  type PoolConfiguration,
  type PoolLimits,
  type QueueStatus,
  RENEW_INTERVAL_MS,
  type SignInFailure,
  type TokenAnswer,
} from "./client.ts";
import { type Holder, type LeaseRecord, Leases } from "./leases.ts";
import { accountHealth, queueStatus } from "./pool-status.ts";
import type { PoolStore } from "./pool-store.ts";
import { Reservations, SETTLE_MS } from "./reservations.ts";
import { Rotation } from "./rotation.ts";
import { type Outcome, Waiter, WaitingQueue } from "./waiting-queue.ts";

/** What the pool needs from where it runs. */
export interface PoolOptions {
  readonly store: PoolStore;
  /** Current time, Unix milliseconds. */
  readonly now: () => number;
  /** Calls `run` after `ms` milliseconds; the result stops it. */
  readonly setTimer: (ms: number, run: () => void) => () => void;
  /** Asks for a call of `sweep` at a time (Unix milliseconds), also if the pool is restarted meanwhile. */
  readonly wakeAt: (at: number) => void;
  /** Life of a lease that is not renewed, milliseconds. */
  readonly leaseTtlMs?: number;
}

const UNKNOWN_LEASE: TokenAnswer = {
  failed: { kind: "unreachable", message: "the account's slot was reclaimed", status: 0 },
};

/**
 * Slots on provider accounts, and who waits for them. The rules alone: no runtime, no network; clock, timers and storage
 * are given. All methods run to their end without interruption, so that each sees the limits exactly as they are.
 *
 * - Never more leases than `perAccount` on an account, nor than the global limit in all.
 * - First come, first served: a request is passed over only while it cannot run (pinned to a busy account). After each
 *   change everybody who can run is served at once, hence a newcomer finds nobody waiting whom it could overtake.
 * - A lease ends exactly once: by release, or by expiry. Releasing again, or too late, changes nothing.
 */
export class AccountPool {
  readonly #options: PoolOptions;
  readonly #states = new Map<string, AccountState>();
  readonly #rotation = new Rotation();
  readonly #queue = new WaitingQueue();
  readonly #leases: Leases;
  readonly #reservations: Reservations;
  readonly #tokens: AccountTokens;
  #limits: PoolLimits = { perAccount: 1, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  #total = 0;
  #serial = 0;
  #sweepAt = Number.POSITIVE_INFINITY;
  #idleSince = 0;
  #settling = false;
  #wakeTime = Number.POSITIVE_INFINITY;
  #stopWake: () => void = () => {};

  constructor(options: PoolOptions) {
    this.#options = options;
    const now = options.now();
    const ttl = options.leaseTtlMs ?? LEASE_TTL_MS;
    this.#leases = new Leases(ttl);
    this.#reservations = new Reservations(options.store, now, ttl, (id) => this.#state(id));
    this.#tokens = new AccountTokens(options.store, now, (id) => this.#state(id));
    if (this.#reservations.pending) this.#scheduleSweep(now);
  }

  /** Slots occupied, those included that may still be held since before a restart. */
  get inUse(): number {
    return this.#leases.size + this.#reservations.ghosts;
  }

  /** Takes over accounts and limits while requests are in flight: nobody loses a slot, nobody gets one too many. */
  configure(configuration: PoolConfiguration): void {
    const now = this.#options.now();
    this.#limits = configuration.limits;
    this.#rotation.perAccount = configuration.limits.perAccount;
    this.#tokens.refreshMs = configuration.limits.tokenRefreshMs;
    const configured = new Set<string>();
    for (const account of configuration.accounts) {
      if (configured.has(account.id)) continue;
      configured.add(account.id);
      this.#tokens.configure(this.#state(account.id), account, now);
    }
    this.#total = configured.size;
    for (const state of [...this.#states.values()]) {
      if (!configured.has(state.id)) this.#remove(state);
      this.#place(state);
    }
    if (this.#total === 0) this.#refuseAll();
    this.#catchUp();
    this.#drain();
    this.#arm();
  }

  /** Grants a slot, refuses, or has the request wait. */
  acquire(request: AcquireRequest): Outcome | Waiter {
    this.#catchUp();
    if (this.#total === 0) return { refused: "no_accounts" };
    const target = request.target === undefined ? null : (this.#states.get(request.target) ?? null);
    if (request.target !== undefined && (target === null || target.account === null)) {
      return { refused: "target_not_found" };
    }
    const exclude = target === null && request.exclude?.length ? new Set(request.exclude) : null;
    if (exclude !== null && !this.#othersAreHealthy(exclude)) return { refused: "no_accounts" };
    if (this.inUse < this.#globalLimit) {
      const state = target ?? this.#rotation.pick(exclude);
      if (state !== null && this.#rotation.hasSlot(state)) {
        const outcome = this.#grant(state, request);
        if (this.#queue.size > 0) this.#arm();
        return outcome;
      }
    }
    return this.#wait(request, target, exclude);
  }

  /** Gives a slot back. False when the lease had ended already. */
  release(token: string): boolean {
    this.#catchUp();
    const lease = this.#leases.get(token);
    if (lease === undefined) return false;
    this.#end(lease);
    this.#drain();
    this.#arm();
    return true;
  }

  /** Prolongs a lease. False when it was reclaimed: the slot may be somebody else's. */
  renew(token: string): boolean {
    this.#catchUp();
    const lease = this.#leases.get(token);
    if (lease === undefined) return false;
    this.#leases.renew(lease, this.#options.now());
    return true;
  }

  /**
   * Takes over a lease that was granted before a restart of the pool, and gives it a new name. Null when it has ended.
   * A name can be used for this once.
   */
  resume(token: string, account: string, holder: Holder): string | null {
    this.#catchUp();
    const state = this.#states.get(account);
    if (state === undefined || !this.#reservations.take(token, state)) return null;
    this.#serial += 1;
    state.leases += 1;
    const name = this.#reservations.name(this.#serial);
    this.#leases.add(name, this.#serial, state, holder, this.#options.now());
    return name;
  }

  /** See `Lease.token`. */
  token(token: string, stale?: string): TokenAnswer | Promise<TokenAnswer> {
    this.#catchUp();
    const lease = this.#leases.get(token);
    if (lease === undefined) return UNKNOWN_LEASE;
    const now = this.#options.now();
    this.#leases.renew(lease, now);
    const answer = this.#tokens.request(lease.state, token, stale, now);
    this.#arm();
    return answer;
  }

  /** See `Lease.signedIn`. The ticket alone counts: a sign-in is worth keeping although its lease has ended. */
  signedIn(account: string, ticket: string, result: SignedIn): void {
    const state = this.#states.get(account);
    if (state !== undefined) this.#tokens.signedIn(state, ticket, result, this.#options.now());
  }

  /** See `Lease.signInFailed`. */
  signInFailed(account: string, ticket: string, failure: SignInFailure): void {
    const state = this.#states.get(account);
    if (state === undefined) return;
    const cool = this.#tokens.signInFailed(state, ticket, failure, this.#options.now());
    if (cool) this.#fail(state, failure.kind, failure.message);
  }

  /** The account of a lease failed. Requests granted before its last failure add nothing: one burst counts once. */
  failed(token: string, kind: ProviderErrorKind, reason: string): void {
    const lease = this.#leases.get(token);
    if (lease !== undefined && lease.serial > lease.state.failedAt) this.#fail(lease.state, kind, reason);
  }

  /** The account of a lease works. */
  succeeded(token: string): void {
    const lease = this.#leases.get(token);
    if (lease === undefined || lease.serial <= lease.state.failedAt) return;
    if (this.#tokens.succeed(lease.state)) this.#settle(lease.state);
  }

  setTestStatus(id: string, status: string): void {
    const state = this.#states.get(id);
    if (state !== undefined) this.#tokens.setTestStatus(state, status);
  }

  tokensDueForRefresh(): string[] {
    const now = this.#options.now();
    return [...this.#states.values()]
      .filter((state) => this.#tokens.due(state, now))
      .map((state) => state.id);
  }

  /** Contract, Queue status. */
  status(): QueueStatus {
    this.#catchUp();
    return queueStatus({
      states: this.#states.values(),
      leases: this.#leases,
      waiters: this.#queue.list(this.#states.values()),
      inUse: this.inUse,
      total: this.#total,
      perAccount: this.#limits.perAccount,
      globalLimit: this.#globalLimit,
      queueLimit: this.#queueLimit,
      now: this.#options.now(),
    });
  }

  /** Health of the configured accounts among `ids`, or of all. */
  health(ids?: readonly string[]): AccountHealth[] {
    this.#catchUp();
    const states = ids === undefined ? this.#states.values() : ids.map((id) => this.#states.get(id));
    return accountHealth(states);
  }

  /** Reclaims what has expired and lowers the stored marks. Returns when to call again, or null. */
  sweep(): number | null {
    this.#catchUp();
    const now = this.#options.now();
    this.#reservations.sweep(now);
    this.#sweepAt = Number.POSITIVE_INFINITY;
    if (this.inUse === 0 && !this.#settling) this.#reservations.clear();
    if (!this.#reservations.pending) return null;
    this.#sweepAt = now + RENEW_INTERVAL_MS;
    return this.#sweepAt;
  }

  get #recommended(): number {
    return this.#total * this.#limits.perAccount;
  }

  get #globalLimit(): number {
    return this.#limits.global === 0 ? this.#recommended : this.#limits.global;
  }

  get #queueLimit(): number {
    return this.#limits.queue === 0 ? this.#recommended : this.#limits.queue;
  }

  #state(id: string): AccountState {
    let state = this.#states.get(id);
    if (state === undefined) {
      state = new AccountState(id);
      this.#states.set(id, state);
    }
    return state;
  }

  #place(state: AccountState): void {
    this.#rotation.place(state);
    if (state.waiters.size > 0) this.#queue.place(state, this.#rotation);
  }

  #othersAreHealthy(exclude: ReadonlySet<string>): boolean {
    let others = this.#rotation.healthy;
    for (const id of exclude) if (this.#states.get(id)?.healthy === true) others -= 1;
    return others > 0;
  }

  #grant(state: AccountState, request: AcquireRequest): Outcome {
    const now = this.#options.now();
    this.#serial += 1;
    const token = this.#reservations.name(this.#serial);
    state.leases += 1;
    this.#reservations.raise(state);
    const { requestId, model, dialect = "" } = request;
    this.#leases.add(token, this.#serial, state, { requestId, model, dialect }, now);
    this.#rotation.used(state);
    if (state.waiters.size > 0) this.#queue.place(state, this.#rotation);
    this.#scheduleSweep(now + RENEW_INTERVAL_MS);
    return {
      granted: {
        lease: token,
        account: { id: state.id, proxyId: state.account?.proxyId ?? "" },
        token: this.#tokens.peek(state, now),
        failing: state.cooldown !== null,
      },
    };
  }

  #wait(
    request: AcquireRequest,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
  ): Outcome | Waiter {
    const waitMs = request.waitMs ?? this.#limits.queueWaitMs;
    if (this.#queue.size >= this.#queueLimit) return { refused: "queue_full" };
    if (waitMs <= 0) return { refused: "queue_timeout" };
    this.#serial += 1;
    const waiter = new Waiter(this.#serial, request, target, exclude, this.#options.now(), (it) =>
      this.#cancel(it),
    );
    waiter.stopTimer = this.#options.setTimer(waitMs, () =>
      this.#dismiss(waiter, { refused: "queue_timeout" }),
    );
    this.#queue.add(waiter, this.#rotation);
    this.#arm();
    return waiter;
  }

  #dismiss(waiter: Waiter, outcome: Outcome): void {
    this.#queue.remove(waiter, this.#rotation);
    waiter.settle(outcome);
    this.#arm();
  }

  #cancel(waiter: Waiter): void {
    const { outcome } = waiter;
    if (outcome === null) this.#dismiss(waiter, { refused: "cancelled" });
    else if ("granted" in outcome) this.release(outcome.granted.lease);
  }

  #refuseAll(): void {
    for (const waiter of this.#queue.list(this.#states.values()))
      this.#dismiss(waiter, { refused: "no_accounts" });
  }

  /** Serves everybody who can run, in order of arrival. */
  #drain(): void {
    while (this.#queue.size > 0 && this.inUse < this.#globalLimit) {
      const next = this.#queue.next(this.#rotation);
      if (next === null) return;
      this.#queue.remove(next.waiter, this.#rotation);
      next.waiter.settle(this.#grant(next.state, next.waiter.request));
    }
  }

  #end(lease: LeaseRecord): void {
    const { state, token } = lease;
    this.#leases.remove(lease);
    state.leases -= 1;
    this.#tokens.leaseEnded(state, token, this.#options.now());
    this.#vacated(state);
  }

  #vacated(state: AccountState): void {
    this.#place(state);
    if (state.account === null) this.#forget(state);
    if (this.inUse === 0) this.#idle();
  }

  #remove(state: AccountState): void {
    if (state.account !== null || state.stored !== null) this.#tokens.remove(state);
    for (const waiter of [...state.waiters]) this.#dismiss(waiter, { refused: "target_not_found" });
    this.#forget(state);
  }

  #forget(state: AccountState): void {
    if (state.held === 0 && state.mark === 0) this.#states.delete(state.id);
  }

  #fail(state: AccountState, kind: ProviderErrorKind, reason: string): void {
    if (state.account === null || !this.#tokens.fail(state, kind, reason, this.#options.now())) return;
    state.failedAt = this.#serial;
    this.#settle(state);
  }

  /** An account began or ceased to cool down: others may run now. */
  #settle(state: AccountState): void {
    this.#place(state);
    this.#drain();
    this.#arm();
  }

  /** Does what time alone has brought about. */
  #catchUp(): void {
    const now = this.#options.now();
    let freed = false;
    for (
      let lease = this.#leases.first;
      lease !== null && lease.expiresAt <= now;
      lease = this.#leases.first
    ) {
      this.#reservations.reclaim(lease.token, now);
      this.#end(lease);
      freed = true;
    }
    if (this.#reservations.ghosts > 0) {
      for (const state of this.#reservations.dropGhosts(now)) {
        this.#vacated(state);
        freed = true;
      }
    }
    if (this.#rotation.nextThaw <= now) freed = this.#rotation.thaw(now) || freed;
    if (freed) this.#drain();
  }

  /** While somebody waits, for a slot or for a sign-in, a timer notices what no call would bring to light. */
  #arm(): void {
    let next = Number.POSITIVE_INFINITY;
    if (this.#queue.size > 0) {
      next = Math.min(this.#rotation.nextThaw, this.#leases.nextExpiry);
      if (this.#reservations.ghosts > 0) next = Math.min(next, this.#reservations.deadline);
    }
    next = Math.min(next, this.#tokens.expireTickets(this.#options.now()));
    if (next === this.#wakeTime) return;
    this.#stopWake();
    this.#wakeTime = next;
    this.#stopWake = () => {};
    if (next === Number.POSITIVE_INFINITY) return;
    this.#stopWake = this.#options.setTimer(Math.max(0, next - this.#options.now()), () => {
      this.#wakeTime = Number.POSITIVE_INFINITY;
      this.#catchUp();
      this.#arm();
    });
  }

  /** Nothing is held any more. If it stays so for a while, the marks are cleared, or a restart would hold slots back. */
  #idle(): void {
    this.#idleSince = this.#options.now();
    if (this.#settling || !this.#reservations.pending) return;
    this.#settling = true;
    this.#awaitSettling(SETTLE_MS);
  }

  #awaitSettling(ms: number): void {
    this.#options.setTimer(ms, () => {
      const rest = this.#idleSince + SETTLE_MS - this.#options.now();
      if (this.inUse === 0 && rest > 0) {
        this.#awaitSettling(rest);
        return;
      }
      this.#settling = false;
      if (this.inUse > 0) return;
      this.#reservations.clear();
      for (const state of [...this.#states.values()]) if (state.account === null) this.#forget(state);
    });
  }

  #scheduleSweep(at: number): void {
    if (this.#sweepAt !== Number.POSITIVE_INFINITY) return;
    this.#sweepAt = at;
    this.#options.wakeAt(at);
  }
}
