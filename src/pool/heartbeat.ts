import { BEAT_MS, HOLD_MS } from "./lease-life.ts";

/** What the pool answers to a beat. */
export interface Pulse {
  /** Number of the pool's present start: leases with a name of an earlier one are to be taken over. */
  readonly start: number;
  /** Leases that have ended. */
  readonly lost: readonly string[];
}

/** Beats of an isolate are at least this far apart: the ticks of its requests are not in step. */
const GAP_MS = BEAT_MS * 0.8;

/** The same for those whose leases end before the next one. */
const URGENT_GAP_MS = 50;

/** A request that has not ticked for so many beats is over, although nobody said so. */
const SILENT_BEATS = 6;

/** A lease as its holder knows it. */
export class HeldLease {
  /** Its present name; a take-over gives it another one. */
  name: string;
  /** Until when the slot may be used, by the holder's clock, Unix milliseconds. */
  until: number;
  /** The pool says that it has ended. */
  lost = false;
  /** The pool has heard of it since the grant. */
  confirmed = false;
  silentBeats = 0;
  /** How often the pool has heard of it. */
  heard = 0;
  /** Called when the pool has heard of it. */
  onConfirmed: () => void = () => {};

  constructor(name: string, until: number) {
    this.name = name;
    this.until = until;
  }

  /** The pool has heard of it in a message that was sent at `sentAt`. */
  confirm(sentAt: number): void {
    this.confirmed = true;
    this.heard += 1;
    this.until = Math.max(this.until, sentAt + HOLD_MS);
    this.onConfirmed();
  }
}

const startOf = (name: string): number => Number.parseInt(name, 10);

/**
 * The pulse of one isolate: one message renews all leases that its requests hold. There is nobody whose task that is, because
 * a request cannot work for another one once it has ended. Each ticks by itself, and whichever finds a beat due sends it and
 * writes down what came of it; all others look here. Plain data, no timers, no network.
 */
export class Heartbeat {
  readonly #now: () => number;
  readonly #held = new Set<HeldLease>();
  #isolate = "";
  #start = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** How many messages have named a lease with this isolate, and how many had when it last said that it holds nothing. */
  #namings = 0;
  #farewells = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What this isolate calls itself. */
  get isolate(): string {
    // Not at the start of the isolate: only requests may have random numbers.
    this.#isolate ||= crypto.randomUUID();
    return this.#isolate;
  }

  /** Milliseconds until a beat is due; not more than 0 when it is. */
  get dueIn(): number {
    return this.#left(GAP_MS);
  }

  /** The same for a lease that cannot wait for that. */
  get urgentIn(): number {
    return this.#left(URGENT_GAP_MS);
  }

  #left(gap: number): number {
    const passed = this.#now() - this.#sentAt;
    // A clock may be set back.
    return passed < 0 ? 0 : gap - passed;
  }

  /** When the last beat was sent. */
  get sentAt(): number {
    return this.#sentAt;
  }

  /** Leases that beats name. */
  get size(): number {
    return this.#held.size;
  }

  /** The holder of a lease is there. */
  tick(lease: HeldLease): void {
    lease.silentBeats = 0;
    lease.until = Math.min(lease.until, this.#now() + HOLD_MS);
    this.#held.add(lease);
  }

  remove(lease: HeldLease): void {
    this.#held.delete(lease);
  }

  /** A lease of this name was granted: that shows which start is the present one. */
  met(name: string): void {
    this.#start = Math.max(this.#start, startOf(name));
  }

  /** Whether a lease is from before a restart, and is to be taken over. */
  isOld({ name }: HeldLease): boolean {
    return startOf(name) < this.#start;
  }

  /** A message is sent that has the pool write down this isolate's name. */
  naming(): void {
    this.#namings += 1;
  }

  /** Whether the pool may know of this isolate, and await it after a restart. */
  get isNamed(): boolean {
    return this.#namings > this.#farewells;
  }

  /** Number of the pool's newest start that was heard of. */
  get start(): number {
    return this.#start;
  }

  /** Sends a beat for all, with the number of the start that is known by then: after a restart it takes another one to be done. */
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
    // A pool that has been restarted since believes only what was sent by whoever knows of it.
    if (named.size === 0 && start === known) this.#farewells = Math.max(this.#farewells, namings);
    const gone = new Set(lost);
    for (const [name, lease] of named) {
      // It may have been taken over meanwhile.
      if (lease.name !== name) continue;
      if (gone.has(name)) lease.lost = true;
      else if (startOf(name) === start) lease.confirm(sentAt);
    }
  }
}
