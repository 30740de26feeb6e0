import type { AcquireRequest, Refused } from "../platform/accounts.ts";
import type { Outage } from "./breaker.ts";
import type { Lane } from "./lane.ts";
import type { Slots } from "./slots.ts";
import type { Waiter } from "./waiting-queue.ts";

/**
 * What becomes of requests while their provider is down ({@link Outage}): one at a time tries whether it works again, and the others wait
 * a moment, outside of the queue, for what comes of that.
 */
export class ProviderTrials {
  readonly #slots: Slots;
  readonly #waitMs: number;
  readonly #now: () => number;

  /** @param waitMs for how long a request waits for what comes of the one that tries, milliseconds; 0: not at all */
  constructor(slots: Slots, waitMs: number, now: () => number) {
    this.#slots = slots;
    this.#waitMs = waitMs;
    this.#now = now;
  }

  /** What a request is told, or its wait, while the provider is down; null: it may go on, maybe as the one that tries. */
  heldUp(lane: Lane, request: AcquireRequest): Refused | Waiter | null {
    const failure = lane.breaker.refusal(request, this.#now());
    if (failure === null) return null;
    const down: Refused = { refused: "provider_down", failure };
    const waitMs = Math.min(this.#waitMs, request.waitMs ?? Number.POSITIVE_INFINITY);
    const mayWait = waitMs > 0 && lane.breaker.isTried(request.model, this.#now());
    const waiter = mayWait ? this.#putAside(lane, request, waitMs, down) : null;
    return waiter ?? down;
  }

  #putAside(lane: Lane, request: AcquireRequest, waitMs: number, down: Refused): Waiter | null {
    this.#slots.catchUp();
    return this.#slots.waiting.putAside(lane, request, waitMs, down);
  }

  /** The provider is down: one of those that wait for a slot tries, and the others wait for what comes of it. */
  begins(lane: Lane, { failure, concerns }: Outage): void {
    const now = this.#now();
    const down: Refused = { refused: "provider_down", failure };
    const concerned = lane.waiters().filter(({ request }) => concerns(request));
    const mayTry = this.#waitMs > 0 ? concerned : [];
    const trial = mayTry.find(({ request }) => lane.breaker.refusal(request, now) === null);
    for (const waiter of concerned) {
      if (waiter === trial) {
        if (lane.aside.has(waiter)) this.#slots.admit(waiter);
      } else if (trial === undefined) this.#slots.waiting.dismiss(waiter, down);
      else this.#slots.waiting.takeAside(waiter, this.#waitMs, down);
    }
  }

  /** The request that tried has found the provider still down. */
  goesOn(lane: Lane, { failure, concerns }: Outage): void {
    for (const waiter of lane.aside) {
      if (concerns(waiter.request))
        this.#slots.waiting.dismiss(waiter, { refused: "provider_down", failure });
    }
    this.look(lane);
  }

  /** A request has ended, or left. If it was the one that tried, the next one tries. */
  ended(lane: Lane, request: string): void {
    if (lane.breaker.released(request)) this.look(lane);
  }

  /** Lets those in that waited for the end of an outage: all of them when it is over, otherwise one that tries. */
  look(lane: Lane): void {
    const { aside, breaker } = lane;
    if (aside.size === 0 || lane.looking) return;
    lane.looking = true;
    for (const waiter of aside) {
      if (breaker.refusal(waiter.request, this.#now()) === null) this.#slots.admit(waiter);
    }
    for (const waiter of aside) {
      const { request } = waiter;
      const failure = breaker.refusal(request, this.#now());
      if (failure === null) this.#slots.admit(waiter);
      else if (!breaker.isTried(request.model, this.#now()))
        this.#slots.waiting.dismiss(waiter, { refused: "provider_down", failure });
    }
    lane.looking = false;
  }
}
