import type { LimitShareStore } from "./pool-store.ts";
import { splitProportionally } from "./shards/shard-map.ts";

/** The limits that shards share: slots in use, and waiting requests. */
export const DISTRIBUTED_LIMITS = ["global", "queue"] as const;
export type DistributedLimit = (typeof DISTRIBUTED_LIMITS)[number];

/**
 * Every limit consists of this many units. Shares are counted in units, so an edit of the limit scales all shares and moves
 * none. Divisible by every number up to 16, and by 32 and 64, so that equal shares are whole numbers.
 */
export const TOTAL_UNITS = 2_882_880;

/**
 * How long a shard reserves slots for a peer that has requested them, milliseconds. A peer that still needs them repeats
 * its request earlier.
 */
const RESERVED_MS = 5_000;

/** A peer that has not repeated its request for this long loses its turn, milliseconds. */
const TURN_TIMEOUT_MS = 1_000;

/** The shards that share the limits. All shards get the same layout, but not at the same moment. */
export interface LimitLayout {
  /** Names of the shards that own accounts. */
  readonly shards: readonly string[];
  /** The shards that owned the whole limit at first, in equal shares. Never changes. */
  readonly founders: readonly string[];
  /** Shards of earlier layouts: they may still hold shares. */
  readonly former?: readonly string[];
}

/** How much of a limit a shard uses. */
export interface LimitUsage {
  readonly inUse: number;
  /** The part of `inUse` whose leases are unconfirmed since a restart: it may become free soon. */
  readonly heldBack: number;
  /** What the shard could use in addition right now. */
  readonly wanted: number;
  /** The most that it could ever use. */
  readonly most: number;
}

/** A request of one shard to another for a share. All numbers are units. */
export interface ShareRequest {
  readonly units: number;
  /** What the requesting shard has. */
  readonly has: number;
  /** The total that it has ever received from the other shard. */
  readonly got: number;
  /** A request is about to be rejected because the share is exhausted: the peer may give its idle reserve. */
  readonly urgent?: true;
}

/** Slots owed to a peer that requested more than was free. Times are Unix milliseconds. */
interface OwedSlots {
  readonly slots: number;
  /** Time of its first and of its latest request. */
  readonly since: number;
  readonly askedAt: number;
  readonly until: number;
}

export interface ShareAnswer {
  /** Total units ever given to the requesting shard. Only its growth counts, so an answer may be lost, repeated or late. */
  readonly given: number;
  /** How many more units it would give. */
  readonly spare: number;
  /** The shard is no longer in the layout and has no units left. */
  readonly gone?: true;
}

/**
 * A shard's share of one limit: a bounded counter (Balegas et al., "Extending Eventually Consistent Cloud Databases for
 * Enforcing Numeric Invariants", 2015). For each pair of shards the giver counts the units that it has ever given, and the
 * receiver stores the largest such count that it was sent. Both counts are stored before they are sent or used. So the sum
 * of all shares never exceeds the limit, whatever happens to messages and shards; the next message makes up for a lost one.
 *
 * A shard gives half of its idle units, or all of them when a request would otherwise be rejected. A shard with more than
 * an equal share gives the surplus to a peer with less, as soon as it becomes free. This class holds the rules only: {@link
 * LimitRebalancer} decides when to ask which peer.
 */
export class LimitShare {
  readonly #name: string;
  readonly #limit: DistributedLimit;
  readonly #store: LimitShareStore;
  readonly #given = new Map<string, number>();
  readonly #got = new Map<string, number>();
  /** Base minus all given units plus all received units. */
  #units = 0;
  #base = 0;
  #total = 0;
  #shards: readonly string[] = [];
  /** Slots reserved for peers, with the end of each reservation. */
  readonly #reserved = new Map<string, OwedSlots>();

  /**
   * @param name this shard's name
   */
  constructor(name: string, limit: DistributedLimit, store: LimitShareStore) {
    this.#name = name;
    this.#limit = limit;
    this.#store = store;
    for (const { limit: storedLimit, peer, given, got } of store.loadLimitShares()) {
      if (storedLimit !== limit) continue;
      this.#given.set(peer, given);
      this.#got.set(peer, got);
      this.#units += got - given;
    }
  }

  /**
   * @param total the limit; 0: no limit
   */
  configure(total: number, { shards, founders }: LimitLayout): void {
    const equal = splitProportionally(
      TOTAL_UNITS,
      founders.map(() => 1),
    );
    const base = equal[founders.indexOf(this.#name)] ?? 0;
    this.#units += base - this.#base;
    this.#base = base;
    this.#total = total;
    this.#shards = shards;
    if (total === 0) this.#reserved.clear();
  }

  /** The shard has never had a share. */
  get isNew(): boolean {
    return this.#base === 0 && this.#got.size === 0;
  }

  /** Its share in units. */
  get units(): number {
    return this.#units;
  }

  /** Whether other shards may hold a part of the limit. */
  get isPartial(): boolean {
    return this.#total > 0 && this.#slotsOf(this.#units) < this.#total;
  }

  /** Its share in slots; null without a limit. */
  get slots(): number | null {
    return this.#total === 0 ? null : this.#slotsOf(this.#units);
  }

  /** How many slots of its share it may use: slots owed to peers are not reused once they become free. Null without a limit. */
  usableSlots(now: number): number | null {
    const { slots } = this;
    if (slots === null) return null;
    let owed = 0;
    for (const [peer, { slots: reservedSlots, until }] of this.#reserved) {
      if (until <= now || until > now + RESERVED_MS) this.#reserved.delete(peer);
      else owed += reservedSlots;
    }
    return slots - Math.min(owed, Math.max(0, slots - this.#equalShare));
  }

  /** When the first reservation for a peer ends, Unix milliseconds; `Infinity` without reservations. */
  get owedUntil(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { until } of this.#reserved.values()) first = Math.min(first, until);
    return first;
  }

  /** How many more units it should have. */
  missing({ inUse, heldBack, wanted, most }: LimitUsage): number {
    const { slots } = this;
    if (slots === null || this.#isOutsideLayout) return 0;
    const needed = inUse - heldBack + wanted;
    // Request in larger steps, not for each request: up to an equal share, and above it a quarter more.
    let target = 0;
    if (wanted > 0 && needed > slots) target = Math.max(this.#equalShare, needed + Math.ceil(slots / 4));
    // A new shard requests its share at once, so that its first requests need not wait.
    else if (this.isNew) target = this.#equalShare;
    target = Math.min(target, Math.max(most, needed), this.#total);
    return target <= slots ? 0 : this.#unitsFor(target) - this.#units;
  }

  /**
   * @param missing units; 0: only ask for the total already given
   */
  ask(peer: string, missing: number, isUrgent = false): ShareRequest {
    const minUnits = missing === 0 ? 0 : this.#unitsFor(1);
    const units = Math.min(TOTAL_UNITS, Math.max(minUnits, Math.ceil(missing)));
    const request = { units, has: this.#units, got: this.#got.get(peer) ?? 0 };
    return isUrgent ? { ...request, urgent: isUrgent } : request;
  }

  /** Handles a peer's request for a part of this share. */
  handleRequest(
    peer: string,
    { units, has, got, urgent }: ShareRequest,
    usage: LimitUsage,
    now: number,
  ): ShareAnswer {
    const givenBefore = this.#given.get(peer) ?? 0;
    // Before the configuration its own share is unknown.
    if (this.#shards.length === 0) return { given: givenBefore, spare: 0 };
    // Units that were given but have not arrived yet.
    const inTransit = Math.max(0, givenBefore - got);
    const requestedUnits = Math.max(0, units - inTransit);
    const free = Math.max(0, this.#units - this.#unitsToKeep(peer, has, usage, urgent === true, now));
    const given = Math.min(requestedUnits, free);
    if (given > 0) {
      this.#save(peer, givenBefore + given, this.#got.get(peer) ?? 0);
      this.#given.set(peer, givenBefore + given);
      this.#units -= given;
    }
    // An urgent requester is rejected if it gets nothing, so nothing is reserved for it.
    if (urgent !== true) this.#reserve(peer, has, requestedUnits - given, now);
    const answer = { given: givenBefore + given, spare: free - given };
    return this.#isOutsideLayout && this.#units === 0 ? { ...answer, gone: true } : answer;
  }

  /** Records the total that a peer has ever given to this shard. Returns how much of it is new. */
  recordGiven(peer: string, given: number): number {
    const receivedBefore = this.#got.get(peer) ?? 0;
    if (given <= receivedBefore) return 0;
    const newUnits = given - receivedBefore;
    this.#save(peer, this.#given.get(peer) ?? 0, given);
    this.#got.set(peer, given);
    this.#units += newUnits;
    return newUnits;
  }

  /** Whether the shard is not, or no longer, in the layout. */
  get #isOutsideLayout(): boolean {
    return !this.#shards.includes(this.#name);
  }

  /** An equal share, in slots. */
  get #equalShare(): number {
    return this.#isOutsideLayout ? 0 : Math.floor(this.#total / this.#shards.length);
  }

  #slotsOf(units: number): number {
    return Math.floor((units * this.#total) / TOTAL_UNITS);
  }

  #unitsFor(slots: number): number {
    return this.#total === 0 ? 0 : Math.ceil((slots * TOTAL_UNITS) / this.#total);
  }

  /**
   * Whether the peer has less than an equal share and less than this shard. Of a very small limit the shards get single
   * slots in turn.
   */
  #isDue(peer: string, has: number): boolean {
    const peerSlots = this.#slotsOf(has);
    return (
      this.#shards.includes(peer) &&
      peerSlots < Math.max(1, this.#equalShare) &&
      peerSlots < (this.slots ?? 0)
    );
  }

  /** The units that it keeps when a peer requests a share. */
  #unitsToKeep(
    peer: string,
    has: number,
    { inUse, wanted }: LimitUsage,
    isUrgent: boolean,
    now: number,
  ): number {
    const { slots } = this;
    if (slots === null)
      return inUse > 0 ? this.#units : this.#isOutsideLayout ? 0 : Math.ceil(this.#units / 2);
    const used = Math.min(slots, inUse);
    const idle = Math.max(0, slots - inUse - wanted);
    let given = this.#isOutsideLayout ? slots - used : isUrgent ? idle : Math.ceil(idle / 2);
    if (this.#isDue(peer, has)) given = Math.max(given, slots - Math.max(used, this.#equalShare));
    given = Math.max(0, Math.min(given, slots - used - this.#slotsOwedBefore(peer, now)));
    // Less than one slot is of no use here. But two shards that both lack a slot must not pass the rest back and forth for
    // ever.
    if (given === 0 && inUse + wanted > slots && this.#name < peer) return this.#units;
    return Math.max(this.#unitsFor(slots - given), this.#unitsFor(inUse));
  }

  /** Slots owed to peers that requested earlier than this one. */
  #slotsOwedBefore(peer: string, now: number): number {
    const { since } = this.#reserved.get(peer) ?? { since: now };
    let owed = 0;
    for (const [otherPeer, reservation] of this.#reserved)
      if (otherPeer !== peer && reservation.since < since && now - reservation.askedAt <= TURN_TIMEOUT_MS)
        owed += reservation.slots;
    return owed;
  }

  #reserve(peer: string, has: number, missingUnits: number, now: number): void {
    const since = this.#reserved.get(peer)?.since ?? now;
    this.#reserved.delete(peer);
    if (missingUnits <= 0 || this.slots === null || !this.#isDue(peer, has)) return;
    const shortfall = Math.max(1, this.#equalShare) - this.#slotsOf(has);
    const slots = Math.min(shortfall, Math.ceil((missingUnits * this.#total) / TOTAL_UNITS));
    this.#reserved.set(peer, { slots, since, askedAt: now, until: now + RESERVED_MS });
  }

  /** Throws what the store throws; then neither count may change. */
  #save(peer: string, given: number, got: number): void {
    this.#store.saveLimitShare({ limit: this.#limit, peer, given, got });
  }
}
