import type { AcquireRequest, Refused } from "../platform/accounts.ts";
import type { Outage } from "./breaker.ts";
import type { Lane } from "./lane.ts";
import type { Slots } from "./slots.ts";
import type { Waiter } from "./waiting-queue.ts";

/**
 * Handles requests while their provider is down ({@link Outage}): one request at a time probes the provider. The others
 * wait briefly, outside of the queue, for the result.
 */
export class ProviderTrials {
  readonly #slots: Slots;
  readonly #waitMs: number;
  readonly #now: () => number;

  /**
   * @param waitMs how long a request waits for the result of the probe, milliseconds; 0: not at all
   */
  constructor(slots: Slots, waitMs: number, now: () => number) {
    this.#slots = slots;
    this.#waitMs = waitMs;
    this.#now = now;
  }

  /**
   * During an outage, refuses a request or lets it wait for the probe. Null: the request may continue, possibly as the
   * probe.
   */
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

  /** An outage starts: one of the waiting requests becomes the probe, and the others wait for its result. */
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

  /** The probe request failed: the provider is still down. */
  goesOn(lane: Lane, { failure, concerns }: Outage): void {
    for (const waiter of lane.aside) {
      if (concerns(waiter.request))
        this.#slots.waiting.dismiss(waiter, { refused: "provider_down", failure });
    }
    this.look(lane);
  }

  /** A request has ended, or left the queue. If it was the probe, the next request probes. */
  ended(lane: Lane, request: string): void {
    if (lane.breaker.released(request)) this.look(lane);
  }

  /** Admits requests that were held during an outage: all of them when it is over, otherwise the next probe. */
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
