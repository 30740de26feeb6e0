import type { AcquireRequest } from "../core/ports/accounts.ts";
import { type Clock, withTimeout } from "../core/ports/clock.ts";
import type { LimitRebalancer } from "./limit-rebalancer.ts";
import type { DistributedLimit } from "./limit-share.ts";
import type { AcquireOutcome, Waiter } from "./waiter.ts";

/** How long a request waits at most for shares of limits before it is rejected, milliseconds. */
const MAX_ACQUIRE_MS = 2_000;
/** Maximum number of requests that wait for shares at the same time; further requests are rejected at once. */
const MAX_WAITING = 1_000;

/** The part of the pool that this class needs: an `AccountPool`. */
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
  #waiting = 0;

  constructor(pool: AcquirablePool, rebalancer: LimitRebalancer, clock: Clock) {
    this.#pool = pool;
    this.#rebalancer = rebalancer;
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
    const [outcome, moreShares] = this.#tryAcquire(request, since);
    if (moreShares === null || this.#waiting >= MAX_WAITING)
      return this.#acquireOrEvict(request, since, outcome);
    this.#waiting += 1;
    try {
      return await this.#waitForShares(request, since, moreShares);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #waitForShares(
    request: AcquireRequest,
    since: number,
    moreShares: Promise<void>,
  ): Promise<AcquireOutcome | Waiter> {
    const deadline = this.#clock.now() + MAX_ACQUIRE_MS;
    for (let pending = moreShares; ; ) {
      await withTimeout(pending, Math.max(0, deadline - this.#clock.now()), this.#clock);
      const [outcome, next] = this.#tryAcquire(request, since);
      if (next === null || this.#clock.now() >= deadline)
        return this.#acquireOrEvict(request, since, outcome);
      pending = next;
    }
  }

  /** Returns the pool's outcome and, if shares are missing, a promise that resolves when there may be more; null: not soon. */
  #tryAcquire(
    request: AcquireRequest,
    since: number,
  ): readonly [AcquireOutcome | Waiter, Promise<void> | null] {
    this.#rebalancer.takeExhaustedLimits();
    const outcome = this.#pool.acquire(this.#withRemainingWait(request, since), true);
    const exhausted = this.#rebalancer.takeExhaustedLimits();
    const isRefused = "refused" in outcome && exhausted.length > 0 && request.passing !== true;
    // A request that may wait only needs room in the queue; its slot is searched while it waits.
    const limits: readonly DistributedLimit[] = exhausted.includes("queue") ? ["queue"] : exhausted;
    return [outcome, isRefused ? this.#rebalancer.acquire(limits, since) : null];
  }

  /**
   * No shares can be obtained: if the queue is full, the newest request of the caller with the most waiting requests is
   * evicted.
   */
  #acquireOrEvict(
    request: AcquireRequest,
    since: number,
    outcome: AcquireOutcome | Waiter,
  ): AcquireOutcome | Waiter {
    const isFull = "refused" in outcome && outcome.refused === "queue_full";
    if (!isFull) return outcome;
    const retried = this.#pool.acquire(this.#withRemainingWait(request, since));
    const isFinal =
      "refused" in retried && retried.refused === "queue_full" && this.#rebalancer.shares.queue !== null;
    return isFinal ? { ...retried, isFull: true } : retried;
  }

  /** The request with its waiting time reduced by the time that has passed. */
  #withRemainingWait(request: AcquireRequest, since: number): AcquireRequest {
    const { waitMs } = request;
    const elapsedMs = Math.max(0, this.#clock.now() - since);
    return waitMs === undefined || elapsedMs === 0
      ? request
      : { ...request, waitMs: Math.max(0, waitMs - elapsedMs) };
  }
}
