import * as z from "zod";
import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import { PROVIDER_ERROR_KINDS } from "../../core/errors/provider-error.ts";
import type { AccountActivity, SuccessCounts } from "../../core/ports/account-status.ts";
import type { AccountFailure } from "../../core/ports/accounts.ts";
import { describeReason } from "./failure-reason.ts";

const number = z.number();
const storedBuckets = lazyObject(() => ({ newest: number, good: z.array(number), bad: z.array(number) }));
const storedFault = lazyObject(() => ({
  kind: z.enum(PROVIDER_ERROR_KINDS),
  reason: z.string(),
  fault: z.enum(["account", "proxy", "provider"]),
  at: number,
}));

/** The stored form of {@link Health}. Times are Unix milliseconds. */
export const storedHealthSchema = lazyObject(() => ({
  used: number,
  success: number,
  fault: z.nullable(storedFault),
  hour: z.optional(storedBuckets),
  day: z.optional(storedBuckets),
}));

/** See {@link storedHealthSchema}. */
export type StoredHealth = z.output<typeof storedHealthSchema>;

/** An hour is counted in parts of five minutes, and a day in hours. The reported rates are exact to within one part. */
const FIVE_MINUTES_MS = 300_000;
const PARTS = 12;
const HOURS = 24;
/** Offsets of the counters in one array: there may be very many accounts, so each must use little memory. */
const GOOD_PARTS = 0;
const BAD_PARTS = GOOD_PARTS + PARTS;
const GOOD_HOURS = BAD_PARTS + PARTS;
const BAD_HOURS = GOOD_HOURS + HOURS;
const COUNTS = BAD_HOURS + HOURS;

/**
 * Success statistics of one account over all its requests, tests included. Bounded size, in memory; the stored copy is as
 * old as the last `save`.
 */
export class Health {
  /** Whether there are unsaved changes. */
  hasUnsavedChanges = false;
  /** Number of the chunk that stores it (see `HealthPersistence`); -1: none. */
  chunkNumber = -1;
  #lastUsed = 0;
  #lastSuccess = 0;
  #lastFault: AccountActivity["lastFault"] = null;
  /** Index of the newest five minutes, counted from 1970; 0: nothing was counted yet. */
  #part = 0;
  /** Counts of the newest five minutes. They move to the array only when that time is over. */
  #good = 0;
  #bad = 0;
  /** Counts of the earlier time. */
  #counts: number[] | null = null;
  /** Time of the last successful test; 0: none since the pool started. */
  #tested = 0;

  used(now: number): void {
    this.#lastUsed = now;
    this.hasUnsavedChanges = true;
  }

  succeeded(now: number): void {
    this.#lastSuccess = now;
    this.#add(true, now);
  }

  failed(failure: AccountFailure, now: number): void {
    const { kind, fault } = failure;
    if (fault === null) return;
    this.#lastFault = { kind, reason: describeReason(failure), fault, at: now };
    this.#add(false, now);
  }

  /** Records that an administrator's test succeeded: earlier failures no longer count. */
  testSucceeded(now: number): void {
    this.#tested = now;
  }

  /** Whether most requests failed in the latest five to ten minutes that had any. */
  isFailing(now: number): boolean {
    if (this.#lastFault === null || this.#lastFault.at <= this.#tested) return false;
    if (this.#part > 0) this.#advanceTo(now);
    const { requests, succeeded } = this.#latestRate();
    if (requests > 0) return succeeded * 2 < requests;
    // There was no request within the last hour. Did the last failure come long after the last success?
    return this.#lastFault.at - this.#lastSuccess > FIVE_MINUTES_MS;
  }

  read(inFlight: number, now: number): AccountActivity {
    if (this.#part > 0) this.#advanceTo(now);
    return {
      inFlight,
      lastUsed: this.#lastUsed,
      lastSuccess: this.#lastSuccess,
      lastFault: this.#lastFault,
      hour: this.#rate(GOOD_PARTS, BAD_PARTS, PARTS),
      day: this.#rate(GOOD_HOURS, BAD_HOURS, HOURS),
    };
  }

  /** Returns what to store; null when nothing is known. */
  save(): StoredHealth | null {
    this.hasUnsavedChanges = false;
    if (this.#lastUsed === 0) return null;
    const stored = { used: this.#lastUsed, success: this.#lastSuccess, fault: this.#lastFault };
    if (this.#part === 0) return stored;
    const hour = Math.floor(this.#part / PARTS);
    return {
      ...stored,
      hour: {
        newest: this.#part,
        good: this.#copyCounts(GOOD_PARTS, PARTS, this.#part, this.#good),
        bad: this.#copyCounts(BAD_PARTS, PARTS, this.#part, this.#bad),
      },
      day: {
        newest: hour,
        good: this.#copyCounts(GOOD_HOURS, HOURS, hour, this.#good),
        bad: this.#copyCounts(BAD_HOURS, HOURS, hour, this.#bad),
      },
    };
  }

  /** Restores saved state. Counts are ignored when they have another layout. */
  load({ used, success, fault, hour, day }: StoredHealth): void {
    this.#lastUsed = used;
    this.#lastSuccess = success;
    this.#lastFault = fault;
    if (hour === undefined || day === undefined || day.newest !== Math.floor(hour.newest / PARTS)) return;
    const counts = [...hour.good, ...hour.bad, ...day.good, ...day.bad];
    if (hour.good.length !== PARTS || day.good.length !== HOURS || counts.length !== COUNTS) return;
    this.#part = hour.newest;
    this.#good = 0;
    this.#bad = 0;
    this.#counts = counts;
  }

  #add(isSuccess: boolean, now: number): void {
    this.#advanceTo(now);
    if (isSuccess) this.#good += 1;
    else this.#bad += 1;
    this.hasUnsavedChanges = true;
  }

  /** Advances to the five minutes of `now`. After a clock was set back, it keeps counting in the newest part. */
  #advanceTo(now: number): void {
    const part = Math.floor(now / FIVE_MINUTES_MS);
    const previous = this.#part;
    if (part <= previous) return;
    this.#part = part;
    if (previous === 0) return;
    const hour = Math.floor(previous / PARTS);
    this.#counts ??= new Array<number>(COUNTS).fill(0);
    const counts = this.#counts;
    increase(counts, GOOD_PARTS + (previous % PARTS), this.#good);
    increase(counts, BAD_PARTS + (previous % PARTS), this.#bad);
    increase(counts, GOOD_HOURS + (hour % HOURS), this.#good);
    increase(counts, BAD_HOURS + (hour % HOURS), this.#bad);
    this.#good = 0;
    this.#bad = 0;
    clearExpiredCounts(counts, GOOD_PARTS, BAD_PARTS, PARTS, previous, part);
    clearExpiredCounts(counts, GOOD_HOURS, BAD_HOURS, HOURS, hour, Math.floor(part / PARTS));
  }

  /** `good` and `bad` are offsets of the counters. */
  #rate(good: number, bad: number, length: number): SuccessCounts {
    let succeeded = this.#good;
    let requests = this.#good + this.#bad;
    for (let at = 0; at < length; at += 1) {
      succeeded += this.#counts?.[good + at] ?? 0;
      requests += (this.#counts?.[good + at] ?? 0) + (this.#counts?.[bad + at] ?? 0);
    }
    return { requests, succeeded };
  }

  /** Counts of the newest part that has any, and of the part before it. */
  #latestRate(): SuccessCounts {
    for (let age = 0; age < PARTS; age += 1) {
      const newest = this.#countPart(age);
      if (newest.requests === 0) continue;
      const previous = this.#countPart(age + 1);
      return {
        requests: newest.requests + previous.requests,
        succeeded: newest.succeeded + previous.succeeded,
      };
    }
    return { requests: 0, succeeded: 0 };
  }

  /** Counts of the part that began so many parts before the present one. */
  #countPart(age: number): SuccessCounts {
    if (age >= PARTS || this.#part < age) return { requests: 0, succeeded: 0 };
    const at = (this.#part - age) % PARTS;
    const [good, bad] = age === 0 ? [this.#good, this.#bad] : [0, 0];
    const succeeded = good + (this.#counts?.[GOOD_PARTS + at] ?? 0);
    return { requests: succeeded + bad + (this.#counts?.[BAD_PARTS + at] ?? 0), succeeded };
  }

  #copyCounts(from: number, length: number, newest: number, newestCount: number): number[] {
    const counts = this.#counts?.slice(from, from + length) ?? new Array<number>(length).fill(0);
    increase(counts, newest % length, newestCount);
    return counts;
  }
}

function increase(counts: number[], index: number, amount: number): void {
  counts[index] = (counts[index] ?? 0) + amount;
}

/** Clears the counters of the skipped time: they hold counts from one full cycle ago. */
function clearExpiredCounts(
  counts: number[],
  good: number,
  bad: number,
  length: number,
  previous: number,
  newest: number,
): void {
  for (let time = Math.max(previous + 1, newest - length + 1); time <= newest; time += 1) {
    counts[good + (time % length)] = 0;
    counts[bad + (time % length)] = 0;
  }
}
