import type {
  KeyLimitUsage,
  LimitedUse,
  LimitRefusal,
  RemainingLimits,
  SpentAmounts,
} from "../../core/ports/key-limits.ts";
import { DAYS, MONTHS, Period } from "./calendar-period.ts";
import { KeyMeter } from "./key-meter.ts";
import type { Counted } from "./rolling-minute.ts";
import type { StoredSum, StoredUse, UseStore } from "./use-store.ts";

/**
 * How long a request still counts as running after it released its slot, milliseconds: it may continue with another
 * account.
 */
export const RELEASE_GRACE_MS = 2_000;

/** How long a request with a slot of another pool counts as running without a report, milliseconds: as long as a lease. */
const REMOTE_TIMEOUT_MS = 12_000;

/** Requests are stored individually until they have ended for the length of a minute's window, milliseconds. */
const RETENTION_MS = 60_000;

/** One request of a key with limits. */
interface TrackedUse {
  readonly id: string;
  readonly meter: KeyMeter;
  /** When it was admitted. */
  takenAt: number;
  /** When it began; 0: it is waiting. */
  at: number;
  tokens: number;
  cost: number;
  extraTokens: number;
  extraCost: number;
  ended: number;
  settled: boolean;
  /** Number of slots that it occupies. */
  slots: number;
  /** When it counts as ended if no report follows; `Infinity` while it occupies a slot or waits. */
  endsAt: number;
  readonly counted: Counted;
  stored: boolean;
}

/**
 * The use of the keys with limits. A request is counted when it is admitted, with an estimate of its tokens and cost, and
 * only once for all its attempts. It is settled when its real use is known; without a report the estimate counts. A request
 * that is refused, or leaves while it waits, returns everything.
 *
 * Everything is stored before it is visible outside, in one row per request: a loss of memory loses nothing and counts
 * nothing twice.
 */
export class UseLedger {
  readonly #store: UseStore;
  readonly #meters = new Map<string, KeyMeter>();
  readonly #foldedPeriods = new Map<string, { readonly day: Period; readonly month: Period }>();
  /** Keys whose sums in {@link UseLedger.#folded} are not stored yet. */
  readonly #unfolded = new Set<string>();
  readonly #uses = new Map<string, TrackedUse>();
  /** Uses that end by themselves if no report follows. */
  readonly #ending = new Set<TrackedUse>();

  /**
   * @param orphanTimeoutMs how long requests from before a restart may still be running without a report, milliseconds
   */
  constructor(store: UseStore, now: number, orphanTimeoutMs: number) {
    this.#store = store;
    for (const sum of store.loadSums()) {
      const { day, month } = this.#getFoldedPeriods(sum.key);
      restore(day, sum.day, sum.dayTokens, sum.dayCost);
      restore(month, sum.month, sum.monthTokens, sum.monthCost);
      const meter = this.#getOrCreateMeter(sum.key);
      restore(meter.day, sum.day, sum.dayTokens, sum.dayCost);
      restore(meter.month, sum.month, sum.monthTokens, sum.monthCost);
    }
    const events: { readonly at: number; readonly count: () => void }[] = [];
    for (const stored of store.loadUses()) {
      const meter = this.#getOrCreateMeter(stored.key);
      meter.day.roll(now);
      meter.month.roll(now);
      this.#restore(stored, meter, now, orphanTimeoutMs, events);
    }
    events.sort((a, b) => a.at - b.at);
    for (const { count } of events) count();
    for (const meter of this.#meters.values()) meter.roll(now);
  }

  /** Whether any use is stored that a sweep will remove. */
  get hasUses(): boolean {
    return this.#uses.size > 0;
  }

  /**
   * Admits a request and reserves its expected use, or returns why not. A request that was admitted before continues as the
   * same. The next call is {@link begin}, {@link recordWaiting} or {@link releaseReservation}.
   */
  reserve({ id, key, limits, tokens, cost }: LimitedUse, now: number): LimitRefusal | null {
    this.#endExpired(now);
    const tracked = this.#uses.get(id);
    if (tracked !== undefined) {
      this.#reopen(tracked);
      return null;
    }
    const meter = this.#getOrCreateMeter(key);
    meter.roll(now);
    const refusal = meter.checkLimits(limits, { tokens, cost }, now);
    if (refusal !== null) return refusal;
    const counted = meter.minute.reserve(1, tokens);
    meter.addSpent(now, { tokens, cost });
    meter.parallel += 1;
    this.#uses.set(id, {
      id,
      meter,
      takenAt: now,
      at: 0,
      tokens,
      cost,
      extraTokens: 0,
      extraCost: 0,
      ended: 0,
      settled: false,
      slots: 0,
      endsAt: Number.POSITIVE_INFINITY,
      counted,
      stored: false,
    });
    return null;
  }

  /** The remaining limits of a key. */
  limitState({ key, limits }: LimitedUse, now: number): RemainingLimits {
    const meter = this.#getOrCreateMeter(key);
    meter.roll(now);
    return meter.windowStates(limits, now);
  }

  /** An admitted request waits for a slot. Its minute starts when it begins. */
  recordWaiting(id: string): void {
    const use = this.#uses.get(id);
    if (use !== undefined && !use.stored) this.#save(use);
  }

  /** An admitted request has a slot: it begins, or continues with another account. */
  begin(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    use.slots += 1;
    this.#cancelEnd(use);
    this.#recordBegin(use, now);
  }

  /** The same with a slot of another pool: see {@link renewRemote}. */
  beginRemote(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    this.renewRemote(id, now);
    this.#recordBegin(use, now);
  }

  /**
   * An admitted request waits for a slot of another pool, or has one: it ends when no report follows within the lifetime of
   * a lease. A request that had ended that way continues.
   */
  renewRemote(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined || use.slots > 0) return;
    this.#reopen(use);
    if (use.ended === 0) this.#scheduleEnd(use, now + REMOTE_TIMEOUT_MS);
  }

  #recordBegin(use: TrackedUse, now: number): void {
    if (use.at !== 0) return;
    use.at = now;
    use.meter.minute.begin(use.counted, now);
    if (use.takenAt !== now) {
      // A new day or month may have started meanwhile.
      use.meter.addSpent(use.takenAt, { tokens: -use.tokens, cost: -use.cost });
      use.meter.roll(now);
      use.meter.addSpent(now, use);
    }
    this.#save(use);
  }

  /** A restarted pool has resumed a lease of the request. */
  resume(id: string): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    use.slots += 1;
    this.#reopen(use);
  }

  /** A request has released a slot. It ends unless it continues soon. */
  releaseSlot(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    use.slots -= 1;
    if (use.slots <= 0) this.#scheduleEnd(use, now + RELEASE_GRACE_MS);
  }

  /** A request got no slot. If it never had one, nothing of it counts. */
  releaseReservation(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    if (use.at === 0) this.#remove(use);
    else if (use.slots <= 0) this.#scheduleEnd(use, now + RELEASE_GRACE_MS);
  }

  /** A request was never served, although it may have begun: nothing of it counts, unless it was settled. */
  undo(id: string): void {
    const use = this.#uses.get(id);
    if (use !== undefined && !use.settled && use.slots <= 0) this.#remove(use);
  }

  /** A request has ended and its real use is known. Only the first call counts. */
  settle(id: string, spent: SpentAmounts, now: number): void {
    this.#endExpired(now);
    const use = this.#uses.get(id);
    if (use === undefined || use.settled) return;
    if (use.at === 0) {
      this.#remove(use);
      return;
    }
    const { meter } = use;
    meter.roll(now);
    const refund = {
      tokens: Math.min(0, spent.tokens - use.tokens),
      cost: Math.min(0, spent.cost - use.cost),
    };
    const extra = {
      tokens: Math.max(0, spent.tokens - use.tokens),
      cost: Math.max(0, spent.cost - use.cost),
    };
    meter.minute.change(use.counted, 0, refund.tokens);
    meter.addSpent(use.at, refund);
    use.tokens += refund.tokens;
    use.cost += refund.cost;
    if (extra.tokens > 0) meter.minute.add(now, 0, extra.tokens);
    meter.addSpent(now, extra);
    use.extraTokens = extra.tokens;
    use.extraCost = extra.cost;
    use.settled = true;
    if (use.ended === 0) meter.parallel -= 1;
    use.ended = Math.max(now, use.at);
    this.#cancelEnd(use);
    this.#save(use);
  }

  /**
   * Resolves when everything counted is written; null: it is already. Rejects when the storage fails: the next write tries
   * again.
   */
  whenStored(): Promise<void> | null {
    return this.#store.whenStored();
  }

  /** Writes everything counted immediately. Throws when the storage fails: the next write tries again. */
  writeNow(): void {
    this.#store.writeNow();
  }

  /**
   * Adds ended requests to the sums. Returns whether uses are left. Throws what the storage throws: the next sweep makes up
   * for it.
   */
  sweep(now: number): boolean {
    this.#endExpired(now);
    const cutoff = now - RETENTION_MS;
    const keys = this.#unfolded;
    for (const use of this.#uses.values()) {
      if (use.ended === 0 || use.ended > cutoff) continue;
      const { key } = use.meter;
      const folded = this.#getFoldedPeriods(key);
      const extra = { tokens: use.extraTokens, cost: use.extraCost };
      for (const period of [folded.day, folded.month]) {
        period.roll(now);
        period.add(use.at, use);
        period.add(use.ended, extra);
      }
      keys.add(key);
      this.#uses.delete(use.id);
    }
    if (keys.size === 0) return this.hasUses;
    const sums = Array.from(keys, (key) => this.#createSum(key));
    this.#store.fold(cutoff, sums);
    keys.clear();
    return this.hasUses;
  }

  /** The use that counts towards each key's limits: of the keys with any use this month, or of the key `only`. */
  listKeyUses(now: number, only?: string): KeyLimitUsage[] {
    this.#endExpired(now);
    const meters = only === undefined ? [...this.#meters.values()] : [this.#meters.get(only) ?? []].flat();
    return meters.map((meter) => {
      meter.roll(now);
      return meter.currentUse();
    });
  }

  /** Ends the requests whose time without a report is over. */
  #endExpired(now: number): void {
    for (const use of this.#ending) {
      // Needed when the clock was set back.
      if (use.endsAt > now + RETENTION_MS) use.endsAt = now + RELEASE_GRACE_MS;
      if (use.endsAt > now) continue;
      this.#cancelEnd(use);
      if (use.at === 0) {
        this.#remove(use);
        continue;
      }
      use.meter.parallel -= 1;
      use.ended = Math.max(now, use.at);
      this.#save(use);
    }
  }

  #scheduleEnd(use: TrackedUse, at: number): void {
    if (use.ended !== 0) return;
    use.endsAt = at;
    this.#ending.add(use);
  }

  #cancelEnd(use: TrackedUse): void {
    use.endsAt = Number.POSITIVE_INFINITY;
    this.#ending.delete(use);
  }

  #reopen(use: TrackedUse): void {
    this.#cancelEnd(use);
    if (use.ended === 0 || use.settled) return;
    use.ended = 0;
    use.meter.parallel += 1;
    this.#save(use);
  }

  /** Removes a request as if it had never existed. */
  #remove(use: TrackedUse): void {
    const { meter } = use;
    this.#cancelEnd(use);
    meter.minute.drop(use.counted);
    meter.addSpent(use.at === 0 ? use.takenAt : use.at, { tokens: -use.tokens, cost: -use.cost });
    if (use.ended === 0) meter.parallel -= 1;
    this.#uses.delete(use.id);
    if (use.stored) this.#store.removeUse(use.id);
  }

  #save(use: TrackedUse): void {
    const { id, meter, at, tokens, cost, extraTokens, extraCost, ended, settled } = use;
    const isNew = !use.stored;
    use.stored = true;
    this.#store.saveUse(
      { id, key: meter.key, at, tokens, cost, extraTokens, extraCost, ended, settled },
      isNew,
    );
  }

  #restore(
    stored: StoredUse,
    meter: KeyMeter,
    now: number,
    orphanTimeoutMs: number,
    events: { readonly at: number; readonly count: () => void }[],
  ): void {
    const { key: _, ...rest } = stored;
    const { minute } = meter;
    const { at, ended, tokens } = stored;
    const counted = minute.reserve(1, tokens);
    const use: TrackedUse = {
      ...rest,
      meter,
      takenAt: at === 0 ? now : at,
      slots: 0,
      endsAt: Number.POSITIVE_INFINITY,
      counted,
      stored: true,
    };
    this.#uses.set(use.id, use);
    meter.addSpent(use.takenAt, use);
    if (at !== 0) events.push({ at, count: () => minute.begin(counted, at) });
    if (stored.extraTokens > 0 || stored.extraCost > 0) {
      meter.addSpent(ended, { tokens: stored.extraTokens, cost: stored.extraCost });
      events.push({ at: ended, count: () => minute.add(ended, 0, stored.extraTokens) });
    }
    if (ended === 0) {
      meter.parallel += 1;
      this.#scheduleEnd(use, now + orphanTimeoutMs);
    }
  }

  #getOrCreateMeter(key: string): KeyMeter {
    let meter = this.#meters.get(key);
    if (meter === undefined) {
      meter = new KeyMeter(key);
      this.#meters.set(key, meter);
    }
    return meter;
  }

  #getFoldedPeriods(key: string): { readonly day: Period; readonly month: Period } {
    let folded = this.#foldedPeriods.get(key);
    if (folded === undefined) {
      folded = { day: new Period(DAYS), month: new Period(MONTHS) };
      this.#foldedPeriods.set(key, folded);
    }
    return folded;
  }

  #createSum(key: string): StoredSum {
    const { day, month } = this.#getFoldedPeriods(key);
    return {
      key,
      day: day.index,
      dayTokens: day.tokens,
      dayCost: day.cost,
      month: month.index,
      monthTokens: month.tokens,
      monthCost: month.cost,
    };
  }
}

function restore(period: Period, index: number, tokens: number, cost: number): void {
  period.index = index;
  period.tokens = tokens;
  period.cost = cost;
}
