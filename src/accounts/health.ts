import * as z from "zod";
import { lazyObject } from "../encoding/lazy-schema.ts";
import { PROVIDER_ERROR_KINDS } from "../errors/provider-error.ts";
import type { AccountActivity, AccountFailure, SuccessRate } from "../platform/accounts.ts";

const HOUR_MS = 3_600_000;

const number = z.number();
const storedBuckets = lazyObject(() => ({ newest: number, good: z.array(number), bad: z.array(number) }));
const storedFault = lazyObject(() => ({
  kind: z.enum(PROVIDER_ERROR_KINDS),
  reason: z.string(),
  fault: z.enum(["account", "proxy", "provider"]),
  at: number,
}));

/** What is kept of {@link Health}. Times are Unix milliseconds. */
export const storedHealthSchema = lazyObject(() => ({
  used: number,
  success: number,
  fault: z.nullable(storedFault),
  hour: z.optional(storedBuckets),
  day: z.optional(storedBuckets),
}));

/** See {@link storedHealthSchema}. */
export type StoredHealth = z.output<typeof storedHealthSchema>;

type StoredBuckets = z.output<typeof storedBuckets>;

/** Counts of a sliding time, in so many buckets: what is told is right to within one of them. */
class Buckets {
  readonly #width: number;
  readonly #count: number;
  readonly #good: Uint32Array;
  readonly #bad: Uint32Array;
  /** Number of the newest bucket, counted from 1970. */
  #newest = 0;

  constructor(spanMs: number, count: number) {
    this.#width = spanMs / count;
    this.#count = count;
    this.#good = new Uint32Array(count);
    this.#bad = new Uint32Array(count);
  }

  add(good: boolean, now: number): void {
    this.#turn(now);
    const counts = good ? this.#good : this.#bad;
    const place = this.#newest % this.#count;
    counts[place] = (counts[place] ?? 0) + 1;
  }

  read(now: number): SuccessRate {
    this.#turn(now);
    const sum = (counts: Uint32Array) => counts.reduce((total, count) => total + count, 0);
    const succeeded = sum(this.#good);
    return { requests: succeeded + sum(this.#bad), succeeded };
  }

  save(): StoredBuckets {
    return { newest: this.#newest, good: [...this.#good], bad: [...this.#bad] };
  }

  /** Takes over what was saved, if it was saved of as many buckets. */
  load({ newest, good, bad }: StoredBuckets): void {
    if (good.length !== this.#count || bad.length !== this.#count) return;
    this.#newest = newest;
    this.#good.set(good);
    this.#bad.set(bad);
  }

  /** Empties the buckets that time has gone over. */
  #turn(now: number): void {
    const newest = Math.floor(now / this.#width);
    const passed = Math.min(this.#count, newest - this.#newest);
    for (let step = 1; step <= passed; step += 1) {
      const place = (newest - passed + step) % this.#count;
      this.#good[place] = 0;
      this.#bad[place] = 0;
    }
    if (passed > 0) this.#newest = newest;
  }
}

/**
 * How an account has done, by what all its requests have come to, tests included. Of bounded size, and in memory: what is kept
 * of it is as old as the last `save`.
 */
export class Health {
  /** There is news that nobody has saved. */
  changed = false;
  #lastUsed = 0;
  #lastSuccess = 0;
  #lastFault: AccountActivity["lastFault"] = null;
  #buckets: ReturnType<typeof newBuckets> | null = null;

  used(now: number): void {
    this.#lastUsed = now;
    this.changed = true;
  }

  succeeded(now: number): void {
    this.#lastSuccess = now;
    this.#add(true, now);
  }

  failed({ kind, message, fault }: AccountFailure, now: number): void {
    if (fault === null) return;
    this.#lastFault = { kind, reason: message.slice(0, 300), fault, at: now };
    this.#add(false, now);
  }

  read(inFlight: number, now: number): AccountActivity {
    const none = { requests: 0, succeeded: 0 };
    return {
      inFlight,
      lastUsed: this.#lastUsed,
      lastSuccess: this.#lastSuccess,
      lastFault: this.#lastFault,
      hour: this.#buckets?.hour.read(now) ?? none,
      day: this.#buckets?.day.read(now) ?? none,
    };
  }

  /** What is worth keeping; null when nothing is known. */
  save(): StoredHealth | null {
    this.changed = false;
    if (this.#lastUsed === 0) return null;
    const stored = { used: this.#lastUsed, success: this.#lastSuccess, fault: this.#lastFault };
    if (this.#buckets === null) return stored;
    return { ...stored, hour: this.#buckets.hour.save(), day: this.#buckets.day.save() };
  }

  /** Takes over what was saved. */
  load({ used, success, fault, hour, day }: StoredHealth): void {
    this.#lastUsed = used;
    this.#lastSuccess = success;
    this.#lastFault = fault;
    if (hour === undefined || day === undefined) return;
    this.#buckets ??= newBuckets();
    this.#buckets.hour.load(hour);
    this.#buckets.day.load(day);
  }

  #add(good: boolean, now: number): void {
    this.#buckets ??= newBuckets();
    this.#buckets.hour.add(good, now);
    this.#buckets.day.add(good, now);
    this.changed = true;
  }
}

function newBuckets() {
  return { hour: new Buckets(HOUR_MS, 12), day: new Buckets(24 * HOUR_MS, 24) };
}
