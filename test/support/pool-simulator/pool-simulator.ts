import type { AcquireRequest } from "../../../src/core/ports/accounts.ts";
import type { PoolOptions } from "../../../src/pool/pool.ts";
import type { Grant } from "../../../src/pool/queue/grant.ts";
import { Waiter } from "../../../src/pool/queue/waiter.ts";
import { SimulatedClock } from "./clock.ts";
import { request } from "./fixtures.ts";
import { PoolObject } from "./pool-object.ts";

/** One pool object with a clock of its own, called without a network: for tests of the pool's rules. */
export class PoolSimulator extends PoolObject {
  override readonly clock: SimulatedClock;

  constructor(options: Partial<PoolOptions> = {}) {
    const clock = new SimulatedClock(1_000_000);
    super(clock, { pool: options });
    this.clock = clock;
  }

  get now(): number {
    return this.clock.now();
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.clock.advance(ms);
  }

  /** Calls `run` when a waiter has its outcome, at the latest 10 ms later. */
  whenSettled(waiter: Waiter, run: () => void): void {
    this.clock.setTimer(10, () => {
      if (waiter.outcome === null) this.whenSettled(waiter, run);
      else run();
    });
  }

  /** Acquires a slot that must be free. */
  grant(more: Partial<AcquireRequest> = {}): Grant {
    const outcome = this.pool.acquire(request(more));
    if (outcome instanceof Waiter || !("granted" in outcome)) throw new Error("no slot was granted");
    return outcome.granted;
  }

  /** Lets each account answer one request. */
  answerOnce(accounts: readonly string[]): void {
    for (const target of accounts) {
      const { lease } = this.grant({ target });
      this.pool.succeeded(lease);
      this.pool.release(lease);
    }
  }

  /** Acquires a slot that must not be free. */
  queue(more: Partial<AcquireRequest> = {}): Waiter {
    const outcome = this.pool.acquire(request(more));
    if (!(outcome instanceof Waiter)) throw new Error("the request does not wait");
    return outcome;
  }
}
