import { HOUR_MS } from "../../core/units.ts";
import type { AccountState } from "../accounts/account-state.ts";
import type { ClaimPeriods, GrantTerms, LeaseTerms, PoolStore } from "../storage/pool-store.ts";
import { IsolateRegistry } from "./isolate-registry.ts";

/** A high-water mark follows the maximum of the last one to two windows, milliseconds. */
const WINDOW_MS = 30_000;

/** How long the pool must be idle before all high-water marks are cleared, milliseconds. */
export const IDLE_SETTLE_MS = 1_000;

/** The terms of versions that did not store any. */
const LEGACY_TERMS: LeaseTerms = { boot: "", claimMs: 30_000, awaitMs: 30_000 };

/** How long the tokens of reclaimed leases are remembered, milliseconds. */
const REMEMBER_MS = HOUR_MS;

/**
 * The part of the pool's state that survives a restart. Storing every grant and release would double the cost of a request.
 * Instead the store keeps a high-water mark per account, which steady load never changes, and the names of the isolates
 * that hold long-lived leases. A restarted pool holds back as many slots as the marks say (unconfirmed leases), until the
 * holders have resumed them or have stopped using them. It waits for the claim period, and longer only while one of those
 * isolates is silent.
 */
export class LeaseRecovery {
  /** Number of slots held back in total. */
  unconfirmedLeases = 0;
  readonly isolates: IsolateRegistry;
  /** Number of this start of the pool; it is part of each lease name. */
  readonly start: number;
  /** Leases from starts before this one have all ended. */
  #oldestLive: number;
  readonly #store: PoolStore;
  readonly #marked = new Set<AccountState>();
  readonly #reclaimed: Map<string, number>;
  /** Tokens from before the restart that were already resumed. */
  readonly #confirmed = new Set<string>();
  readonly #startedAt: number;
  /** The stored terms. */
  #stored: LeaseTerms | null;
  /** The terms of the leases that this start grants. */
  readonly #terms: GrantTerms;
  /** All holders from before this start have ended. */
  readonly #allEnded: boolean;
  /** How long this start waits for the leases of earlier starts. */
  readonly #claimPeriods: ClaimPeriods;
  #windowStart: number;

  constructor(store: PoolStore, now: number, terms: GrantTerms, state: (id: string) => AccountState) {
    this.#store = store;
    this.#windowStart = now;
    this.#startedAt = now;
    this.#terms = terms;
    this.#stored = store.loadTerms();
    const previousTerms = this.#stored ?? LEGACY_TERMS;
    this.#claimPeriods = previousTerms;
    // The process was restarted, so all holders of slots have ended.
    this.#allEnded = terms.boot !== "" && terms.boot !== previousTerms.boot;
    if (this.#allEnded) store.clearHighWaterMarks();
    this.isolates = new IsolateRegistry(store);
    this.#reclaimed = new Map(store.loadReclaimed());
    for (const [id, slots] of store.loadHighWaterMarks()) {
      if (slots <= 0) continue;
      const account = state(id);
      account.highWaterMark = slots;
      account.unconfirmedLeases = slots;
      account.peak = slots;
      this.unconfirmedLeases += slots;
      this.#marked.add(account);
    }
    const { last, oldestLive } = store.loadStarts();
    this.start = last + 1;
    this.#oldestLive = this.unconfirmedLeases === 0 ? this.start : oldestLive;
    store.saveStarts({ last: this.start, oldestLive: this.#oldestLive });
    if (this.unconfirmedLeases === 0) this.isolates.stopAwaitingAll();
    this.#saveTerms(this.unconfirmedLeases === 0 ? terms : longestTerms(previousTerms, terms));
    // Two starts must never use the same number: grants wait until it is stored.
    store.flush();
  }

  /** From when on no holder from before the restart can use a slot, monotonic milliseconds. */
  get deadline(): number {
    const { claimMs, awaitMs } = this.#claimPeriods;
    return this.#startedAt + (this.isolates.isAwaiting ? awaitMs : claimMs);
  }

  /** How long requests from before this start may still be running without a report, milliseconds. */
  get orphanTimeoutMs(): number {
    return this.#allEnded ? 0 : this.#claimPeriods.awaitMs;
  }

  /** The name of a lease: the number of the pool's start, and the lease's serial number. */
  leaseName(serial: number): string {
    return `${this.start}.${serial}`;
  }

  /** Whether the store has any high-water mark, so that sweeps are needed. */
  get hasHighWaterMarks(): boolean {
    return this.#marked.size > 0;
  }

  /**
   * Ensures that the stored mark is at least `occupiedSlots`. Must be called before a slot is granted: it throws when
   * the store fails, and then nothing may be granted. The mark doubles up to `limit` (the account's slots), so that
   * growing load does not cost a write for each request.
   */
  raiseHighWaterMark(state: AccountState, occupiedSlots: number, limit: number): void {
    if (occupiedSlots > state.highWaterMark && this.#terms.holdersShareProcess !== true) {
      const highWaterMark = Math.max(occupiedSlots, Math.min(2 * state.highWaterMark, limit));
      this.#store.setHighWaterMark(state.id, highWaterMark);
      this.#store.flush();
      state.highWaterMark = highWaterMark;
      this.#marked.add(state);
    }
    if (occupiedSlots > state.peak) state.peak = occupiedSlots;
  }

  /** Whether an unconfirmed lease may be the lease `token` from before the restart. If so, it is confirmed, once. */
  confirmLease(token: string, state: AccountState | undefined): boolean {
    if (state === undefined || state.unconfirmedLeases === 0) return false;
    const start = Number.parseInt(token, 10);
    if (!(start >= this.#oldestLive && start < this.start)) return false;
    if (this.#confirmed.has(token) || this.#reclaimed.has(token)) return false;
    this.#confirmed.add(token);
    state.unconfirmedLeases -= 1;
    this.unconfirmedLeases -= 1;
    return true;
  }

  /**
   * Remembers an expired lease. Its holder may try to resume it after a restart, and must not take another holder's slot.
   *
   * @param now Unix milliseconds
   */
  recordReclaimed(token: string, now: number): void {
    this.#reclaimed.set(token, now);
    this.#store.addReclaimed(token, now);
  }

  /** Drops the unconfirmed leases after the deadline. Returns the accounts that had any. */
  dropExpiredUnconfirmed(now: number): AccountState[] {
    if (this.unconfirmedLeases === 0 || now < this.deadline) return [];
    const freed = [...this.#marked].filter((state) => state.unconfirmedLeases > 0);
    for (const state of freed) state.unconfirmedLeases = 0;
    this.unconfirmedLeases = 0;
    this.#confirmed.clear();
    this.#oldestLive = this.start;
    this.#store.saveStarts({ last: this.start, oldestLive: this.start });
    this.isolates.stopAwaitingAll();
    this.#saveTerms(this.#terms);
    return freed;
  }

  /** Leases of earlier starts may still be alive under longer terms, so only the longest terms are safe. */
  #saveTerms(terms: LeaseTerms): void {
    const { boot, claimMs, awaitMs } = terms;
    const stored = this.#stored;
    if (stored?.boot === boot && stored.claimMs === claimMs && stored.awaitMs === awaitMs) return;
    this.#stored = terms;
    this.#store.saveTerms(terms);
  }

  /** No slot is occupied: deletes all marks with one write. */
  clearHighWaterMarks(): void {
    if (this.#marked.size === 0) return;
    for (const state of this.#marked) {
      state.highWaterMark = 0;
      state.peak = 0;
      state.previousPeak = 0;
    }
    this.#marked.clear();
    this.#store.clearHighWaterMarks();
  }

  /**
   * Lowers marks that were not needed recently, once per window.
   *
   * @param now Unix milliseconds
   */
  lowerHighWaterMarks(now: number, monotonicNow: number): void {
    if (monotonicNow - this.#windowStart < WINDOW_MS) return;
    this.#windowStart = monotonicNow;
    for (const state of this.#marked) {
      const needed = Math.max(state.occupiedSlots, state.peak, state.previousPeak);
      state.previousPeak = state.peak;
      state.peak = state.occupiedSlots;
      if (needed >= state.highWaterMark) continue;
      state.highWaterMark = needed;
      this.#store.setHighWaterMark(state.id, needed);
      if (needed === 0) this.#marked.delete(state);
    }
    this.#forgetReclaimed(now);
  }

  #forgetReclaimed(now: number): void {
    const cutoff = now - REMEMBER_MS;
    let dropped = false;
    for (const [token, at] of this.#reclaimed) {
      if (at >= cutoff) break;
      this.#reclaimed.delete(token);
      dropped = true;
    }
    if (dropped) this.#store.dropReclaimed(cutoff);
  }
}

function longestTerms(previous: LeaseTerms, { boot, claimMs, awaitMs }: LeaseTerms): LeaseTerms {
  return {
    boot,
    claimMs: Math.max(previous.claimMs, claimMs),
    awaitMs: Math.max(previous.awaitMs, awaitMs),
  };
}
