import { type AcquireRequest, ANY_PROVIDER } from "../platform/accounts.ts";
import type { SetTimer } from "../platform/clock.ts";
import type { PoolLimits } from "../platform/pool-configuration.ts";
import type { AccountState } from "./account-state.ts";
import { AccountTable } from "./account-table.ts";
import type { Pulse } from "./heartbeat.ts";
import { type Lane, Lanes } from "./lane.ts";
import { type Holder, holderOf, type LeaseRecord, Leases } from "./leases.ts";
import type { OwnTerms, PoolStore } from "./pool-store.ts";
import { Reservations } from "./reservations.ts";
import { type LimitParts, SlotLimits } from "./slot-limits.ts";
import { type Grant, type Outcome, Waiter } from "./waiting-queue.ts";
import { type WaitingEvents, WaitingRoom } from "./waiting-room.ts";

/** Callbacks of the slots' owner. */
export interface SlotEvents extends WaitingEvents {
  /** Returns the data that is sent with a granted slot. */
  describe(state: AccountState, request: AcquireRequest, now: number): Omit<Grant, "lease">;
  /** A lease has ended, by release or by expiry. */
  ended(lease: LeaseRecord, now: number): void;
  /** No slot is occupied any more. */
  idle(): void;
}

/**
 * While a slot is occupied, the pool checks its clock at least this often. A much larger step means that the clock was set,
 * or that the pool was suspended: then all leases get their full lifetime again. Several smaller steps in a row stay below
 * a lease's lifetime.
 */
export const LOOK_MS = 1_000;
const CLOCK_STEP_MS = 2 * LOOK_MS;

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
  readonly lanes = new Lanes();
  readonly accounts = new AccountTable(this.lanes);
  readonly limits = new SlotLimits(this.lanes);
  readonly waiting: WaitingRoom;
  readonly leases: Leases;
  readonly reservations: Reservations;
  readonly #now: () => number;
  #seenAt: number;
  readonly #events: SlotEvents;

  constructor(
    store: PoolStore,
    ttlMs: number,
    terms: OwnTerms,
    now: () => number,
    setTimer: SetTimer,
    events: SlotEvents,
  ) {
    this.#now = now;
    this.#seenAt = now();
    this.#events = events;
    this.waiting = new WaitingRoom(this, this.lanes, this.limits, { now, setTimer }, events);
    this.leases = new Leases(ttlMs);
    this.reservations = new Reservations(store, now(), terms, (id) => this.accounts.make(id));
  }

  /** Occupied slots, including unconfirmed leases from before a restart. */
  get inUse(): number {
    return this.leases.size + this.reservations.ghosts;
  }

  /**
   * Assigns an account to the pool of its provider, before it is configured. When the provider changes, the state of the
   * old account is discarded: it is another account.
   */
  assign(state: AccountState, provider: string): void {
    const lane = this.lanes.make(provider);
    if (state.lane === lane) return;
    state.account = null;
    this.#place(state);
    for (const waiter of [...state.waiters]) this.waiting.dismiss(waiter, { refused: "target_not_found" });
    state.lane = lane;
  }

  /**
   * Applies limits, and the accounts that have `account` set, while requests are running.
   *
   * @param perAccount slots of each account, by provider, where they differ from `limits`
   */
  configure(limits: PoolLimits, perAccount: Readonly<Record<string, number>> = {}): void {
    this.limits.configure(limits, perAccount);
    this.accounts.count();
    for (const state of [...this.accounts]) {
      if (!state.isOwn) {
        for (const waiter of [...state.waiters])
          this.waiting.dismiss(waiter, { refused: "target_not_found" });
        this.accounts.forget(state);
      }
      this.#place(state);
    }
    for (const lane of this.lanes.all) {
      if (lane.enabled > 0) continue;
      const concerned = ({ target }: AcquireRequest) => lane.total === 0 || target === undefined;
      this.waiting.refuse(lane, concerned, { refused: "no_accounts" });
    }
    this.waiting.refuseSick();
    this.#drain();
    this.#events.rescheduled();
  }

  /** Applies new shares of the limits. */
  takeParts(parts: LimitParts): void {
    this.catchUp();
    this.limits.parts = parts;
    this.#drain();
    this.#events.rescheduled();
  }

  /** See `AccountPool.acquire`. */
  acquire(request: AcquireRequest, mayTrade = false): Outcome | Waiter {
    return this.#acquire(request, null, mayTrade);
  }

  /** Treats a held request as if it had just arrived, in its old position among the requests of its caller. */
  admit(waiter: Waiter): void {
    waiter.stopTimer();
    waiter.lane.aside.delete(waiter);
    try {
      const outcome = this.#acquire(waiter.request, waiter);
      if (outcome instanceof Waiter) return;
      if ("granted" in outcome) waiter.settle(outcome);
      else this.waiting.dismiss(waiter, outcome);
    } catch (error) {
      this.waiting.fail(waiter, error);
    }
  }

  #acquire(request: AcquireRequest, again: Waiter | null, mayTrade = false): Outcome | Waiter {
    this.catchUp();
    if (this.accounts.total === 0) return { refused: "no_accounts" };
    const target = request.target === undefined ? null : this.accounts.named(request.target);
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
    if (free && this.inUse < this.limits.usable) {
      const outcome = this.#grant(state, request);
      if (this.waiting.size > 0) this.#events.rescheduled();
      return outcome;
    }
    const outcome = this.waiting.queue(lane, request, target, exclude, again, mayTrade);
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

  /** See `AccountPool.resumeLease`. */
  resume(token: string, account: string, holder: Holder, isolate: string): string | null {
    this.catchUp();
    const state = this.accounts.get(account);
    if (state === undefined || !this.reservations.take(token, state)) return null;
    this.serial += 1;
    state.leases += 1;
    const name = this.reservations.name(this.serial);
    const share = state.lane.shares.of(holder.caller);
    share.held += 1;
    this.#belongs(this.leases.add(name, this.serial, state, holder, share, this.#now()), isolate);
    return name;
  }

  /** See `AccountPool.heartbeat`. */
  beat(isolate: string, tokens: readonly string[], known?: number): Pulse {
    this.catchUp();
    const now = this.#now();
    const { start, isolates } = this.reservations;
    const lost: string[] = [];
    // A heartbeat sent before the restart may also omit leases that were granted before the restart.
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

  /** Called when cooldowns of accounts have started or ended: other requests may run now. */
  replaced(states: Iterable<AccountState>): void {
    for (const state of states) this.#place(state);
    this.waiting.refuseSick();
    this.#drain();
    this.#events.rescheduled();
  }

  /** Processes events that only the passing of time causes. */
  catchUp(): void {
    const now = this.#now();
    const step = now - this.#seenAt;
    this.#seenAt = now;
    if (step < 0 || (this.inUse > 0 && step > CLOCK_STEP_MS)) {
      this.leases.renewAll(now);
      this.reservations.clockSet(step);
      for (const state of this.accounts) {
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

  /** Whether the provider has a healthy account that is not excluded, busy or not. */
  othersAreHealthy({ rotation }: Lane, exclude: Iterable<string>): boolean {
    return rotation.healthyBut(exclude) > 0;
  }

  /** When the next event occurs that a waiting request may depend on, Unix milliseconds; `Infinity` when no request waits. */
  get nextEvent(): number {
    if (this.waiting.size === 0) return Number.POSITIVE_INFINITY;
    const { ghosts, deadline } = this.reservations;
    const dropped = ghosts > 0 ? deadline : Number.POSITIVE_INFINITY;
    let thaw = Number.POSITIVE_INFINITY;
    for (const { rotation } of this.lanes.all) thaw = Math.min(thaw, rotation.nextThaw);
    return Math.min(thaw, this.leases.nextExpiry, dropped);
  }

  #place(state: AccountState): void {
    const { rotation, queue } = state.lane;
    rotation.place(state);
    if (state.waiters.size > 0) queue.place(state, rotation);
  }

  /** Throws when the store fails; then nothing was granted. */
  #grant(state: AccountState, request: AcquireRequest): Outcome {
    const { rotation, shares, queue } = state.lane;
    this.reservations.raise(state, state.held + 1, rotation.perAccount);
    const now = this.#now();
    this.serial += 1;
    const lease = this.reservations.name(this.serial);
    const holder = holderOf(request);
    const share = shares.of(holder.caller);
    share.held += 1;
    share.served = this.serial;
    state.leases += 1;
    this.leases.add(lease, this.serial, state, holder, share, now).trial = state.trust.tried(now);
    rotation.used(state);
    if (state.waiters.size > 0) queue.place(state, rotation);
    return { granted: { lease, ...this.#events.describe(state, request, now) } };
  }

  /** Grants slots to all waiting requests that can run, in their order. */
  #drain(): void {
    while (this.waiting.size > 0 && this.inUse < this.limits.usable) {
      const turn = this.lanes.next();
      if (turn === null) return;
      const { lane, next } = turn;
      lane.queue.remove(next.waiter, lane.rotation);
      try {
        next.waiter.settle(this.#grant(next.state, next.waiter.request));
      } catch (error) {
        // The failure affects this request only.
        this.waiting.fail(next.waiter, error);
      }
    }
    if (this.waiting.size > 0) this.#events.short("global", false);
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
    this.accounts.forget(state);
    if (this.inUse === 0) this.#events.idle();
  }
}
