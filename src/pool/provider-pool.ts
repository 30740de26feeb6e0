import { CircuitBreaker } from "./circuit-breaker.ts";
import { FairQueue } from "./fair-queue.ts";
import { FairShares } from "./fair-shares.ts";
import { ProviderHealth } from "./provider-health.ts";
import { Rotation } from "./rotation.ts";
import type { ProviderRecord } from "./shards/provider-record.ts";
import type { Waiter } from "./waiter.ts";

/**
 * The accounts of one provider with their rotation, waiting requests, fair shares and circuit breaker. Requests for
 * different providers share only the global slot limit.
 */
export class ProviderPool {
  /** Empty: the default provider. */
  readonly provider: string;
  readonly rotation = new Rotation();
  readonly fairShares = new FairShares();
  readonly queue = new FairQueue(this.fairShares);
  readonly breaker = new CircuitBreaker();
  readonly health = new ProviderHealth();
  /** Requests that wait outside of the queue, in the order in which they were moved there. */
  readonly heldRequests = new Set<Waiter>();
  /** Guards against reentry while the held requests are being resumed. */
  isResumingHeld = false;
  /** Number of its configured accounts. */
  configuredAccounts = 0;
  /** Number of its enabled accounts. */
  enabledAccounts = 0;

  constructor(provider: string) {
    this.provider = provider;
  }

  /** How its requests have ended. */
  readHealth(now: number): ProviderRecord {
    const outages = this.breaker.outages(this.provider);
    const open = outages.some(({ model }) => model === "") ? "all" : outages.length > 0 ? "some" : "none";
    return { provider: this.provider, ...this.health.read(now), open };
  }

  /** Number of waiting requests. */
  get waitingCount(): number {
    return this.queue.size + this.heldRequests.size;
  }

  /** Waiting requests in order of arrival. */
  waiters(): Waiter[] {
    const queued = this.queue.list();
    if (this.heldRequests.size === 0) return queued;
    return [...queued, ...this.heldRequests].sort((a, b) => a.serial - b.serial);
  }

  /** Slots of all its accounts together. */
  get totalSlots(): number {
    return this.configuredAccounts * this.rotation.perAccount;
  }
}

/** The pools of all providers. The pool of the default provider always exists. */
export class ProviderPools {
  readonly defaultPool = new ProviderPool("");
  readonly #byProvider = new Map([["", this.defaultPool]]);
  #all: readonly ProviderPool[] = [this.defaultPool];

  /** The pool of a provider; undefined for a provider that has never had an account. */
  get(provider: string | undefined): ProviderPool | undefined {
    return provider === undefined ? this.defaultPool : this.#byProvider.get(provider);
  }

  /** Like {@link get}, but creates a missing pool. */
  getOrCreate(provider: string): ProviderPool {
    let providerPool = this.#byProvider.get(provider);
    if (providerPool === undefined) {
      providerPool = new ProviderPool(provider);
      this.#byProvider.set(provider, providerPool);
      this.#all = [...this.#byProvider.values()];
    }
    return providerPool;
  }

  /** The pool of an account or a waiting request. */
  of({ provider }: { readonly provider: string }): ProviderPool {
    return this.getOrCreate(provider);
  }

  get all(): readonly ProviderPool[] {
    return this.#all;
  }

  /** Number of waiting requests. */
  get waitingCount(): number {
    let waiting = 0;
    for (const providerPool of this.#all) waiting += providerPool.waitingCount;
    return waiting;
  }

  /** Waiting requests in order of arrival. */
  waiters(): Waiter[] {
    if (this.#all.length === 1) return this.defaultPool.waiters();
    return this.#all.flatMap((providerPool) => providerPool.waiters()).sort((a, b) => a.serial - b.serial);
  }

  /** Among the requests that can run now, the one that arrived first, with its provider's pool. */
  nextRunnable(): {
    readonly providerPool: ProviderPool;
    readonly next: NonNullable<ReturnType<FairQueue["next"]>>;
  } | null {
    let first: ReturnType<ProviderPools["nextRunnable"]> = null;
    for (const providerPool of this.#all) {
      if (providerPool.queue.size === 0) continue;
      const next = providerPool.queue.next(providerPool.rotation);
      if (next !== null && (first === null || next.waiter.serial < first.next.waiter.serial)) {
        first = { providerPool, next };
      }
    }
    return first;
  }
}
