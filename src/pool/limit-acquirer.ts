import type { AcquireRequest } from "../core/ports/accounts.ts";
import { type Clock, withTimeout } from "../core/ports/clock.ts";
import type { LimitRebalancer } from "./limit-rebalancer.ts";
import type { DistributedLimit } from "./limit-share.ts";
import type { AcquireOutcome, Waiter } from "./waiter.ts";

/** How long a request waits at most for shares of limits before it is rejected, milliseconds. */
const MAX_ACQUIRE_MS = 2_000;
/** Maximum number of requests that wait for shares at the same time; further requests are rejected at once. */
const MOST = 1_000;

/** The pool as far as this class needs it: an `AccountPool`. */
export interface AcquirablePool {
  acquire(request: AcquireRequest, mayRebalance?: boolean): AcquireOutcome | Waiter;
}

/**
 * Acquires slots when the limits are shared between several pools. If this pool's shares are exhausted but the limits may
 * not be, a request waits until the peers have been asked for units of the queue limit or of the global limit.
 */
export class LimitAcquirer {
  readonly #pool: AcquirablePool;
  readonly #rebalancer: LimitRebalancer;
  readonly #clock: Clock;
  #seeking = 0;

  constructor(pool: AcquirablePool, trader: LimitRebalancer, clock: Clock) {
    this.#pool = pool;
    this.#rebalancer = trader;
    this.#clock = clock;
  }

  /**
   * See `AccountPool.acquire`. The request is decided before this returns, unless shares are missing or the pool was just
   * added.
   */
  async acquire(request: AcquireRequest): Promise<AcquireOutcome | Waiter> {
    const since = this.#clock.now();
    const { initialAnswers } = this.#rebalancer;
    if (initialAnswers !== null) await initialAnswers;
    const [outcome, sought] = this.#try(request, since);
    if (sought === null || this.#seeking >= MOST) return this.#last(request, since, outcome);
    this.#seeking += 1;
    try {
      return await this.#waitForShares(request, since, sought);
    } finally {
      this.#seeking -= 1;
    }
  }

  async #waitForShares(
    request: AcquireRequest,
    since: number,
    first: Promise<void>,
  ): Promise<AcquireOutcome | Waiter> {
    const end = this.#clock.now() + MAX_ACQUIRE_MS;
    for (let sought = first; ; ) {
      await withTimeout(sought, Math.max(0, end - this.#clock.now()), this.#clock);
      const [outcome, next] = this.#try(request, since);
      if (next === null || this.#clock.now() >= end) return this.#last(request, since, outcome);
      sought = next;
    }
  }

  /** Returns the pool's outcome and, if shares are missing, a promise that resolves when there may be more; null: not soon. */
  #try(request: AcquireRequest, since: number): readonly [AcquireOutcome | Waiter, Promise<void> | null] {
    this.#rebalancer.takeExhaustedLimits();
    const outcome = this.#pool.acquire(this.#left(request, since), true);
    const lacking = this.#rebalancer.takeExhaustedLimits();
    const isRefused = "refused" in outcome && lacking.length > 0 && request.passing !== true;
    // A request that may wait only needs room in the queue; its slot is searched while it waits.
    const limits: readonly DistributedLimit[] = lacking.includes("queue") ? ["queue"] : lacking;
    return [outcome, isRefused ? this.#rebalancer.acquire(limits, since) : null];
  }

  /**
   * No shares can be obtained: if the queue is full, the newest request of the caller with the most waiting requests is
   * evicted.
   */
  #last(request: AcquireRequest, since: number, outcome: AcquireOutcome | Waiter): AcquireOutcome | Waiter {
    const isFull = "refused" in outcome && outcome.refused === "queue_full";
    if (!isFull) return outcome;
    const last = this.#pool.acquire(this.#left(request, since));
    const isFinal =
      "refused" in last && last.refused === "queue_full" && this.#rebalancer.shares.queue !== null;
    return isFinal ? { ...last, isFull: true } : last;
  }

  /** The request with its waiting time reduced by the time that has passed. */
  #left(request: AcquireRequest, since: number): AcquireRequest {
    const { waitMs } = request;
    const passed = Math.max(0, this.#clock.now() - since);
    return waitMs === undefined || passed === 0
      ? request
      : { ...request, waitMs: Math.max(0, waitMs - passed) };
  }
}
