import { Breaker } from "./breaker.ts";
import { Rotation } from "./rotation.ts";
import { Shares } from "./shares.ts";
import { type Waiter, WaitingQueue } from "./waiting-queue.ts";

/**
 * The accounts of one provider with their rotation, waiting requests, fair shares and circuit breaker. Requests for
 * different providers share only the global slot limit.
 */
export class Lane {
  /** Empty: the default provider. */
  readonly provider: string;
  readonly rotation = new Rotation();
  readonly shares = new Shares();
  readonly queue = new WaitingQueue(this.shares);
  readonly breaker = new Breaker();
  /** Requests that wait outside of the queue, in the order in which they were moved there. */
  readonly aside = new Set<Waiter>();
  /** Guards against reentry while the held requests are being resumed. */
  looking = false;
  /** Number of its configured accounts. */
  total = 0;
  /** Number of those that are enabled. */
  enabled = 0;

  constructor(provider: string) {
    this.provider = provider;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.queue.size + this.aside.size;
  }

  /** Waiting requests in order of arrival. */
  waiters(): Waiter[] {
    const queued = this.queue.list();
    if (this.aside.size === 0) return queued;
    return [...queued, ...this.aside].sort((one, other) => one.serial - other.serial);
  }

  /** Slots of all its accounts together. */
  get slots(): number {
    return this.total * this.rotation.perAccount;
  }
}

/** The pools of all providers. The pool of the default provider always exists. */
export class Lanes {
  readonly own = new Lane("");
  readonly #byProvider = new Map([["", this.own]]);
  #all: readonly Lane[] = [this.own];

  /** The pool of a provider; undefined for a provider that has never had an account. */
  of(provider: string | undefined): Lane | undefined {
    return provider === undefined ? this.own : this.#byProvider.get(provider);
  }

  /** Like {@link get}, but creates a missing pool. */
  make(provider: string): Lane {
    let lane = this.#byProvider.get(provider);
    if (lane === undefined) {
      lane = new Lane(provider);
      this.#byProvider.set(provider, lane);
      this.#all = [...this.#byProvider.values()];
    }
    return lane;
  }

  get all(): readonly Lane[] {
    return this.#all;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    let waiting = 0;
    for (const lane of this.#all) waiting += lane.waiting;
    return waiting;
  }

  /** Waiting requests in order of arrival. */
  waiters(): Waiter[] {
    if (this.#all.length === 1) return this.own.waiters();
    return this.#all.flatMap((lane) => lane.waiters()).sort((one, other) => one.serial - other.serial);
  }

  /** Among the requests that can run now, the one that arrived first, with its provider's pool. */
  next(): { readonly lane: Lane; readonly next: NonNullable<ReturnType<WaitingQueue["next"]>> } | null {
    let first: ReturnType<Lanes["next"]> = null;
    for (const lane of this.#all) {
      if (lane.queue.size === 0) continue;
      const next = lane.queue.next(lane.rotation);
      if (next !== null && (first === null || next.waiter.serial < first.next.waiter.serial)) {
        first = { lane, next };
      }
    }
    return first;
  }
}
