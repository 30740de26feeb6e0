import { type AcquireRequest, ANY_PROVIDER, type PoolLimits, type Refused } from "../platform/accounts.ts";
import { AccountState } from "./account-state.ts";
import type { SetTimer } from "./clock.ts";
import type { Pulse } from "./heartbeat.ts";
import { type Lane, Lanes } from "./lane.ts";
import { type Holder, holderOf, type LeaseRecord, Leases } from "./leases.ts";
import type { PartedLimit, PartUse } from "./limit-part.ts";
import type { LeaseTerms, PoolStore } from "./pool-store.ts";
import { Reservations } from "./reservations.ts";
import type { Share } from "./shares.ts";
import { type Grant, type Outcome, Waiter } from "./waiting-queue.ts";

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
  /** More of a limit could be used: requests wait, or one was turned away. Of interest where there are several pools. */
  short(limit: PartedLimit, turnedAway: boolean): void;
}

/**
 * While anything is held the pool looks at its clock at least this often. A step that is greater by far is a clock that was set, or
 * a pool that was kept from running: leases live their whole life anew. Several small ones in a row stay below what a lease lives.
 */
export const LOOK_MS = 1_000;
const CLOCK_STEP_MS = 2 * LOOK_MS;

/** What one of several pools may use of the limits that it shares with the others; null: there is no such limit. */
export interface LimitParts {
  /** Slots in use. */
  readonly global: number | null;
  /** Waiting requests, of which each provider has its own. */
  readonly queue: number | null;
}

/**
 * Slots, leases and waiting requests. Never more leases than `perAccount` on an account, nor than the global limit in all.
 * After each change everybody who can run is served at once, hence a newcomer finds nobody waiting whom it could overtake.
 * While requests wait, slots go to the callers that hold the fewest, so that none can keep more than its share from others;
 * nobody has to give a slot back for it. The requests of one caller are served in order of arrival. All this holds among the
 * requests for one provider: each has a {@link Lane} of its own, and the global limit is all that they share.
 */
export class Slots {
  limits: PoolLimits = { perAccount: 1, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  /** Null: there is one pool. */
  parts: LimitParts | null = null;
  /** Configured accounts. */
  total = 0;
  /** Serial number of the newest lease or waiting request. */
  serial = 0;
  readonly states = new Map<string, AccountState>();
  /** Identifiers of the configured accounts by all their names. */
  names: ReadonlyMap<string, string> = new Map();
  readonly leases: Leases;
  readonly reservations: Reservations;
  readonly lanes = new Lanes();
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
    return this.limits.global || this.recommended;
  }

  /** How many slots may be in use here. */
  get usable(): number {
    // Without a limit the accounts' slots are what there is: those of accounts that have moved away count where they are now.
    return this.parts === null ? this.globalLimit : (this.parts.global ?? Number.POSITIVE_INFINITY);
  }

  /** Slots of all accounts together. */
  get recommended(): number {
    let slots = 0;
    for (const lane of this.lanes.all) slots += lane.slots;
    return slots;
  }

  /** How many requests may wait, of which each provider has its own. */
  get queueLimit(): number {
    return this.limits.queue || this.recommended;
  }

  get waiting(): number {
    return this.lanes.waiting;
  }

  /** Waiting requests in order of arrival. */
  waiters(): Waiter[] {
    return this.lanes.waiters();
  }

  /** The account of that name; unknown ones are added, not yet configured. */
  state(id: string): AccountState {
    let state = this.states.get(id);
    if (state === undefined) {
      state = new AccountState(id, this.lanes.own);
      this.states.set(id, state);
    }
    return state;
  }

  /**
   * Puts an account into the lane of its provider, before it is configured. What is known of it as an account of another
   * provider is forgotten: it is another account.
   */
  assign(state: AccountState, provider: string): void {
    const lane = this.lanes.make(provider);
    if (state.lane === lane) return;
    state.account = null;
    this.#place(state);
    for (const waiter of [...state.waiters]) this.dismiss(waiter, { refused: "target_not_found" });
    state.lane = lane;
  }

  /**
   * Applies limits, and the accounts that have `account` set, while requests are in flight.
   *
   * @param perAccount slots of each account, by provider, where they are not those of `limits`
   */
  configure(limits: PoolLimits, perAccount: Readonly<Record<string, number>> = {}): void {
    this.limits = limits;
    this.total = 0;
    for (const lane of this.lanes.all) {
      lane.rotation.perAccount = perAccount[lane.provider] ?? limits.perAccount;
      lane.total = 0;
      lane.enabled = 0;
    }
    for (const { isOwn, enabled, lane } of this.states.values()) {
      if (!isOwn) continue;
      this.total += 1;
      lane.total += 1;
      if (enabled) lane.enabled += 1;
    }
    for (const state of [...this.states.values()]) {
      if (!state.isOwn) {
        for (const waiter of [...state.waiters]) this.dismiss(waiter, { refused: "target_not_found" });
        this.forget(state);
      }
      this.#place(state);
    }
    for (const lane of this.lanes.all) {
      if (lane.enabled > 0) continue;
      const concerned = ({ target }: AcquireRequest) => lane.total === 0 || target === undefined;
      this.refuse(lane, concerned, { refused: "no_accounts" });
    }
    this.#refuseSick();
    this.#drain();
    this.#events.rescheduled();
  }

  /** Goes by other parts of the limits from now on. */
  takeParts(parts: LimitParts): void {
    this.catchUp();
    this.parts = parts;
    this.#drain();
    this.#events.rescheduled();
  }

  /** How much of the limits is used, and could be. Each provider has a queue: the longest counts. */
  get partUses(): Readonly<Record<PartedLimit, PartUse>> {
    const { inUse, recommended } = this;
    const free = Math.max(0, recommended - inUse);
    const able = this.lanes.next() === null ? 0 : this.waiting;
    const queued = Math.max(...this.lanes.all.map(({ queue }) => queue.size));
    return {
      global: {
        inUse,
        heldBack: this.reservations.ghosts,
        wanted: Math.min(able, free),
        most: recommended,
      },
      // Once it is full requests are turned away: so there is to be room for twice as many, and for one in any case.
      queue: { inUse: queued, heldBack: 0, wanted: Math.max(1, queued), most: Number.POSITIVE_INFINITY },
    };
  }

  /** Grants a slot, refuses, or has the request wait. */
  acquire(request: AcquireRequest): Outcome | Waiter {
    return this.#acquire(request, null);
  }

  /**
   * Has a request that wants no certain account wait outside of the queue, until `admit` or `dismiss`; refuses it with `late` when neither comes
   * within `ms` milliseconds. Null: more wait than the free slots and the queue have room for.
   */
  putAside(lane: Lane, request: AcquireRequest, ms: number, late: Refused): Waiter | null {
    this.catchUp();
    const room = this.#queueLimitOf(lane) + Math.max(0, this.usable - this.inUse);
    if (lane.waiting >= room) return null;
    const exclude = request.exclude?.length ? new Set(request.exclude) : null;
    const share = lane.shares.of(request.caller ?? "");
    lane.shares.forget(share);
    const waiter = this.#waiter(lane, request, share, null, exclude);
    this.#setAside(waiter, ms, late);
    return waiter;
  }

  /** The same with a request that is in the queue. */
  takeAside(waiter: Waiter, ms: number, late: Refused): void {
    const { queue, rotation, shares } = waiter.lane;
    queue.remove(waiter, rotation);
    shares.forget(waiter.share);
    this.#setAside(waiter, ms, late);
  }

  /** Treats a request that was put aside as if it came now, in its old place among those of its caller. */
  admit(waiter: Waiter): void {
    waiter.stopTimer();
    waiter.lane.aside.delete(waiter);
    const outcome = this.#acquire(waiter.request, waiter);
    if (outcome instanceof Waiter) return;
    if ("granted" in outcome) waiter.settle(outcome);
    else this.dismiss(waiter, outcome);
  }

  #setAside(waiter: Waiter, ms: number, late: Refused): void {
    waiter.stopTimer();
    waiter.stopTimer = this.#setTimer(ms, () => this.dismiss(waiter, late));
    waiter.lane.aside.add(waiter);
    this.#events.rescheduled();
  }

  #acquire(request: AcquireRequest, again: Waiter | null): Outcome | Waiter {
    this.catchUp();
    if (this.total === 0) return { refused: "no_accounts" };
    const target = request.target === undefined ? null : this.#named(request.target);
    if (request.target !== undefined && target?.isOwn !== true) {
      return { refused: "target_not_found" };
    }
    const lane = request.provider === ANY_PROVIDER ? target?.lane : this.lanes.of(request.provider);
    if (lane === undefined) return { refused: "no_accounts" };
    if (target !== null && target.lane !== lane) return { refused: "target_not_found" };
    if (target?.enabled === false && request.disabledToo !== true) return { refused: "target_not_found" };
    if (target === null && lane.enabled === 0) return { refused: "no_accounts" };
    const exclude = target === null && request.exclude?.length ? new Set(request.exclude) : null;
    if (exclude !== null && !this.othersAreHealthy(lane, exclude)) return { refused: "no_accounts" };
    const state = target ?? lane.rotation.pick(exclude, request.wellOnly);
    const free = state !== null && lane.rotation.hasSlot(state);
    if (free && this.inUse < this.usable) {
      const outcome = this.#grant(state, request);
      if (this.waiting > 0) this.#events.rescheduled();
      return outcome;
    }
    const outcome = this.#wait(lane, request, target, exclude, again);
    if (free) this.#events.short("global", !(outcome instanceof Waiter));
    if (request.wellOnly !== true || outcome instanceof Waiter) return outcome;
    return { ...outcome, isWell: lane.rotation.isWell };
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
    const share = state.lane.shares.of(holder.caller);
    share.held += 1;
    this.#belongs(this.leases.add(name, this.serial, state, holder, share, this.#now()), isolate);
    return name;
  }

  /** See `AccountPool.beat`. */
  beat(isolate: string, tokens: readonly string[], known?: number): Pulse {
    this.catchUp();
    const now = this.#now();
    const { start, isolates } = this.reservations;
    const lost: string[] = [];
    // What was sent before the restart may leave out what was granted before it, too.
    let settled = known === undefined || known === start;
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
    this.#refuseSick();
    this.#drain();
    this.#events.rescheduled();
  }

  /** Who waits for an account that is well goes to another pool when there is none any more. */
  #refuseSick(): void {
    if (this.parts === null) return;
    for (const lane of this.lanes.all) {
      if (lane.waiting === 0 || lane.rotation.isWell) continue;
      this.refuse(lane, ({ wellOnly }) => wellOnly === true, { refused: "no_accounts", isWell: false });
    }
  }

  /** Refuses the waiting requests for a provider that are concerned. */
  refuse(lane: Lane, concerned: (request: AcquireRequest) => boolean, outcome: Refused): void {
    for (const waiter of lane.waiters()) if (concerned(waiter.request)) this.dismiss(waiter, outcome);
  }

  /** Does what time alone has brought about. */
  catchUp(): void {
    const now = this.#now();
    const step = now - this.#seenAt;
    this.#seenAt = now;
    if (step < 0 || (this.inUse > 0 && step > CLOCK_STEP_MS)) {
      this.leases.renewAll(now);
      this.reservations.clockSet(step);
      for (const state of this.states.values()) {
        state.trust.clockSet(step);
        this.#place(state);
      }
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
    for (const { rotation } of this.lanes.all)
      if (rotation.nextThaw <= now) freed = rotation.thaw(now) || freed;
    if (freed) this.#drain();
  }

  /** Whether an account of the provider that is not named is healthy, busy or not. */
  othersAreHealthy({ rotation }: Lane, exclude: Iterable<string>): boolean {
    return rotation.healthyBut(exclude) > 0;
  }

  /** When time alone brings about something that a waiting request waits for; `Infinity` when nobody waits. */
  get nextEvent(): number {
    if (this.waiting === 0) return Number.POSITIVE_INFINITY;
    const { ghosts, deadline } = this.reservations;
    const dropped = ghosts > 0 ? deadline : Number.POSITIVE_INFINITY;
    let thaw = Number.POSITIVE_INFINITY;
    for (const { rotation } of this.lanes.all) thaw = Math.min(thaw, rotation.nextThaw);
    return Math.min(thaw, this.leases.nextExpiry, dropped);
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
    const { rotation, queue } = state.lane;
    rotation.place(state);
    if (state.waiters.size > 0) queue.place(state, rotation);
  }

  #grant(state: AccountState, request: AcquireRequest): Outcome {
    const now = this.#now();
    this.serial += 1;
    const lease = this.reservations.name(this.serial);
    const holder = holderOf(request);
    const { rotation, shares, queue } = state.lane;
    const share = shares.of(holder.caller);
    share.held += 1;
    share.served = this.serial;
    state.leases += 1;
    this.reservations.raise(state, rotation.perAccount);
    this.leases.add(lease, this.serial, state, holder, share, now).trial = state.trust.tried(now);
    rotation.used(state);
    if (state.waiters.size > 0) queue.place(state, rotation);
    return { granted: { lease, ...this.#events.describe(state, request, now) } };
  }

  #wait(
    lane: Lane,
    request: AcquireRequest,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
    again: Waiter | null,
  ): Outcome | Waiter {
    const waited = again === null ? 0 : Math.max(0, this.#now() - again.since);
    const waitMs = (request.waitMs ?? this.limits.queueWaitMs) - waited;
    const { shares, queue } = lane;
    const share = shares.of(request.caller ?? "");
    const limit = this.#queueLimitOf(lane);
    const full = queue.size >= limit;
    if (waitMs > 0 && 2 * (queue.size + 1) > limit) this.#events.short("queue", full);
    const surplus = full ? shares.surplus(share) : null;
    if ((full && surplus === null) || waitMs <= 0) {
      shares.forget(share);
      return { refused: full && surplus === null ? "queue_full" : "queue_timeout" };
    }
    if (surplus !== null) this.dismiss(surplus, { refused: "queue_full" });
    const waiter = again ?? this.#waiter(lane, request, share, target, exclude);
    waiter.share = share;
    waiter.stopTimer = this.#setTimer(waitMs, () => this.dismiss(waiter, { refused: "queue_timeout" }));
    queue.add(waiter, lane.rotation);
    this.#events.rescheduled();
    return waiter;
  }

  #waiter(
    lane: Lane,
    request: AcquireRequest,
    share: Share,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
  ): Waiter {
    this.serial += 1;
    const now = this.#now();
    return new Waiter(this.serial, request, lane, share, target, exclude, now, (it) => this.#cancel(it));
  }

  /** How many requests may wait for a provider. */
  #queueLimitOf(lane: Lane): number {
    return this.parts?.queue ?? (this.limits.queue || lane.slots);
  }

  /** Has a waiting request leave with nothing. */
  dismiss(waiter: Waiter, outcome: Refused): void {
    if (waiter.outcome !== null) return;
    const { queue, rotation, shares, aside } = waiter.lane;
    aside.delete(waiter);
    queue.remove(waiter, rotation);
    shares.forget(waiter.share);
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
    while (this.waiting > 0 && this.inUse < this.usable) {
      const turn = this.lanes.next();
      if (turn === null) return;
      const { lane, next } = turn;
      lane.queue.remove(next.waiter, lane.rotation);
      next.waiter.settle(this.#grant(next.state, next.waiter.request));
    }
    if (this.waiting > 0) this.#events.short("global", false);
  }

  #end(lease: LeaseRecord): void {
    this.leases.remove(lease);
    const { share } = lease;
    share.held -= 1;
    share.among.forget(share);
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
