import type { AcquireRequest, Refused } from "../platform/accounts.ts";
import type { Clock } from "../platform/clock.ts";
import type { AccountState } from "./account-state.ts";
import type { Lane, Lanes } from "./lane.ts";
import type { PartedLimit } from "./limit-part.ts";
import type { Share } from "./shares.ts";
import type { SlotLimits } from "./slot-limits.ts";
import { Waiter } from "./waiting-queue.ts";

/** What the slots do for requests that wait for one. */
export interface WaitedFor {
  /** Serial number of the newest lease or waiting request. */
  serial: number;
  readonly inUse: number;
  /** Gives a slot back that a waiting request was granted, and does not want any more. */
  release(token: string): boolean;
}

/** What is made of what happens in the waiting room. */
export interface WaitingEvents {
  /** A waiting request has left the queue with nothing. */
  dismissed(request: AcquireRequest): void;
  /** The times at which something is due may have changed. */
  rescheduled(): void;
  /** More of a limit could be used: requests wait, or one was turned away. Of interest where there are several pools. */
  short(limit: PartedLimit, turnedAway: boolean): void;
}

/**
 * Requests that wait for a slot: in the queue of their provider, as many as the limits have room for, or put aside, outside of it, until
 * something is known of the provider. They leave with a slot, which {@link Waiter.settle} tells them, or are dismissed.
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

  /** How many requests wait. */
  get size(): number {
    return this.#lanes.waiting;
  }

  /**
   * Has a request wait in the queue, or refuses it.
   *
   * @param again it was put aside, and takes its old place among those of its caller
   * @param mayTrade there may be more room: nobody gives way
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
   * Has a request that wants no certain account wait outside of the queue, until `Slots.admit` or `dismiss`; refuses it with `late` when
   * neither comes within `ms` milliseconds. Null: more wait than the free slots and the queue have room for.
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

  /** The same with a request that is in the queue. */
  takeAside(waiter: Waiter, ms: number, late: Refused): void {
    const { queue, rotation, shares } = waiter.lane;
    queue.remove(waiter, rotation);
    shares.forget(waiter.share);
    this.#setAside(waiter, ms, late);
  }

  /** Has a waiting request leave with nothing. */
  dismiss(waiter: Waiter, outcome: Refused): void {
    this.#leave(waiter, () => waiter.settle(outcome));
  }

  /** Has a waiting request leave with an error. */
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

  /** Refuses the waiting requests for a provider that are concerned. */
  refuse(lane: Lane, concerned: (request: AcquireRequest) => boolean, outcome: Refused): void {
    for (const waiter of lane.waiters()) if (concerned(waiter.request)) this.dismiss(waiter, outcome);
  }

  /** Who waits for an account that is well goes to another pool when there is none any more. */
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
