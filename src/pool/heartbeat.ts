import { BEAT_MS, HOLD_MS } from "./lease-life.ts";

/** The pool's answer to a heartbeat. */
export interface Pulse {
  /** Number of the pool's current start: the isolate must resume leases whose name has an earlier number. */
  readonly start: number;
  /** Names of leases that have ended. */
  readonly lost: readonly string[];
}

/** Minimum time between two heartbeats of an isolate: its requests tick independently of each other. */
const GAP_MS = BEAT_MS * 0.8;

/** The same for leases that end before the next regular heartbeat. */
const URGENT_GAP_MS = 50;

/** A request that has not ticked for this many heartbeats is considered ended, even without a release. */
const SILENT_BEATS = 6;

/** A lease as seen by its holder. */
export class HeldLease {
  /** The current name; resuming the lease after a restart of the pool changes it. */
  name: string;
  /** Until when the holder may use the slot, by the holder's clock, Unix milliseconds. */
  until: number;
  /** The pool has reported that the lease ended. */
  lost = false;
  /** The pool has confirmed it since the grant. */
  confirmed = false;
  silentBeats = 0;
  /** Number of confirmations by the pool. */
  heard = 0;
  /** Called at each confirmation. */
  onConfirmed: () => void = () => {};

  constructor(name: string, until: number) {
    this.name = name;
    this.until = until;
  }

  /** The pool has confirmed the lease in its answer to a message sent at `sentAt`. */
  confirm(sentAt: number): void {
    this.confirmed = true;
    this.heard += 1;
    this.until = Math.max(this.until, sentAt + HOLD_MS);
    this.onConfirmed();
  }
}

const startOf = (name: string): number => Number.parseInt(name, 10);

/**
 * The heartbeat of one isolate: one message renews all leases that its requests hold. No request owns this task, because a
 * Workers request cannot do work for another request after it has ended. Each request ticks on its own; the first that
 * finds a heartbeat due sends it and records the answer here for all. Plain data: no timers, no network.
 */
export class Heartbeat {
  readonly #now: () => number;
  readonly #held = new Set<HeldLease>();
  #isolate = "";
  #start = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Number of messages that registered this isolate with a lease, and that number when it last reported that it holds none. */
  #namings = 0;
  #farewells = 0;

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
  get dueIn(): number {
    return this.#left(GAP_MS);
  }

  /** The same for a lease that cannot wait for the regular heartbeat. */
  get urgentIn(): number {
    return this.#left(URGENT_GAP_MS);
  }

  #left(gap: number): number {
    const passed = this.#now() - this.#sentAt;
    // The clock was set back: the heartbeat is due now.
    return passed < 0 ? 0 : gap - passed;
  }

  /** When the last heartbeat was sent, Unix milliseconds. */
  get sentAt(): number {
    return this.#sentAt;
  }

  /** Number of leases that heartbeats name. */
  get size(): number {
    return this.#held.size;
  }

  /** The holder of a lease is still running. */
  tick(lease: HeldLease): void {
    lease.silentBeats = 0;
    lease.until = Math.min(lease.until, this.#now() + HOLD_MS);
    this.#held.add(lease);
  }

  remove(lease: HeldLease): void {
    this.#held.delete(lease);
  }

  /** A lease with this name was granted: its name contains the number of the pool's current start. */
  met(name: string): void {
    this.#start = Math.max(this.#start, startOf(name));
  }

  /** Whether the lease was granted before a restart of the pool and must be resumed. */
  isOld({ name }: HeldLease): boolean {
    return startOf(name) < this.#start;
  }

  /** A message is sent that makes the pool store this isolate's name. */
  naming(): void {
    this.#namings += 1;
  }

  /** Whether the pool may have stored this isolate, and would wait for it after a restart. */
  get isNamed(): boolean {
    return this.#namings > this.#farewells;
  }

  /** Number of the pool's newest known start. */
  get start(): number {
    return this.#start;
  }

  /**
   * Sends a heartbeat for all leases, with the newest start number known. After a restart of the pool a second heartbeat is
   * needed.
   */
  async beat(
    send: (isolate: string, leases: readonly string[], known: number) => Promise<Pulse>,
  ): Promise<void> {
    const sentAt = this.#now();
    this.#sentAt = sentAt;
    const named = new Map<string, HeldLease>();
    for (const lease of this.#held) {
      lease.silentBeats += 1;
      if (lease.silentBeats > SILENT_BEATS) this.#held.delete(lease);
      else named.set(lease.name, lease);
    }
    if (named.size > 0) this.naming();
    const known = this.#start;
    const namings = this.#namings;
    const { start, lost } = await send(this.isolate, [...named.keys()], known);
    this.#start = Math.max(this.#start, start);
    // A restarted pool trusts an empty heartbeat only if its sender already knew the current start.
    if (named.size === 0 && start === known) this.#farewells = Math.max(this.#farewells, namings);
    const gone = new Set(lost);
    for (const [name, lease] of named) {
      // The lease may have been resumed under another name meanwhile.
      if (lease.name !== name) continue;
      if (gone.has(name)) lease.lost = true;
      else if (startOf(name) === start) lease.confirm(sentAt);
    }
  }
}
