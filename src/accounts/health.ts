import type { AccountActivity, AccountFailure, SuccessRate } from "../platform/accounts.ts";

const HOUR_MS = 3_600_000;

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
 * How an account has done, by what all its requests have come to, tests included. In memory alone, and of bounded size: what is
 * known begins with the pool's start.
 */
export class Health {
  #lastUsed = 0;
  #lastSuccess = 0;
  #lastFault: AccountActivity["lastFault"] = null;
  #buckets: { readonly hour: Buckets; readonly day: Buckets } | null = null;

  used(now: number): void {
    this.#lastUsed = now;
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

  #add(good: boolean, now: number): void {
    this.#buckets ??= { hour: new Buckets(HOUR_MS, 12), day: new Buckets(24 * HOUR_MS, 24) };
    this.#buckets.hour.add(good, now);
    this.#buckets.day.add(good, now);
  }
}
