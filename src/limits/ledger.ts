import type { KeyUse, LimitedUse, LimitRefusal, LimitState, Spent } from "../platform/limits.ts";
import { KeyMeter } from "./meter.ts";
import type { Counted } from "./minute.ts";
import { DAYS, MONTHS, Period } from "./period.ts";
import type { StoredSum, StoredUse, UseStore } from "./store.ts";

/** How long a request still counts as under way after it has given its slot back: it may go on with another account. */
export const PAUSE_MS = 2_000;

/** How long a request that has its slot from another pool counts as under way without a word of it: as long as a lease. */
const AWAY_MS = 12_000;

/** Requests are kept one by one until they have ended for as long as a minute's window is. */
const KEPT_MS = 60_000;

/** One request of a key with limits. */
interface Use {
  readonly id: string;
  readonly meter: KeyMeter;
  /** When it was let in. */
  takenAt: number;
  /** When it began; 0: it waits. */
  at: number;
  tokens: number;
  cost: number;
  extraTokens: number;
  extraCost: number;
  ended: number;
  settled: boolean;
  /** Slots that it holds. */
  slots: number;
  /** When it will have ended if nothing more is heard of it; `Infinity` while it holds a slot or waits. */
  endsAt: number;
  readonly counted: Counted;
  stored: boolean;
}

/**
 * What the requests of keys with limits use. A request is counted when it is let in, with an estimate of its tokens and its
 * cost, and once, however many attempts it takes; it is settled when it is known what it used, and counts with its estimate if
 * nobody ever says. One that is refused, or leaves while it waits, gives everything back.
 *
 * Everything is in the store before it is seen outside, with one row for a request: whatever happens to the memory, nothing is
 * forgotten and nothing counts twice.
 */
export class UseLedger {
  readonly #store: UseStore;
  readonly #meters = new Map<string, KeyMeter>();
  readonly #folded = new Map<string, { readonly day: Period; readonly month: Period }>();
  /** Keys of which the store does not have the sums that are in {@link UseLedger.#folded}. */
  readonly #unfolded = new Set<string>();
  readonly #uses = new Map<string, Use>();
  /** Those that end by themselves if nothing is heard of them. */
  readonly #leaving = new Set<Use>();

  /** @param orphansMs for how long requests from before a restart may still be under way without a word of it */
  constructor(store: UseStore, now: number, orphansMs: number) {
    this.#store = store;
    for (const sum of store.loadSums()) {
      const { day, month } = this.#foldedOf(sum.key);
      restore(day, sum.day, sum.dayTokens, sum.dayCost);
      restore(month, sum.month, sum.monthTokens, sum.monthCost);
      const meter = this.#meter(sum.key);
      restore(meter.day, sum.day, sum.dayTokens, sum.dayCost);
      restore(meter.month, sum.month, sum.monthTokens, sum.monthCost);
    }
    const events: { readonly at: number; readonly count: () => void }[] = [];
    for (const stored of store.loadUses()) {
      const meter = this.#meter(stored.key);
      meter.day.roll(now);
      meter.month.roll(now);
      this.#restore(stored, meter, now, orphansMs, events);
    }
    events.sort((one, other) => one.at - other.at);
    for (const { count } of events) count();
    for (const meter of this.#meters.values()) meter.roll(now);
  }

  /** Whether anything is kept that a sweep will do away with. */
  get pending(): boolean {
    return this.#uses.size > 0;
  }

  /**
   * Lets a request in, and reserves what it is expected to use; or says why not. One that was let in before goes on as the
   * same. What follows is {@link begin}, {@link wait} or {@link giveBack}.
   */
  take({ id, key, limits, tokens, cost }: LimitedUse, now: number): LimitRefusal | null {
    this.#pass(now);
    const known = this.#uses.get(id);
    if (known !== undefined) {
      this.#reopen(known);
      return null;
    }
    const meter = this.#meter(key);
    meter.roll(now);
    const refusal = meter.refusal(limits, { tokens, cost }, now);
    if (refusal !== null) return refusal;
    const counted = meter.minute.reserve(1, tokens);
    meter.spend(now, { tokens, cost });
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

  /** What is left to a key. */
  state({ key, limits }: LimitedUse, now: number): LimitState {
    const meter = this.#meter(key);
    meter.roll(now);
    return meter.state(limits, now);
  }

  /** A request that was let in waits for a slot. Its minute begins with its work. */
  wait(id: string): void {
    const use = this.#uses.get(id);
    if (use !== undefined && !use.stored) this.#save(use);
  }

  /** A request that was let in begins, or begins anew: it has a slot. */
  begin(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    use.slots += 1;
    this.#stays(use);
    this.#begins(use, now);
  }

  /** The same with a slot of another pool: see {@link away}. */
  beginAway(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    this.away(id, now);
    this.#begins(use, now);
  }

  /**
   * A request that was let in waits for a slot of another pool, or has one: it ends when nothing is heard of it for as long as
   * a lease lives. One of which nothing was heard for longer goes on.
   */
  away(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined || use.slots > 0) return;
    this.#reopen(use);
    if (use.ended === 0) this.#ends(use, now + AWAY_MS);
  }

  #begins(use: Use, now: number): void {
    if (use.at !== 0) return;
    use.at = now;
    use.meter.minute.begin(use.counted, now);
    if (use.takenAt !== now) {
      // A day, or a month, may have ended meanwhile.
      use.meter.spend(use.takenAt, { tokens: -use.tokens, cost: -use.cost });
      use.meter.roll(now);
      use.meter.spend(now, use);
    }
    this.#save(use);
  }

  /** A slot that a request holds was taken over by a restarted pool. */
  resumed(id: string): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    use.slots += 1;
    this.#reopen(use);
  }

  /** A request has given its slot back. Unless it goes on soon it has ended. */
  leave(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    use.slots -= 1;
    if (use.slots <= 0) this.#ends(use, now + PAUSE_MS);
  }

  /** A request got no slot. If it never had one nothing of it counts. */
  giveBack(id: string, now: number): void {
    const use = this.#uses.get(id);
    if (use === undefined) return;
    if (use.at === 0) this.#forget(use);
    else if (use.slots <= 0) this.#ends(use, now + PAUSE_MS);
  }

  /** A request was never served, although it may have begun: nothing of it counts, unless it was settled. */
  undo(id: string): void {
    const use = this.#uses.get(id);
    if (use !== undefined && !use.settled && use.slots <= 0) this.#forget(use);
  }

  /** A request has ended, and it is known what it used. Only the first word counts. */
  settle(id: string, spent: Spent, now: number): void {
    this.#pass(now);
    const use = this.#uses.get(id);
    if (use === undefined || use.settled) return;
    if (use.at === 0) {
      this.#forget(use);
      return;
    }
    const { meter } = use;
    meter.roll(now);
    const less = { tokens: Math.min(0, spent.tokens - use.tokens), cost: Math.min(0, spent.cost - use.cost) };
    const extra = {
      tokens: Math.max(0, spent.tokens - use.tokens),
      cost: Math.max(0, spent.cost - use.cost),
    };
    meter.minute.change(use.counted, 0, less.tokens);
    meter.spend(use.at, less);
    use.tokens += less.tokens;
    use.cost += less.cost;
    if (extra.tokens > 0) meter.minute.add(now, 0, extra.tokens);
    meter.spend(now, extra);
    use.extraTokens = extra.tokens;
    use.extraCost = extra.cost;
    use.settled = true;
    if (use.ended === 0) meter.parallel -= 1;
    use.ended = Math.max(now, use.at);
    this.#stays(use);
    this.#save(use);
  }

  /** Resolves when all that is counted is written; null: it is. Rejects when the storage fails: the next write tries again. */
  keeping(): Promise<void> | null {
    return this.#store.kept();
  }

  /** Writes at once what is counted. Throws when the storage fails: the next write tries again. */
  writeNow(): void {
    this.#store.writeNow();
  }

  /** Adds up what is done with. Returns whether more is left. Throws what the storage throws: the next sweep makes up for it. */
  sweep(now: number): boolean {
    this.#pass(now);
    const horizon = now - KEPT_MS;
    const keys = this.#unfolded;
    for (const use of this.#uses.values()) {
      if (use.ended === 0 || use.ended > horizon) continue;
      const { key } = use.meter;
      const folded = this.#foldedOf(key);
      const extra = { tokens: use.extraTokens, cost: use.extraCost };
      for (const period of [folded.day, folded.month]) {
        period.roll(now);
        period.add(use.at, use);
        period.add(use.ended, extra);
      }
      keys.add(key);
      this.#uses.delete(use.id);
    }
    if (keys.size === 0) return this.pending;
    const sums = Array.from(keys, (key) => this.#sumOf(key));
    this.#store.fold(horizon, sums);
    keys.clear();
    return this.pending;
  }

  /** What counts towards each key's limits, of all keys that have used anything this month. */
  uses(now: number): KeyUse[] {
    this.#pass(now);
    return [...this.#meters.values()].map((meter) => {
      meter.roll(now);
      return meter.use();
    });
  }

  /** Requests of which nothing more was heard have ended. */
  #pass(now: number): void {
    for (const use of this.#leaving) {
      // A clock that was set back must not keep them.
      if (use.endsAt > now + KEPT_MS) use.endsAt = now + PAUSE_MS;
      if (use.endsAt > now) continue;
      this.#stays(use);
      if (use.at === 0) {
        this.#forget(use);
        continue;
      }
      use.meter.parallel -= 1;
      use.ended = Math.max(now, use.at);
      this.#save(use);
    }
  }

  #ends(use: Use, at: number): void {
    if (use.ended !== 0) return;
    use.endsAt = at;
    this.#leaving.add(use);
  }

  #stays(use: Use): void {
    use.endsAt = Number.POSITIVE_INFINITY;
    this.#leaving.delete(use);
  }

  #reopen(use: Use): void {
    this.#stays(use);
    if (use.ended === 0 || use.settled) return;
    use.ended = 0;
    use.meter.parallel += 1;
    this.#save(use);
  }

  /** As if a request had never been. */
  #forget(use: Use): void {
    const { meter } = use;
    this.#stays(use);
    meter.minute.drop(use.counted);
    meter.spend(use.at === 0 ? use.takenAt : use.at, { tokens: -use.tokens, cost: -use.cost });
    if (use.ended === 0) meter.parallel -= 1;
    this.#uses.delete(use.id);
    if (use.stored) this.#store.removeUse(use.id);
  }

  #save(use: Use): void {
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
    orphansMs: number,
    events: { readonly at: number; readonly count: () => void }[],
  ): void {
    const { key: _, ...rest } = stored;
    const { minute } = meter;
    const { at, ended, tokens } = stored;
    const counted = minute.reserve(1, tokens);
    const use: Use = {
      ...rest,
      meter,
      takenAt: at === 0 ? now : at,
      slots: 0,
      endsAt: Number.POSITIVE_INFINITY,
      counted,
      stored: true,
    };
    this.#uses.set(use.id, use);
    meter.spend(use.takenAt, use);
    if (at !== 0) events.push({ at, count: () => minute.begin(counted, at) });
    if (stored.extraTokens > 0 || stored.extraCost > 0) {
      meter.spend(ended, { tokens: stored.extraTokens, cost: stored.extraCost });
      events.push({ at: ended, count: () => minute.add(ended, 0, stored.extraTokens) });
    }
    if (ended === 0) {
      meter.parallel += 1;
      this.#ends(use, now + orphansMs);
    }
  }

  #meter(key: string): KeyMeter {
    let meter = this.#meters.get(key);
    if (meter === undefined) {
      meter = new KeyMeter(key);
      this.#meters.set(key, meter);
    }
    return meter;
  }

  #foldedOf(key: string): { readonly day: Period; readonly month: Period } {
    let folded = this.#folded.get(key);
    if (folded === undefined) {
      folded = { day: new Period(DAYS), month: new Period(MONTHS) };
      this.#folded.set(key, folded);
    }
    return folded;
  }

  #sumOf(key: string): StoredSum {
    const { day, month } = this.#foldedOf(key);
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
