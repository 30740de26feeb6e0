import { CONFIRMED_HOLD_MS, HEARTBEAT_MS } from "../../../pool/leases/lease-timing.ts";
import type { HeartbeatAnswer } from "../../../pool/leases/leases.ts";

/** Minimum time between two heartbeats of an isolate: its requests tick independently of each other. */
const MIN_INTERVAL_MS = HEARTBEAT_MS * 0.8;

/** The same for leases that end before the next regular heartbeat. */
const MIN_URGENT_INTERVAL_MS = 50;

/** A request that has not ticked for this many heartbeats is considered ended, even without a release. */
const MAX_MISSED_HEARTBEATS = 6;

/** A lease as seen by its holder. */
export class HeldLease {
  /** The current name; resuming the lease after a restart of the pool changes it. */
  name: string;
  /** Until when the holder may use the slot, by the holder's monotonic clock, milliseconds. */
  until: number;
  /** The pool has reported that the lease ended. */
  isLost = false;
  /** The pool has confirmed it since the grant. */
  isConfirmed = false;
  missedHeartbeats = 0;
  /** Called at each confirmation. */
  onConfirmed: () => void = () => {};

  constructor(name: string, until: number) {
    this.name = name;
    this.until = until;
  }

  /** The pool has confirmed the lease in its answer to a message sent at `sentAt`. */
  confirm(sentAt: number): void {
    this.isConfirmed = true;
    this.until = Math.max(this.until, sentAt + CONFIRMED_HOLD_MS);
    this.onConfirmed();
  }
}

const parseStartNumber = (name: string): number => Number.parseInt(name, 10);

/**
 * The heartbeat of one isolate: one message renews all leases that its requests hold. No request owns this task, because a
 * Workers request cannot do work for another request after it has ended. Each request ticks on its own; the first that
 * finds a heartbeat due sends it and records the answer here for all. Plain data: no timers, no network.
 */
export class Heartbeat {
  readonly #now: () => number;
  readonly #leases = new Set<HeldLease>();
  #isolate = "";
  #newestStart = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  /**
   * Number of messages that registered this isolate with a lease, and that number when it last
   * reported that it holds none.
   */
  #registrations = 0;
  #registrationsWhenIdle = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Random name of this isolate. */
  get isolate(): string {
    // Created lazily: only request handlers may use random numbers, not the startup of an isolate.
    this.#isolate ||= crypto.randomUUID();
    return this.#isolate;
  }

  /** Milliseconds until a heartbeat is due; 0 or less when it is due. */
  get dueInMs(): number {
    return this.#remainingMs(MIN_INTERVAL_MS);
  }

  /** The same for a lease that cannot wait for the regular heartbeat. */
  get urgentDueInMs(): number {
    return this.#remainingMs(MIN_URGENT_INTERVAL_MS);
  }

  #remainingMs(intervalMs: number): number {
    return intervalMs - (this.#now() - this.#sentAt);
  }

  /** When the last heartbeat was sent, monotonic milliseconds. */
  get sentAt(): number {
    return this.#sentAt;
  }

  /** Number of leases that heartbeats name. */
  get size(): number {
    return this.#leases.size;
  }

  /** The holder of a lease is still running. */
  tick(lease: HeldLease): void {
    lease.missedHeartbeats = 0;
    this.#leases.add(lease);
  }

  remove(lease: HeldLease): void {
    this.#leases.delete(lease);
  }

  /** A lease with this name was granted: its name contains the number of the pool's current start. */
  noteGrantedLease(name: string): void {
    this.#newestStart = Math.max(this.#newestStart, parseStartNumber(name));
  }

  /** Whether the lease was granted before a restart of the pool and must be resumed. */
  isFromEarlierStart({ name }: HeldLease): boolean {
    return parseStartNumber(name) < this.#newestStart;
  }

  /** A message is sent that makes the pool store this isolate's name. */
  noteRegistration(): void {
    this.#registrations += 1;
  }

  /** Whether the pool may have stored this isolate, and would wait for it after a restart. */
  get mayBeRegistered(): boolean {
    return this.#registrations > this.#registrationsWhenIdle;
  }

  /** Number of the pool's newest known start. */
  get newestStart(): number {
    return this.#newestStart;
  }

  /**
   * Sends a heartbeat for all leases, with the newest start number known. After a restart of the pool a second heartbeat is
   * needed.
   */
  async sendHeartbeat(
    send: (isolate: string, leases: readonly string[], known: number) => Promise<HeartbeatAnswer>,
  ): Promise<void> {
    const sentAt = this.#now();
    this.#sentAt = sentAt;
    const leasesByName = new Map<string, HeldLease>();
    for (const lease of this.#leases) {
      lease.missedHeartbeats += 1;
      if (lease.missedHeartbeats > MAX_MISSED_HEARTBEATS) this.#leases.delete(lease);
      else leasesByName.set(lease.name, lease);
    }
    if (leasesByName.size > 0) this.noteRegistration();
    const known = this.#newestStart;
    const registrations = this.#registrations;
    const { start, lost } = await send(this.isolate, [...leasesByName.keys()], known);
    this.#newestStart = Math.max(this.#newestStart, start);
    // A restarted pool trusts an empty heartbeat only if its sender already knew the current start.
    if (leasesByName.size === 0 && start === known)
      this.#registrationsWhenIdle = Math.max(this.#registrationsWhenIdle, registrations);
    const lostNames = new Set(lost);
    for (const [name, lease] of leasesByName) {
      // The lease may have been resumed under another name meanwhile.
      if (lease.name !== name) continue;
      if (lostNames.has(name)) lease.isLost = true;
      else if (parseStartNumber(name) === start) lease.confirm(sentAt);
    }
  }
}
