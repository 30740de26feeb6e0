import type { AcquireRefusal, AcquireRequest } from "../../core/ports/accounts.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { AccountState } from "../accounts/account-state.ts";
import type { FairShare } from "./fair-share.ts";
import type { ProviderPool, ProviderPools } from "./provider-pool.ts";
import type { SlotLimits } from "./slot-limits.ts";
import { Waiter } from "./waiter.ts";

/** The part of the slots that the request queue needs. */
export interface SlotSource {
  /** Serial number of the newest lease or waiting request. */
  serial: number;
  /** Number of slots that the global limit leaves free. */
  readonly freeSlots: number;
  /** Releases a slot that was granted to a waiting request which has left. */
  release(token: string): boolean;
}

/** Callbacks of the request queue. */
export interface RequestQueueEvents {
  /** A waiting request has left the queue without a slot. */
  onDismissed(request: AcquireRequest): void;
  /** The time of the next event may have changed. */
  onScheduleChanged(): void;
}

/**
 * Requests that wait for a slot: in their provider's queue, up to the queue limit, or held outside of the queue until the
 * state of the provider is known. A request leaves with a slot ({@link Waiter.settle}), or is dismissed.
 */
export class RequestQueue {
  readonly #slots: SlotSource;
  readonly #providerPools: ProviderPools;
  readonly #limits: SlotLimits;
  readonly #clock: Clock;
  readonly #events: RequestQueueEvents;

  constructor(
    slots: SlotSource,
    providerPools: ProviderPools,
    limits: SlotLimits,
    clock: Clock,
    events: RequestQueueEvents,
  ) {
    this.#slots = slots;
    this.#providerPools = providerPools;
    this.#limits = limits;
    this.#clock = clock;
    this.#events = events;
  }

  /** Number of waiting requests. */
  get size(): number {
    return this.#providerPools.waitingCount;
  }

  /**
   * Adds a request to the queue, or refuses it.
   *
   * @param heldWaiter the held request that now joins the queue, in its old position among the requests of its caller
   */
  enqueue(
    providerPool: ProviderPool,
    request: AcquireRequest,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
    heldWaiter: Waiter | null,
  ): AcquireRefusal | Waiter {
    const waitedMs = heldWaiter === null ? 0 : Math.max(0, this.#clock.now() - heldWaiter.since);
    const waitMs = (request.waitMs ?? this.#limits.configured.queueWaitMs) - waitedMs;
    const { fairShares, queue } = providerPool;
    const fairShare = fairShares.getOrCreate(request.caller ?? "");
    const limit = this.#limits.queueLimitOf(providerPool);
    const isFull = queue.size >= limit;
    const evictedWaiter = isFull ? fairShares.findWaiterToEvict(fairShare) : null;
    if ((isFull && evictedWaiter === null) || waitMs <= 0) {
      fairShares.deleteIfEmpty(fairShare);
      return { refused: isFull && evictedWaiter === null ? "queue_full" : "queue_timeout" };
    }
    if (evictedWaiter !== null) this.dismiss(evictedWaiter, { refused: "queue_full" });
    const waiter = heldWaiter ?? this.#createWaiter(providerPool, request, fairShare, target, exclude);
    waiter.fairShare = fairShare;
    waiter.stopTimer = this.#clock.setTimer(waitMs, () => this.dismiss(waiter, { refused: "queue_timeout" }));
    queue.add(waiter, providerPool.rotation);
    this.#events.onScheduleChanged();
    return waiter;
  }

  /**
   * Adds a request to the queue for the account of its conversation alone, for the time that its selection states. Null: it
   * does not wait for a certain account, or the queue is full.
   *
   * @param onElapsed called when the time is over; the request is still in the queue then
   */
  enqueueForAccount(
    providerPool: ProviderPool,
    request: AcquireRequest,
    exclude: ReadonlySet<string> | null,
    heldWaiter: Waiter | null,
    onElapsed: (waiter: Waiter) => void,
  ): Waiter | null {
    const awaited = providerPool.findAwaitedAccount(request, exclude);
    const { fairShares, queue } = providerPool;
    if (awaited === null || queue.size >= this.#limits.queueLimitOf(providerPool)) return null;
    const fairShare = fairShares.getOrCreate(request.caller ?? "");
    const waiter = heldWaiter ?? this.#createWaiter(providerPool, request, fairShare, null, exclude);
    waiter.fairShare = fairShare;
    waiter.awaited = awaited;
    waiter.hasAwaited = true;
    waiter.stopTimer = this.#clock.setTimer(request.selection?.waitMs ?? 0, () => onElapsed(waiter));
    queue.add(waiter, providerPool.rotation);
    this.#events.onScheduleChanged();
    return waiter;
  }

  /** Removes a request from the queue that has waited for the account of its conversation. */
  stopAwaiting(waiter: Waiter): void {
    const { queue, rotation, fairShares } = this.#providerPools.of(waiter);
    waiter.stopTimer();
    queue.remove(waiter, rotation);
    fairShares.deleteIfEmpty(waiter.fairShare);
    waiter.awaited = null;
  }

  /**
   * Holds a request without a pinned account outside of the queue, until `Slots.admitHeldRequest` or `dismiss`. Refuses it
   * with `timeoutRefusal` after `ms` milliseconds. Null: more requests wait than the free slots and the queue allow.
   */
  holdOutsideQueue(
    providerPool: ProviderPool,
    request: AcquireRequest,
    ms: number,
    timeoutRefusal: AcquireRefusal,
  ): Waiter | null {
    const capacity = this.#limits.queueLimitOf(providerPool) + this.#slots.freeSlots;
    if (providerPool.waitingCount >= capacity) return null;
    const exclude = request.exclude?.length ? new Set(request.exclude) : null;
    const fairShare = providerPool.fairShares.getOrCreate(request.caller ?? "");
    providerPool.fairShares.deleteIfEmpty(fairShare);
    const waiter = this.#createWaiter(providerPool, request, fairShare, null, exclude);
    this.#hold(waiter, ms, timeoutRefusal);
    return waiter;
  }

  /** Moves a request from the queue to the held requests. */
  moveOutsideQueue(waiter: Waiter, ms: number, timeoutRefusal: AcquireRefusal): void {
    const { queue, rotation, fairShares } = this.#providerPools.of(waiter);
    queue.remove(waiter, rotation);
    waiter.awaited = waiter.target;
    fairShares.deleteIfEmpty(waiter.fairShare);
    this.#hold(waiter, ms, timeoutRefusal);
  }

  /** Ends the wait of a request without a slot. */
  dismiss(waiter: Waiter, outcome: AcquireRefusal): void {
    this.#remove(waiter, () => waiter.settle(outcome));
  }

  /** Ends the wait of a request with an error. */
  fail(waiter: Waiter, error: unknown): void {
    this.#remove(waiter, () => waiter.fail(error));
  }

  #remove(waiter: Waiter, notify: () => void): void {
    if (waiter.outcome !== null) return;
    const { queue, rotation, fairShares, heldRequests } = this.#providerPools.of(waiter);
    heldRequests.delete(waiter);
    queue.remove(waiter, rotation);
    fairShares.deleteIfEmpty(waiter.fairShare);
    notify();
    this.#events.onDismissed(waiter.request);
    this.#events.onScheduleChanged();
  }

  /** Refuses the waiting requests for a provider that `matches` selects. */
  rejectMatching(
    providerPool: ProviderPool,
    matches: (request: AcquireRequest) => boolean,
    outcome: AcquireRefusal,
  ): void {
    for (const waiter of providerPool.waiters()) if (matches(waiter.request)) this.dismiss(waiter, outcome);
  }

  /**
   * Refuses requests that accept only healthy accounts (`healthyOnly`) when none is available. The client then asks another
   * shard.
   */
  rejectWithoutHealthyAccount(): void {
    if (!this.#limits.hasPeers) return;
    for (const providerPool of this.#providerPools.all) {
      if (providerPool.waitingCount === 0 || providerPool.rotation.hasAvailableHealthy) continue;
      this.rejectMatching(providerPool, ({ healthyOnly }) => healthyOnly === true, {
        refused: "no_accounts",
        hasHealthyAccount: false,
      });
    }
  }

  #hold(waiter: Waiter, ms: number, timeoutRefusal: AcquireRefusal): void {
    waiter.stopTimer();
    waiter.stopTimer = this.#clock.setTimer(ms, () => this.dismiss(waiter, timeoutRefusal));
    this.#providerPools.of(waiter).heldRequests.add(waiter);
    this.#events.onScheduleChanged();
  }

  #createWaiter(
    { provider }: ProviderPool,
    request: AcquireRequest,
    fairShare: FairShare<Waiter>,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
  ): Waiter {
    this.#slots.serial += 1;
    const { serial } = this.#slots;
    const now = this.#clock.now();
    return new Waiter(serial, request, provider, fairShare, target, exclude, now, (waiter) =>
      this.#cancel(waiter),
    );
  }

  #cancel(waiter: Waiter): void {
    const { outcome } = waiter;
    if (outcome === null) this.dismiss(waiter, { refused: "cancelled" });
    else if ("granted" in outcome) this.#slots.release(outcome.granted.lease);
  }
}
