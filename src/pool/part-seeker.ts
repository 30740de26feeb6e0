import type { AcquireRequest } from "../platform/accounts.ts";
import { type Clock, inTime } from "../platform/clock.ts";
import type { PartedLimit } from "./limit-part.ts";
import type { PartTrader } from "./part-trader.ts";
import type { Outcome, Waiter } from "./waiting-queue.ts";

/** For how long a request waits at most for parts of limits before it is turned away, milliseconds. */
const SEEK_MS = 2_000;
/** So many requests do so at once; more are turned away as if nobody had parts left. */
const MOST = 1_000;

/** The pool, as far as it is asked for slots: an `AccountPool`. */
export interface SoughtPool {
  acquire(request: AcquireRequest, mayTrade?: boolean): Outcome | Waiter;
}

/**
 * Has requests decided on by one of several pools. One that would be turned away because this pool's parts of the limits are used up,
 * not the limits, waits until the others have been asked for parts: those of the queue's limit, or of the global one.
 */
export class PartSeeker {
  readonly #pool: SoughtPool;
  readonly #trader: PartTrader;
  readonly #clock: Clock;
  #seeking = 0;

  constructor(pool: SoughtPool, trader: PartTrader, clock: Clock) {
    this.#pool = pool;
    this.#trader = trader;
    this.#clock = clock;
  }

  /** See `AccountPool.acquire`. Unless parts are lacking, or the pool has just been added, it is decided before this returns. */
  async acquire(request: AcquireRequest): Promise<Outcome | Waiter> {
    const since = this.#clock.now();
    const { begun } = this.#trader;
    if (begun !== null) await begun;
    const [outcome, sought] = this.#try(request, since);
    if (sought === null || this.#seeking >= MOST) return this.#last(request, since, outcome);
    this.#seeking += 1;
    try {
      return await this.#sought(request, since, sought);
    } finally {
      this.#seeking -= 1;
    }
  }

  async #sought(request: AcquireRequest, since: number, first: Promise<void>): Promise<Outcome | Waiter> {
    const end = this.#clock.now() + SEEK_MS;
    for (let sought = first; ; ) {
      await inTime(sought, Math.max(0, end - this.#clock.now()), this.#clock);
      const [outcome, next] = this.#try(request, since);
      if (next === null || this.#clock.now() >= end) return this.#last(request, since, outcome);
      sought = next;
    }
  }

  /** What the pool makes of it, and, if parts are what it lacks, when there may be more of them; null: not so soon. */
  #try(request: AcquireRequest, since: number): readonly [Outcome | Waiter, Promise<void> | null] {
    this.#trader.takeTurned();
    const outcome = this.#pool.acquire(this.#left(request, since), true);
    const lacking = this.#trader.takeTurned();
    const isRefused = "refused" in outcome && lacking.length > 0 && request.passing !== true;
    // Who may wait needs room in the queue; a slot as well is looked for once it waits.
    const limits: readonly PartedLimit[] = lacking.includes("queue") ? ["queue"] : lacking;
    return [outcome, isRefused ? this.#trader.seek(limits, since) : null];
  }

  /** There are no parts: if the queue is full the request of somebody who has more of it gives way. */
  #last(request: AcquireRequest, since: number, outcome: Outcome | Waiter): Outcome | Waiter {
    const isFull = "refused" in outcome && outcome.refused === "queue_full";
    if (!isFull) return outcome;
    const last = this.#pool.acquire(this.#left(request, since));
    const isFinal = "refused" in last && last.refused === "queue_full" && this.#trader.parts.queue !== null;
    return isFinal ? { ...last, isFull: true } : last;
  }

  /** The request, which may wait for so much less as it has been here already. */
  #left(request: AcquireRequest, since: number): AcquireRequest {
    const { waitMs } = request;
    const passed = Math.max(0, this.#clock.now() - since);
    return waitMs === undefined || passed === 0
      ? request
      : { ...request, waitMs: Math.max(0, waitMs - passed) };
  }
}
