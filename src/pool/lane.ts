import { Breaker } from "./breaker.ts";
import { Rotation } from "./rotation.ts";
import { Shares } from "./shares.ts";
import { type Waiter, WaitingQueue } from "./waiting-queue.ts";

/**
 * The accounts of one provider: whose turn it is, who holds and who waits for one of them, and whether the provider is down.
 * Requests for different providers meet nowhere but at the limit for all slots.
 */
export class Lane {
  /** Empty: the default provider. */
  readonly provider: string;
  readonly rotation = new Rotation();
  readonly shares = new Shares();
  readonly queue = new WaitingQueue(this.shares);
  readonly breaker = new Breaker();
  /** Requests that wait outside of the queue, in the order in which they were put aside. */
  readonly aside = new Set<Waiter>();
  /** They are being looked through. */
  looking = false;
  /** Its configured accounts. */
  total = 0;
  /** Those of them that may be chosen. */
  enabled = 0;

  constructor(provider: string) {
    this.provider = provider;
  }

  /** How many requests wait. */
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

/** The lanes of all providers. That of the default provider is always there. */
export class Lanes {
  readonly own = new Lane("");
  readonly #byProvider = new Map([["", this.own]]);
  #all: readonly Lane[] = [this.own];

  /** The lane of a provider; undefined for one that has never had an account. */
  of(provider: string | undefined): Lane | undefined {
    return provider === undefined ? this.own : this.#byProvider.get(provider);
  }

  /** The same; it is made if need be. */
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

  /** How many requests wait. */
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

  /** The lane with the request whose turn it is: of those that can run now, the one that came first. */
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
