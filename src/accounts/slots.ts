import type { AcquireRequest, PoolLimits, Refused } from "../platform/accounts.ts";
import { AccountState } from "./account-state.ts";
import type { Pulse } from "./heartbeat.ts";
import { LEASE_TTL_MS } from "./lease-life.ts";
import { type Holder, holderOf, type LeaseRecord, Leases } from "./leases.ts";
import type { LeaseTerms, PoolStore } from "./pool-store.ts";
import { Reservations } from "./reservations.ts";
import { Rotation } from "./rotation.ts";
import { type Share, Shares } from "./shares.ts";
import { type Grant, type Outcome, Waiter, WaitingQueue } from "./waiting-queue.ts";

/** What the owner of the slots adds to them. */
export interface SlotEvents {
  /** What goes with a slot that is being granted. */
  describe(state: AccountState, request: AcquireRequest, now: number): Omit<Grant, "lease">;
  /** A waiting request has left the queue with nothing. */
  dismissed(request: AcquireRequest): void;
  /** A lease has ended, by release or by expiry. */
  ended(lease: LeaseRecord, now: number): void;
  /** Nothing is held any more. */
  idle(): void;
  /** The times at which something is due may have changed. */
  rescheduled(): void;
}

/** While anything is held the pool looks at its clock more often than this: a greater step is a clock that was set. */
const CLOCK_STEP_MS = LEASE_TTL_MS;

/** Starts a timer; the result stops it. */
export type SetTimer = (ms: number, run: () => void) => () => void;

/**
 * Slots, leases and waiting requests. Never more leases than `perAccount` on an account, nor than the global limit in all.
 * After each change everybody who can run is served at once, hence a newcomer finds nobody waiting whom it could overtake.
 * While requests wait, slots go to the callers that hold the fewest, so that none can keep more than its share from others;
 * nobody has to give a slot back for it. The requests of one caller are served in order of arrival.
 */
export class Slots {
  limits: PoolLimits = { perAccount: 1, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  /** Configured accounts. */
  total = 0;
  /** Those of them that may be chosen. */
  #enabled = 0;
  /** Serial number of the newest lease or waiting request. */
  serial = 0;
  readonly states = new Map<string, AccountState>();
  /** Identifiers of the configured accounts by all their names. */
  names: ReadonlyMap<string, string> = new Map();
  readonly leases: Leases;
  readonly reservations: Reservations;
  readonly #rotation = new Rotation();
  readonly #shares = new Shares();
  readonly #queue = new WaitingQueue(this.#shares);
  /** Requests that wait outside of the queue, in the order in which they were put aside. */
  readonly aside = new Set<Waiter>();
  readonly #now: () => number;
  #seenAt: number;
  readonly #setTimer: SetTimer;
  readonly #events: SlotEvents;

  constructor(
    store: PoolStore,
    ttlMs: number,
    terms: LeaseTerms,
    now: () => number,
    setTimer: SetTimer,
    events: SlotEvents,
  ) {
    this.#now = now;
    this.#seenAt = now();
    this.#setTimer = setTimer;
    this.#events = events;
    this.leases = new Leases(ttlMs);
    this.reservations = new Reservations(store, now(), terms, (id) => this.state(id));
  }

  /** Slots occupied, those included that may still be held since before a restart. */
  get inUse(): number {
    return this.leases.size + this.reservations.ghosts;
  }

  get globalLimit(): number {
    return this.limits.global || this.total * this.limits.perAccount;
  }

  get queueLimit(): number {
    return this.limits.queue || this.total * this.limits.perAccount;
  }

  get waiting(): number {
    return this.#queue.size + this.aside.size;
  }

  /** Waiting requests in order of arrival. */
  waiters(): Waiter[] {
    const queued = this.#queue.list();
    if (this.aside.size === 0) return queued;
    return [...queued, ...this.aside].sort((one, other) => one.serial - other.serial);
  }

  /** The account of that name; unknown ones are added, not yet configured. */
  state(id: string): AccountState {
    let state = this.states.get(id);
    if (state === undefined) {
      state = new AccountState(id);
      this.states.set(id, state);
    }
    return state;
  }

  /** Applies limits, and the accounts that have `account` set, while requests are in flight. */
  configure(limits: PoolLimits, total: number): void {
    this.limits = limits;
    this.total = total;
    this.#enabled = [...this.states.values()].filter(({ enabled }) => enabled).length;
    this.#rotation.perAccount = limits.perAccount;
    for (const state of [...this.states.values()]) {
      if (state.account === null) {
        for (const waiter of [...state.waiters]) this.dismiss(waiter, { refused: "target_not_found" });
        this.forget(state);
      }
      this.#place(state);
    }
    if (this.#enabled === 0) {
      this.refuse(({ target }) => total === 0 || target === undefined, { refused: "no_accounts" });
    }
    this.#drain();
    this.#events.rescheduled();
  }

  /** Grants a slot, refuses, or has the request wait. */
  acquire(request: AcquireRequest): Outcome | Waiter {
    return this.#acquire(request, null);
  }

  /**
   * Has a request that wants no certain account wait outside of the queue, until `admit` or `dismiss`; refuses it with `late` when neither comes
   * within `ms` milliseconds. Null: more wait than the free slots and the queue have room for.
   */
  putAside(request: AcquireRequest, ms: number, late: Refused): Waiter | null {
    this.catchUp();
    const room = this.queueLimit + Math.max(0, this.globalLimit - this.inUse);
    if (this.waiting >= room) return null;
    const exclude = request.exclude?.length ? new Set(request.exclude) : null;
    const share = this.#shares.of(request.caller ?? "");
    this.#shares.forget(share);
    const waiter = this.#waiter(request, share, null, exclude);
    this.#setAside(waiter, ms, late);
    return waiter;
  }

  /** The same with a request that is in the queue. */
  takeAside(waiter: Waiter, ms: number, late: Refused): void {
    this.#queue.remove(waiter, this.#rotation);
    this.#shares.forget(waiter.share);
    this.#setAside(waiter, ms, late);
  }

  /** Treats a request that was put aside as if it came now, in its old place among those of its caller. */
  admit(waiter: Waiter): void {
    waiter.stopTimer();
    this.aside.delete(waiter);
    const outcome = this.#acquire(waiter.request, waiter);
    if (outcome instanceof Waiter) return;
    if ("granted" in outcome) waiter.settle(outcome);
    else this.dismiss(waiter, outcome);
  }

  #setAside(waiter: Waiter, ms: number, late: Refused): void {
    waiter.stopTimer();
    waiter.stopTimer = this.#setTimer(ms, () => this.dismiss(waiter, late));
    this.aside.add(waiter);
    this.#events.rescheduled();
  }

  #acquire(request: AcquireRequest, again: Waiter | null): Outcome | Waiter {
    this.catchUp();
    if (this.total === 0) return { refused: "no_accounts" };
    const target = request.target === undefined ? null : this.#named(request.target);
    if (request.target !== undefined && (target === null || target.account === null)) {
      return { refused: "target_not_found" };
    }
    if (target?.enabled === false && request.disabledToo !== true) return { refused: "target_not_found" };
    if (target === null && this.#enabled === 0) return { refused: "no_accounts" };
    const exclude = target === null && request.exclude?.length ? new Set(request.exclude) : null;
    if (exclude !== null && !this.othersAreHealthy(exclude)) return { refused: "no_accounts" };
    if (this.inUse < this.globalLimit) {
      const state = target ?? this.#rotation.pick(exclude);
      if (state !== null && this.#rotation.hasSlot(state)) {
        const outcome = this.#grant(state, request);
        if (this.waiting > 0) this.#events.rescheduled();
        return outcome;
      }
    }
    return this.#wait(request, target, exclude, again);
  }

  /** See `AccountPool.release`. */
  release(token: string): boolean {
    this.catchUp();
    const lease = this.leases.get(token);
    if (lease === undefined) return false;
    this.#end(lease);
    this.#drain();
    this.#events.rescheduled();
    return true;
  }

  /** See `AccountPool.resume`. */
  resume(token: string, account: string, holder: Holder, isolate: string): string | null {
    this.catchUp();
    const state = this.states.get(account);
    if (state === undefined || !this.reservations.take(token, state)) return null;
    this.serial += 1;
    state.leases += 1;
    const name = this.reservations.name(this.serial);
    const lease = this.leases.add(name, this.serial, state, holder, this.#now());
    this.#belongs(lease, isolate);
    this.#shares.of(holder.caller).held += 1;
    return name;
  }

  /** See `AccountPool.beat`. */
  beat(isolate: string, tokens: readonly string[]): Pulse {
    this.catchUp();
    const now = this.#now();
    const { start, isolates } = this.reservations;
    const lost: string[] = [];
    let settled = true;
    for (const token of tokens) {
      const lease = this.leases.get(token);
      if (lease !== undefined) {
        this.leases.renew(lease, now);
        this.#belongs(lease, isolate);
      } else if (Number.parseInt(token, 10) < start) settled = false;
      else lost.push(token);
    }
    if (settled && isolates.settled(isolate)) {
      this.catchUp();
      this.#events.rescheduled();
    }
    return { start, lost };
  }

  /** Accounts began or ceased to be passed over: others may run now. */
  replaced(states: Iterable<AccountState>): void {
    for (const state of states) this.#place(state);
    this.#drain();
    this.#events.rescheduled();
  }

  /** Refuses the waiting requests that are concerned. */
  refuse(concerned: (request: AcquireRequest) => boolean, outcome: Refused): void {
    for (const waiter of this.waiters()) if (concerned(waiter.request)) this.dismiss(waiter, outcome);
  }

  /** Does what time alone has brought about. */
  catchUp(): void {
    const now = this.#now();
    const step = now - this.#seenAt;
    this.#seenAt = now;
    if (step < 0 || step > CLOCK_STEP_MS) {
      this.leases.renewAll(now);
      this.reservations.clockSet(step);
      this.#rotation.clockSet(this.states.values(), step);
    }
    let freed = false;
    for (let lease = this.leases.first; lease !== null && lease.expiresAt <= now; lease = this.leases.first) {
      this.reservations.reclaim(lease.token, now);
      this.#end(lease);
      freed = true;
    }
    if (this.reservations.ghosts > 0) {
      for (const state of this.reservations.dropGhosts(now)) {
        this.#vacated(state);
        freed = true;
      }
    }
    if (this.#rotation.nextThaw <= now) freed = this.#rotation.thaw(now) || freed;
    if (freed) this.#drain();
  }

  /** Whether an account that is not named is healthy, busy or not. */
  othersAreHealthy(exclude: Iterable<string>): boolean {
    return this.#rotation.healthyBut(exclude) > 0;
  }

  /** When time alone brings about something that a waiting request waits for; `Infinity` when nobody waits. */
  get nextEvent(): number {
    if (this.waiting === 0) return Number.POSITIVE_INFINITY;
    const { ghosts, deadline } = this.reservations;
    const dropped = ghosts > 0 ? deadline : Number.POSITIVE_INFINITY;
    return Math.min(this.#rotation.nextThaw, this.leases.nextExpiry, dropped);
  }

  /** Drops an account that is no longer configured, once nothing of it is left. */
  forget(state: AccountState): void {
    if (state.account === null && state.held === 0 && state.mark === 0) this.states.delete(state.id);
  }

  /** The account that a request means. Identifiers may differ in their case alone: then the exact one is meant. */
  #named(name: string): AccountState | null {
    const exact = this.states.get(name);
    if (exact !== undefined && exact.account !== null) return exact;
    return this.states.get(this.names.get(name.toLowerCase()) ?? "") ?? null;
  }

  #place(state: AccountState): void {
    this.#rotation.place(state);
    if (state.waiters.size > 0) this.#queue.place(state, this.#rotation);
  }

  #grant(state: AccountState, request: AcquireRequest): Outcome {
    const now = this.#now();
    this.serial += 1;
    const lease = this.reservations.name(this.serial);
    const holder = holderOf(request);
    const share = this.#shares.of(holder.caller);
    share.held += 1;
    share.served = this.serial;
    state.leases += 1;
    this.reservations.raise(state, this.limits.perAccount);
    this.leases.add(lease, this.serial, state, holder, now).trial = state.trust.tried(now);
    this.#rotation.used(state);
    if (state.waiters.size > 0) this.#queue.place(state, this.#rotation);
    return { granted: { lease, ...this.#events.describe(state, request, now) } };
  }

  #wait(
    request: AcquireRequest,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
    again: Waiter | null,
  ): Outcome | Waiter {
    const waited = again === null ? 0 : Math.max(0, this.#now() - again.since);
    const waitMs = (request.waitMs ?? this.limits.queueWaitMs) - waited;
    const share = this.#shares.of(request.caller ?? "");
    const full = this.#queue.size >= this.queueLimit;
    const surplus = full ? this.#shares.surplus(share) : null;
    if ((full && surplus === null) || waitMs <= 0) {
      this.#shares.forget(share);
      return { refused: full && surplus === null ? "queue_full" : "queue_timeout" };
    }
    if (surplus !== null) this.dismiss(surplus, { refused: "queue_full" });
    const waiter = again ?? this.#waiter(request, share, target, exclude);
    waiter.share = share;
    waiter.stopTimer = this.#setTimer(waitMs, () => this.dismiss(waiter, { refused: "queue_timeout" }));
    this.#queue.add(waiter, this.#rotation);
    this.#events.rescheduled();
    return waiter;
  }

  #waiter(
    request: AcquireRequest,
    share: Share,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
  ): Waiter {
    this.serial += 1;
    return new Waiter(this.serial, request, share, target, exclude, this.#now(), (it) => this.#cancel(it));
  }

  /** Has a waiting request leave with nothing. */
  dismiss(waiter: Waiter, outcome: Refused): void {
    if (waiter.outcome !== null) return;
    this.aside.delete(waiter);
    this.#queue.remove(waiter, this.#rotation);
    this.#shares.forget(waiter.share);
    waiter.settle(outcome);
    this.#events.dismissed(waiter.request);
    this.#events.rescheduled();
  }

  #cancel(waiter: Waiter): void {
    const { outcome } = waiter;
    if (outcome === null) this.dismiss(waiter, { refused: "cancelled" });
    else if ("granted" in outcome) this.release(outcome.granted.lease);
  }

  /** Serves everybody who can run, those first whose turn it is. */
  #drain(): void {
    while (this.waiting > 0 && this.inUse < this.globalLimit) {
      const next = this.#queue.next(this.#rotation);
      if (next === null) return;
      this.#queue.remove(next.waiter, this.#rotation);
      next.waiter.settle(this.#grant(next.state, next.waiter.request));
    }
  }

  #end(lease: LeaseRecord): void {
    this.leases.remove(lease);
    const share = this.#shares.of(lease.holder.caller);
    share.held -= 1;
    this.#shares.forget(share);
    lease.state.leases -= 1;
    lease.state.trust.ended(lease.trial);
    if (lease.isolate !== "") this.reservations.isolates.left(lease.isolate);
    this.#events.ended(lease, this.#now());
    this.#vacated(lease.state);
  }

  #belongs(lease: LeaseRecord, isolate: string): void {
    if (isolate === "" || lease.isolate !== "") return;
    lease.isolate = isolate;
    this.reservations.isolates.joined(isolate);
  }

  #vacated(state: AccountState): void {
    this.#place(state);
    this.forget(state);
    if (this.inUse === 0) this.#events.idle();
  }
}
