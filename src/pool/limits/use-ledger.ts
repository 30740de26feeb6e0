import {
  type LimitedSubject,
  type LimitedUse,
  type LimitRefusal,
  listSubjects,
  type RemainingLimits,
  type SpentAmounts,
  type SubjectUsage,
} from "../../core/ports/subject-limits.ts";
import { EndedSums } from "./ended-sums.ts";
import { SubjectMeter } from "./subject-meter.ts";
import {
  type CountedPart,
  checkAll,
  countPart,
  createUse,
  getCountingStart,
  hasBegun,
  leavePart,
  selectTighterWindow,
  type TrackedUse,
  toStoredUse,
} from "./tracked-use.ts";
import type { StoredUse, UseStore } from "./use-store.ts";

/**
 * How long a request still counts as running after it released its slot, milliseconds: it may continue with another
 * account.
 */
export const RELEASE_GRACE_MS = 2_000;

/** How long a request with a slot of another pool counts as running without a report, milliseconds: as long as a lease. */
const REMOTE_TIMEOUT_MS = 12_000;

/** Requests are stored individually until they have ended for the length of a minute's window, milliseconds. */
const RETENTION_MS = 60_000;

/**
 * The use of the keys, teams, users, tags and providers with limits. A request is counted when it is admitted, with an
 * estimate of its tokens and cost, and only once for all its attempts. It is settled when its real use is known; without a
 * report the estimate counts. A request that is refused, or leaves while it waits, returns everything.
 *
 * Everything is stored before it is visible outside, in one row per request: a loss of memory loses nothing and counts
 * nothing twice.
 */
export class UseLedger {
  readonly #store: UseStore;
  readonly #meters = new Map<string, SubjectMeter>();
  readonly #endedSums = new EndedSums();
  readonly #uses = new Map<string, TrackedUse>();
  /** Uses that end by themselves if no report follows. */
  readonly #ending = new Set<TrackedUse>();

  /**
   * @param orphanTimeoutMs how long requests from before a restart may still be running without a report, milliseconds
   */
  constructor(store: UseStore, now: number, orphanTimeoutMs: number) {
    this.#store = store;
    for (const sum of store.loadSums()) {
      this.#endedSums.restore(sum);
      const meter = this.#getOrCreateMeter(sum.subject);
      meter.day.restore(sum.day, { tokens: sum.dayTokens, cost: sum.dayCost });
      meter.month.restore(sum.month, { tokens: sum.monthTokens, cost: sum.monthCost });
    }
    const events: { readonly at: number; readonly count: () => void }[] = [];
    for (const stored of store.loadUses()) this.#restore(stored, now, orphanTimeoutMs, events);
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
  reserve(limitedUse: LimitedUse, now: number): LimitRefusal | null {
    this.#endExpired(now);
    const { id, tokens, cost } = limitedUse;
    const subjects = listSubjects(limitedUse);
    const tracked = this.#uses.get(id);
    const expected = limitedUse.costsNothing === true ? null : (tracked ?? { tokens, cost });
    if (tracked !== undefined) return this.#continue(tracked, subjects, expected, now);
    const meters = subjects.map(({ key: subject }) => this.#getOrCreateMeter(subject));
    const refusal = checkAll(subjects, meters, expected, now);
    if (refusal !== null) return refusal;
    const use = createUse(limitedUse, now);
    use.parts = meters.map((meter) => countPart(use, meter));
    this.#uses.set(id, use);
    return null;
  }

  /** A request that was admitted before continues. At another provider it counts for another subject. */
  #continue(
    use: TrackedUse,
    subjects: readonly LimitedSubject[],
    expected: SpentAmounts | null,
    now: number,
  ): LimitRefusal | null {
    const isSame =
      subjects.length === use.parts.length &&
      subjects.every(({ key: subject }, index) => subject === use.parts[index]?.meter.subject);
    if (!isSame && !use.settled) {
      const known = new Map(use.parts.map((part) => [part.meter.subject, part]));
      const added = subjects.filter(({ key: subject }) => !known.has(subject));
      const meters = added.map(({ key: subject }) => this.#getOrCreateMeter(subject));
      const refusal = checkAll(added, meters, expected, now);
      if (refusal !== null) return refusal;
      const isRunning = use.endedAt === 0;
      for (const meter of meters) known.set(meter.subject, countPart(use, meter, isRunning));
      const names = new Set(subjects.map(({ key: subject }) => subject));
      for (const part of use.parts) if (!names.has(part.meter.subject)) leavePart(use, part);
      use.parts = subjects.flatMap(({ key: subject }) => known.get(subject) ?? []);
      if (use.stored) this.#save(use);
    }
    this.#reopen(use);
    return null;
  }

  /** The remaining limits of a request's minute: of each kind, those of the subject with the least left. */
  getLimitState(use: LimitedUse, now: number): RemainingLimits {
    let remaining: RemainingLimits = { requests: null, tokens: null };
    for (const { key: subject, limits } of listSubjects(use)) {
      const meter = this.#getOrCreateMeter(subject);
      meter.roll(now);
      const { requests, tokens } = meter.getWindowStates(limits, now);
      remaining = {
        requests: selectTighterWindow(remaining.requests, requests),
        tokens: selectTighterWindow(remaining.tokens, tokens),
      };
    }
    return remaining;
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
    if (use.endedAt === 0) this.#scheduleEnd(use, now + REMOTE_TIMEOUT_MS);
  }

  #recordBegin(use: TrackedUse, now: number): void {
    if (use.begunAt !== 0) {
      const added = use.parts.filter(({ counted }) => !hasBegun(counted));
      for (const { meter, counted } of added) meter.minute.begin(counted, now);
      if (added.length > 0) this.#save(use);
      return;
    }
    use.begunAt = now;
    for (const { meter, counted } of use.parts) {
      meter.minute.begin(counted, now);
      if (use.admittedAt === now) continue;
      // A new day or month may have started meanwhile.
      meter.addSpent(use.admittedAt, { tokens: -use.tokens, cost: -use.cost });
      meter.roll(now);
      meter.addSpent(now, use);
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
    if (use.begunAt === 0) this.#remove(use);
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
    if (use.begunAt === 0) {
      this.#remove(use);
      return;
    }
    this.#leaveUnbegun(use);
    const refund = {
      tokens: Math.min(0, spent.tokens - use.tokens),
      cost: Math.min(0, spent.cost - use.cost),
    };
    const extra = {
      tokens: Math.max(0, spent.tokens - use.tokens),
      cost: Math.max(0, spent.cost - use.cost),
    };
    for (const { meter, counted } of use.parts) {
      meter.roll(now);
      meter.minute.change(counted, 0, refund.tokens);
      meter.addSpent(use.begunAt, refund);
      if (extra.tokens > 0) meter.minute.add(now, 0, extra.tokens);
      meter.addSpent(now, extra);
      if (use.endedAt === 0) meter.parallel -= 1;
    }
    use.tokens += refund.tokens;
    use.cost += refund.cost;
    use.extraTokens = extra.tokens;
    use.extraCost = extra.cost;
    use.settled = true;
    use.endedAt = Math.max(now, use.begunAt);
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
    for (const use of this.#uses.values()) {
      if (use.endedAt === 0 || use.endedAt > cutoff) continue;
      for (const { meter } of use.parts) this.#endedSums.add(meter.subject, use, now);
      this.#uses.delete(use.id);
    }
    if (!this.#endedSums.hasUnstored) return this.hasUses;
    this.#store.fold(cutoff, this.#endedSums.listUnstored());
    this.#endedSums.markStored();
    return this.hasUses;
  }

  /** The use that counts towards the limits of each subject: of those with any use this month, or of the subject `only`. */
  listSubjectUses(now: number, only?: string): SubjectUsage[] {
    this.#endExpired(now);
    const meters = only === undefined ? [...this.#meters.values()] : [this.#meters.get(only) ?? []].flat();
    return meters.map((meter) => {
      meter.roll(now);
      return meter.getCurrentUse();
    });
  }

  /** Ends the requests whose time without a report is over. */
  #endExpired(now: number): void {
    for (const use of this.#ending) {
      // Needed when the clock was set back.
      if (use.expiresAt > now + RETENTION_MS) use.expiresAt = now + RELEASE_GRACE_MS;
      if (use.expiresAt > now) continue;
      this.#cancelEnd(use);
      if (use.begunAt === 0) {
        this.#remove(use);
        continue;
      }
      this.#leaveUnbegun(use);
      for (const { meter } of use.parts) meter.parallel -= 1;
      use.endedAt = Math.max(now, use.begunAt);
      this.#save(use);
    }
  }

  /** Removes a begun request from the subjects for which it was admitted, but did not begin. */
  #leaveUnbegun(use: TrackedUse): void {
    const unbegun = use.parts.filter(({ counted }) => !hasBegun(counted));
    if (unbegun.length === 0) return;
    for (const part of unbegun) leavePart(use, part);
    use.parts = use.parts.filter(({ counted }) => hasBegun(counted));
  }

  #scheduleEnd(use: TrackedUse, at: number): void {
    if (use.endedAt !== 0) return;
    use.expiresAt = at;
    this.#ending.add(use);
  }

  #cancelEnd(use: TrackedUse): void {
    use.expiresAt = Number.POSITIVE_INFINITY;
    this.#ending.delete(use);
  }

  #reopen(use: TrackedUse): void {
    this.#cancelEnd(use);
    if (use.endedAt === 0 || use.settled) return;
    use.endedAt = 0;
    for (const { meter } of use.parts) meter.parallel += 1;
    this.#save(use);
  }

  /** Removes a request as if it had never existed. */
  #remove(use: TrackedUse): void {
    this.#cancelEnd(use);
    for (const { meter, counted } of use.parts) {
      meter.minute.drop(counted);
      meter.addSpent(getCountingStart(use), { tokens: -use.tokens, cost: -use.cost });
      if (use.endedAt === 0) meter.parallel -= 1;
    }
    this.#uses.delete(use.id);
    if (use.stored) this.#store.removeUse(use.id);
  }

  #save(use: TrackedUse): void {
    const isNew = !use.stored;
    use.stored = true;
    this.#store.saveUse(toStoredUse(use), isNew);
  }

  #restore(
    stored: StoredUse,
    now: number,
    orphanTimeoutMs: number,
    events: { readonly at: number; readonly count: () => void }[],
  ): void {
    const { subject, others, at, ended, ...rest } = stored;
    const parts = (subject === "" ? [] : [subject, ...others]).map((name): CountedPart => {
      const meter = this.#getOrCreateMeter(name);
      meter.day.roll(now);
      meter.month.roll(now);
      return { meter, counted: meter.minute.reserve(1, rest.tokens) };
    });
    const admittedAt = at === 0 ? now : at;
    const use = { ...createUse(rest, admittedAt), ...rest, parts, begunAt: at, endedAt: ended, stored: true };
    this.#uses.set(use.id, use);
    for (const { meter, counted } of parts) {
      meter.addSpent(use.admittedAt, use);
      if (at !== 0) events.push({ at, count: () => meter.minute.begin(counted, at) });
      if (stored.extraTokens > 0 || stored.extraCost > 0) {
        meter.addSpent(ended, { tokens: stored.extraTokens, cost: stored.extraCost });
        events.push({ at: ended, count: () => meter.minute.add(ended, 0, stored.extraTokens) });
      }
      if (ended === 0) meter.parallel += 1;
    }
    if (ended === 0) this.#scheduleEnd(use, now + orphanTimeoutMs);
  }

  #getOrCreateMeter(subject: string): SubjectMeter {
    let meter = this.#meters.get(subject);
    if (meter === undefined) {
      meter = new SubjectMeter(subject);
      this.#meters.set(subject, meter);
    }
    return meter;
  }
}
