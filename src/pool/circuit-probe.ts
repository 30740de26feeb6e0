import type { AcquireRefusal, AcquireRequest } from "../core/ports/accounts.ts";
import type { Outage } from "./health/provider-breaker.ts";
import type { ProviderPool } from "./queue/provider-pool.ts";
import type { Waiter } from "./queue/waiter.ts";
import type { Slots } from "./slots.ts";

/**
 * Handles requests while their provider is down ({@link Outage}): one request at a time probes the provider. The others
 * wait briefly, outside of the queue, for the result.
 */
export class CircuitProbe {
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
  rejectOrHold(providerPool: ProviderPool, request: AcquireRequest): AcquireRefusal | Waiter | null {
    const failure = providerPool.breaker.admitOrFail(request, this.#now());
    if (failure === null) return null;
    const refusal: AcquireRefusal = { refused: "provider_down", failure };
    const waitMs = Math.min(this.#waitMs, request.waitMs ?? Number.POSITIVE_INFINITY);
    const mayWait = waitMs > 0 && providerPool.breaker.isProbing(request.model, this.#now());
    const waiter = mayWait ? this.#holdRequest(providerPool, request, waitMs, refusal) : null;
    return waiter ?? refusal;
  }

  #holdRequest(
    providerPool: ProviderPool,
    request: AcquireRequest,
    waitMs: number,
    refusal: AcquireRefusal,
  ): Waiter | null {
    this.#slots.processElapsedTime();
    return this.#slots.requestQueue.holdOutsideQueue(providerPool, request, waitMs, refusal);
  }

  /** An outage starts: one of the waiting requests becomes the probe, and the others wait for its result. */
  onOutageStarted(providerPool: ProviderPool, { failure, affects }: Outage): void {
    const now = this.#now();
    const refusal: AcquireRefusal = { refused: "provider_down", failure };
    const affected = providerPool.waiters().filter(({ request }) => affects(request));
    const candidates = this.#waitMs > 0 ? affected : [];
    const probe = candidates.find(({ request }) => providerPool.breaker.admitOrFail(request, now) === null);
    for (const waiter of affected) {
      if (waiter === probe) {
        if (providerPool.heldRequests.has(waiter)) this.#slots.admitHeldRequest(waiter);
      } else if (probe === undefined) this.#slots.requestQueue.dismiss(waiter, refusal);
      else this.#slots.requestQueue.moveOutsideQueue(waiter, this.#waitMs, refusal);
    }
  }

  /** The probe request failed: the provider is still down. */
  onOutageContinues(providerPool: ProviderPool, { failure, affects }: Outage): void {
    for (const waiter of providerPool.heldRequests) {
      if (affects(waiter.request))
        this.#slots.requestQueue.dismiss(waiter, { refused: "provider_down", failure });
    }
    this.resumeHeldRequests(providerPool);
  }

  /** A request has ended, or left the queue. If it was the probe, the next request probes. */
  onRequestEnded(providerPool: ProviderPool, request: string): void {
    if (providerPool.breaker.releaseProbe(request)) this.resumeHeldRequests(providerPool);
  }

  /** Admits requests that were held during an outage: all of them when it is over, otherwise the next probe. */
  resumeHeldRequests(providerPool: ProviderPool): void {
    const { heldRequests, breaker } = providerPool;
    if (heldRequests.size === 0 || providerPool.isResumingHeld) return;
    providerPool.isResumingHeld = true;
    for (const waiter of heldRequests) {
      if (breaker.admitOrFail(waiter.request, this.#now()) === null) this.#slots.admitHeldRequest(waiter);
    }
    for (const waiter of heldRequests) {
      const { request } = waiter;
      const failure = breaker.admitOrFail(request, this.#now());
      if (failure === null) this.#slots.admitHeldRequest(waiter);
      else if (!breaker.isProbing(request.model, this.#now()))
        this.#slots.requestQueue.dismiss(waiter, { refused: "provider_down", failure });
    }
    providerPool.isResumingHeld = false;
  }
}
