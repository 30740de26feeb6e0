import type { AcquireRequest } from "../../../src/core/ports/accounts.ts";
import type {
  PoolAccount,
  PoolConfiguration,
  PoolLimits,
} from "../../../src/core/ports/pool-configuration.ts";
import { AccountPool, type PoolOptions } from "../../../src/pool/pool.ts";
import { type Grant, Waiter } from "../../../src/pool/waiter.ts";
import { MemoryPoolStore } from "../../support/memory-pool-store.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export const LIMITS: PoolLimits = {
  perAccount: 1,
  global: 0,
  queue: 0,
  queueWaitMs: 60_000,
  tokenRefreshMs: 0,
};

export function account(id: string, more: Partial<PoolAccount> = {}): PoolAccount {
  return { id, email: id, mobile: "", password: "secret", token: "", proxyId: "", ...more };
}

export function configuration(ids: readonly string[], limits: Partial<PoolLimits> = {}): PoolConfiguration {
  return { accounts: ids.map((id) => account(id)), limits: { ...LIMITS, ...limits } };
}

export function request(more: Partial<AcquireRequest> = {}): AcquireRequest {
  return { requestId: "r", model: "m", ...more };
}

/** A pool with a clock and timers of its own, on a store that survives `restart`. */
export class Rig {
  now = 1_000_000;
  readonly store = new MemoryPoolStore();
  pool: AccountPool;
  #timers = new Set<Timer>();
  #alarm = Number.POSITIVE_INFINITY;
  #options: Partial<PoolOptions>;

  constructor(options: Partial<PoolOptions> = {}) {
    this.#options = options;
    this.pool = this.#start();
  }

  #start(): AccountPool {
    return new AccountPool({
      store: this.store,
      now: () => this.now,
      setTimer: (ms, run) => {
        const timer = { at: this.now + ms, run };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
      wakeAt: (at) => {
        this.#alarm = at;
      },
      ...this.#options,
    });
  }

  /** Calls `run` after so many milliseconds of this rig's time. */
  after(ms: number, run: () => void): void {
    this.#timers.add({ at: this.now + ms, run });
  }

  /** Calls `run` when a waiter has its outcome, at the latest 10 ms later. */
  whenSettled(waiter: Waiter, run: () => void): void {
    this.after(10, () => {
      if (waiter.outcome === null) this.whenSettled(waiter, run);
      else run();
    });
  }

  /** Timers that have not gone off yet. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Loses the pool's memory, and its timers with it; storage and the alarm stay. */
  restart(options: Partial<PoolOptions> = {}): AccountPool {
    this.#options = { ...this.#options, ...options };
    this.#timers.clear();
    this.pool = this.#start();
    return this.pool;
  }

  /** Lets time pass; timers and the alarm go off in their order. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      let next: Timer | null = null;
      for (const timer of this.#timers) if (next === null || timer.at < next.at) next = timer;
      const at = Math.min(next?.at ?? Number.POSITIVE_INFINITY, this.#alarm);
      if (at > end) break;
      this.now = Math.max(this.now, at);
      if (next !== null && next.at === at) {
        this.#timers.delete(next);
        next.run();
      } else {
        this.#alarm = Number.POSITIVE_INFINITY;
        this.#alarm = this.pool.sweep() ?? Number.POSITIVE_INFINITY;
      }
    }
    this.now = end;
  }

  /** Acquires a slot that must be free. */
  grant(more: Partial<AcquireRequest> = {}): Grant {
    const outcome = this.pool.acquire(request(more));
    if (outcome instanceof Waiter || !("granted" in outcome)) throw new Error("no slot was granted");
    return outcome.granted;
  }

  /** Acquires a slot that must not be free. */
  queue(more: Partial<AcquireRequest> = {}): Waiter {
    const outcome = this.pool.acquire(request(more));
    if (!(outcome instanceof Waiter)) throw new Error("the request does not wait");
    return outcome;
  }
}

/** The account that a waiter was granted, or how else its wait ended; null while it lasts. */
export function result(waiter: Waiter): string | null {
  const { outcome } = waiter;
  if (outcome === null) return null;
  return "granted" in outcome ? outcome.granted.account.id : outcome.refused;
}

/** The lease that a waiter was granted. */
export function leaseOf(waiter: Waiter): string {
  const { outcome } = waiter;
  if (outcome === null || !("granted" in outcome)) throw new Error("the waiter holds no lease");
  return outcome.granted.lease;
}
