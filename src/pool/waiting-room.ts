import type { AcquireRequest, Refused } from "../platform/accounts.ts";
import type { Clock } from "../platform/clock.ts";
import type { AccountState } from "./account-state.ts";
import type { Lane, Lanes } from "./lane.ts";
import type { PartedLimit } from "./limit-part.ts";
import type { Share } from "./shares.ts";
import type { SlotLimits } from "./slot-limits.ts";
import { Waiter } from "./waiting-queue.ts";

/** The slots, as far as the request queue needs them. */
export interface WaitedFor {
  /** Serial number of the newest lease or waiting request. */
  serial: number;
  readonly inUse: number;
  /** Releases a slot that was granted to a waiting request which has left. */
  release(token: string): boolean;
}

/** Callbacks of the request queue. */
export interface WaitingEvents {
  /** A waiting request has left the queue without a slot. */
  dismissed(request: AcquireRequest): void;
  /** The time of the next event may have changed. */
  rescheduled(): void;
  /** A limit is exhausted: requests wait, or one was rejected (`turnedAway`). Only relevant with several pools. */
  short(limit: PartedLimit, turnedAway: boolean): void;
}

/**
 * Requests that wait for a slot: in their provider's queue, up to the queue limit, or held outside of the queue until the
 * state of the provider is known. A request leaves with a slot ({@link Waiter.settle}), or is dismissed.
 */
export class WaitingRoom {
  readonly #slots: WaitedFor;
  readonly #lanes: Lanes;
  readonly #limits: SlotLimits;
  readonly #clock: Clock;
  readonly #events: WaitingEvents;

  constructor(slots: WaitedFor, lanes: Lanes, limits: SlotLimits, clock: Clock, events: WaitingEvents) {
    this.#slots = slots;
    this.#lanes = lanes;
    this.#limits = limits;
    this.#clock = clock;
    this.#events = events;
  }

  /** Number of waiting requests. */
  get size(): number {
    return this.#lanes.waiting;
  }

  /**
   * Adds a request to the queue, or refuses it.
   *
   * @param again the held request that now joins the queue, in its old position among the requests of its caller
   * @param mayRebalance more room may come from other shards: no waiting request is evicted
   */
  queue(
    lane: Lane,
    request: AcquireRequest,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
    again: Waiter | null,
    mayTrade = false,
  ): Refused | Waiter {
    const waited = again === null ? 0 : Math.max(0, this.#clock.now() - again.since);
    const waitMs = (request.waitMs ?? this.#limits.configured.queueWaitMs) - waited;
    const { shares, queue } = lane;
    const share = shares.of(request.caller ?? "");
    const limit = this.#limits.queueOf(lane);
    const full = queue.size >= limit;
    if (waitMs > 0 && 2 * (queue.size + 1) > limit) this.#events.short("queue", full);
    const surplus = full && !mayTrade ? shares.surplus(share) : null;
    if ((full && surplus === null) || waitMs <= 0) {
      shares.forget(share);
      return { refused: full && surplus === null ? "queue_full" : "queue_timeout" };
    }
    if (surplus !== null) this.dismiss(surplus, { refused: "queue_full" });
    const waiter = again ?? this.#waiter(lane, request, share, target, exclude);
    waiter.share = share;
    waiter.stopTimer = this.#clock.setTimer(waitMs, () => this.dismiss(waiter, { refused: "queue_timeout" }));
    queue.add(waiter, lane.rotation);
    this.#events.rescheduled();
    return waiter;
  }

  /**
   * Holds a request without a pinned account outside of the queue, until `Slots.admitHeldRequest` or `dismiss`. Refuses it
   * with `late` after `ms` milliseconds. Null: more requests wait than the free slots and the queue have room for.
   */
  putAside(lane: Lane, request: AcquireRequest, ms: number, late: Refused): Waiter | null {
    const room = this.#limits.queueOf(lane) + Math.max(0, this.#limits.usable - this.#slots.inUse);
    if (lane.waiting >= room) return null;
    const exclude = request.exclude?.length ? new Set(request.exclude) : null;
    const share = lane.shares.of(request.caller ?? "");
    lane.shares.forget(share);
    const waiter = this.#waiter(lane, request, share, null, exclude);
    this.#setAside(waiter, ms, late);
    return waiter;
  }

  /** Moves a request from the queue to the held requests. */
  takeAside(waiter: Waiter, ms: number, late: Refused): void {
    const { queue, rotation, shares } = waiter.lane;
    queue.remove(waiter, rotation);
    shares.forget(waiter.share);
    this.#setAside(waiter, ms, late);
  }

  /** Ends the wait of a request without a slot. */
  dismiss(waiter: Waiter, outcome: Refused): void {
    this.#leave(waiter, () => waiter.settle(outcome));
  }

  /** Ends the wait of a request with an error. */
  fail(waiter: Waiter, error: unknown): void {
    this.#leave(waiter, () => waiter.fail(error));
  }

  #leave(waiter: Waiter, tell: () => void): void {
    if (waiter.outcome !== null) return;
    const { queue, rotation, shares, aside } = waiter.lane;
    aside.delete(waiter);
    queue.remove(waiter, rotation);
    shares.forget(waiter.share);
    tell();
    this.#events.dismissed(waiter.request);
    this.#events.rescheduled();
  }

  /** Refuses the waiting requests for a provider that `concerned` selects. */
  refuse(lane: Lane, concerned: (request: AcquireRequest) => boolean, outcome: Refused): void {
    for (const waiter of lane.waiters()) if (concerned(waiter.request)) this.dismiss(waiter, outcome);
  }

  /**
   * Refuses requests that accept only available healthy accounts when there are none any more: they continue at another
   * shard.
   */
  refuseSick(): void {
    if (this.#limits.parts === null) return;
    for (const lane of this.#lanes.all) {
      if (lane.waiting === 0 || lane.rotation.isWell) continue;
      this.refuse(lane, ({ wellOnly }) => wellOnly === true, { refused: "no_accounts", isWell: false });
    }
  }

  #setAside(waiter: Waiter, ms: number, late: Refused): void {
    waiter.stopTimer();
    waiter.stopTimer = this.#clock.setTimer(ms, () => this.dismiss(waiter, late));
    waiter.lane.aside.add(waiter);
    this.#events.rescheduled();
  }

  #waiter(
    lane: Lane,
    request: AcquireRequest,
    share: Share,
    target: AccountState | null,
    exclude: ReadonlySet<string> | null,
  ): Waiter {
    this.#slots.serial += 1;
    const { serial } = this.#slots;
    const now = this.#clock.now();
    return new Waiter(serial, request, lane, share, target, exclude, now, (it) => this.#cancel(it));
  }

  #cancel(waiter: Waiter): void {
    const { outcome } = waiter;
    if (outcome === null) this.dismiss(waiter, { refused: "cancelled" });
    else if ("granted" in outcome) this.#slots.release(outcome.granted.lease);
  }
}
