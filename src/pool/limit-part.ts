import { partsOf } from "../shards/shards.ts";
import type { PartStore } from "./pool-store.ts";

/** The limits that shards hold parts of: for slots in use, and for waiting requests. */
export const PARTED_LIMITS = ["global", "queue"] as const;
export type PartedLimit = (typeof PARTED_LIMITS)[number];

/**
 * A limit, whatever it is, is so many units. Parts are counted in these, hence an edit of the limit moves none of them, and makes
 * each larger or smaller with it. Divisible by every number to 16, and by 32 and 64, so that equal parts of it are whole.
 */
export const WHOLE = 2_882_880;

/** For how long a shard holds slots back for one that has asked for them, milliseconds. Who still needs them asks again before. */
const WITHHELD_MS = 5_000;

/** One that has not asked for so long leaves its turn to others, milliseconds. */
const TURN_MS = 1_000;

/** Who shares the limits. The same to all shards, in the end: it may be on its way to some. */
export interface PartLayout {
  /** Names of the shards that accounts live in. */
  readonly shards: readonly string[];
  /** Those that there were when there were any for the first time: the whole was theirs, in equal parts. Never changes. */
  readonly founders: readonly string[];
  /** Those that there were once: they may still hold parts. */
  readonly former?: readonly string[];
}

/** How much of a limit a shard uses. */
export interface PartUse {
  readonly inUse: number;
  /** Those of them that may have ended: they are held back since a restart, and fall free soon. */
  readonly heldBack: number;
  /** What it could use besides, just now. */
  readonly wanted: number;
  /** The most that it could ever use. */
  readonly most: number;
}

/** What a shard asks another one for. All are units. */
export interface PartAsk {
  readonly units: number;
  /** What it has. */
  readonly has: number;
  /** What it has got from the other one, ever. */
  readonly got: number;
  /** A request is about to be turned away for want of it: what is only kept ready may be given. */
  readonly urgent?: true;
}

/** What is owed to one that has asked for more than there was. Times are Unix milliseconds. */
interface Owed {
  readonly slots: number;
  /** When it asked first, and last. */
  readonly since: number;
  readonly askedAt: number;
  readonly until: number;
}

export interface PartAnswer {
  /** What has been given to the one that asks, ever: units. Only its growth counts, so that it may be lost, repeated and overtaken. */
  readonly given: number;
  /** How many units it would give besides. */
  readonly spare: number;
  /** There is nothing left here, nor will there be: the shard is not of the layout any more. */
  readonly gone?: true;
}

/**
 * A shard's part of one limit: a bounded counter (Balegas et al., "Extending Eventually Consistent Cloud Databases for Enforcing
 * Numeric Invariants", 2015). For each pair of shards the giver counts what it has given, ever, and the receiver the most that
 * it was told of that. Both counts are stored before they are told, or used, so that whatever happens to messages and shards, what
 * all have together is never more than the whole; what a lost message should have brought comes with the next one.
 *
 * A shard gives what it does not use, and keeps half of it, unless a request would be turned away; one that has more than an equal share gives that to one that has
 * less as soon as it falls free. The rules alone: {@link PartTrader} says who is asked, and when.
 */
export class LimitPart {
  readonly #name: string;
  readonly #limit: PartedLimit;
  readonly #store: PartStore;
  readonly #given = new Map<string, number>();
  readonly #got = new Map<string, number>();
  /** Base − all that was given + all that was got. */
  #units = 0;
  #base = 0;
  #total = 0;
  #shards: readonly string[] = [];
  /** For whom slots are held back that fall free, and until when. */
  readonly #withheld = new Map<string, Owed>();

  /** @param name the shard's own */
  constructor(name: string, limit: PartedLimit, store: PartStore) {
    this.#name = name;
    this.#limit = limit;
    this.#store = store;
    for (const { limit: of, peer, given, got } of store.loadParts()) {
      if (of !== limit) continue;
      this.#given.set(peer, given);
      this.#got.set(peer, got);
      this.#units += got - given;
    }
  }

  /** @param total the limit; 0: there is none */
  configure(total: number, { shards, founders }: PartLayout): void {
    const equal = partsOf(
      WHOLE,
      founders.map(() => 1),
    );
    const base = equal[founders.indexOf(this.#name)] ?? 0;
    this.#units += base - this.#base;
    this.#base = base;
    this.#total = total;
    this.#shards = shards;
    if (total === 0) this.#withheld.clear();
  }

  /** It has never had any part. */
  get isNew(): boolean {
    return this.#base === 0 && this.#got.size === 0;
  }

  /** What it has, in units. */
  get units(): number {
    return this.#units;
  }

  /** Others may have some of it. */
  get isPartial(): boolean {
    return this.#total > 0 && this.#slotsOf(this.#units) < this.#total;
  }

  /** Its part; null while there is no limit. */
  get slots(): number | null {
    return this.#total === 0 ? null : this.#slotsOf(this.#units);
  }

  /** How much of its part it may use: what it owes to others it lets fall free. Null while there is no limit. */
  usable(now: number): number | null {
    const { slots } = this;
    if (slots === null) return null;
    let owed = 0;
    for (const [peer, { slots: held, until }] of this.#withheld) {
      if (until <= now || until > now + WITHHELD_MS) this.#withheld.delete(peer);
      else owed += held;
    }
    return slots - Math.min(owed, Math.max(0, slots - this.#fair));
  }

  /** When it may use more by itself, Unix milliseconds; `Infinity` when it lacks nothing. */
  get withheldUntil(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { until } of this.#withheld.values()) first = Math.min(first, until);
    return first;
  }

  /** How many units it should have besides. */
  missing({ inUse, heldBack, wanted, most }: PartUse): number {
    const { slots } = this;
    if (slots === null || this.#left) return 0;
    const needed = inUse - heldBack + wanted;
    // Not for each request anew: up to an equal share, and beyond it a quarter more.
    let target = 0;
    if (wanted > 0 && needed > slots) target = Math.max(this.#fair, needed + Math.ceil(slots / 4));
    // It has just been added, and should not have its first requests wait.
    else if (this.isNew) target = this.#fair;
    target = Math.min(target, Math.max(most, needed), this.#total);
    return target <= slots ? 0 : this.#unitsFor(target) - this.#units;
  }

  /** @param missing units; 0: it asks only what it was given */
  ask(peer: string, missing: number, urgent = false): PartAsk {
    const least = missing === 0 ? 0 : this.#unitsFor(1);
    const units = Math.min(WHOLE, Math.max(least, Math.ceil(missing)));
    const ask = { units, has: this.#units, got: this.#got.get(peer) ?? 0 };
    return urgent ? { ...ask, urgent } : ask;
  }

  /** Another shard asks for a part of this one. */
  asked(peer: string, { units, has, got, urgent }: PartAsk, use: PartUse, now: number): PartAnswer {
    const before = this.#given.get(peer) ?? 0;
    // What is its own is not known before it is configured.
    if (this.#shards.length === 0) return { given: before, spare: 0 };
    // What was given and has not arrived.
    const underWay = Math.max(0, before - got);
    const wanted = Math.max(0, units - underWay);
    const free = Math.max(0, this.#units - this.#kept(peer, has, use, urgent === true, now));
    const given = Math.min(wanted, free);
    if (given > 0) {
      this.#save(peer, before + given, this.#got.get(peer) ?? 0);
      this.#given.set(peer, before + given);
      this.#units -= given;
    }
    // Who is turned away in the end needs nothing any more.
    if (urgent !== true) this.#owe(peer, has, wanted - given, now);
    const answer = { given: before + given, spare: free - given };
    return this.#left && this.#units === 0 ? { ...answer, gone: true } : answer;
  }

  /** Another shard has said what it has given to this one, ever. Returns how much that is more than was known. */
  told(peer: string, given: number): number {
    const before = this.#got.get(peer) ?? 0;
    if (given <= before) return 0;
    const more = given - before;
    this.#save(peer, this.#given.get(peer) ?? 0, given);
    this.#got.set(peer, given);
    this.#units += more;
    return more;
  }

  /** Not of the layout, or not any more. */
  get #left(): boolean {
    return !this.#shards.includes(this.#name);
  }

  /** An equal share. */
  get #fair(): number {
    return this.#left ? 0 : Math.floor(this.#total / this.#shards.length);
  }

  #slotsOf(units: number): number {
    return Math.floor((units * this.#total) / WHOLE);
  }

  #unitsFor(slots: number): number {
    return this.#total === 0 ? 0 : Math.ceil((slots * WHOLE) / this.#total);
  }

  /** Whether the other one has less than its share, and less than this one: an equal share each, and of a small limit one slot in turn. */
  #isDue(peer: string, has: number): boolean {
    const theirs = this.#slotsOf(has);
    return this.#shards.includes(peer) && theirs < Math.max(1, this.#fair) && theirs < (this.slots ?? 0);
  }

  /** What it keeps when it is asked: units. */
  #kept(peer: string, has: number, { inUse, wanted }: PartUse, isUrgent: boolean, now: number): number {
    const { slots } = this;
    if (slots === null) return inUse > 0 ? this.#units : this.#left ? 0 : Math.ceil(this.#units / 2);
    const used = Math.min(slots, inUse);
    const idle = Math.max(0, slots - inUse - wanted);
    let given = this.#left ? slots - used : isUrgent ? idle : Math.ceil(idle / 2);
    if (this.#isDue(peer, has)) given = Math.max(given, slots - Math.max(used, this.#fair));
    given = Math.max(0, Math.min(given, slots - used - this.#owedBefore(peer, now)));
    // What is less than a slot is of no use here; but two that lack a slot must not exchange it for ever.
    if (given === 0 && inUse + wanted > slots && this.#name < peer) return this.#units;
    return Math.max(this.#unitsFor(slots - given), this.#unitsFor(inUse));
  }

  /** How many slots are owed to those that have asked before that one. */
  #owedBefore(peer: string, now: number): number {
    const { since } = this.#withheld.get(peer) ?? { since: now };
    let owed = 0;
    for (const [other, before] of this.#withheld)
      if (other !== peer && before.since < since && now - before.askedAt <= TURN_MS) owed += before.slots;
    return owed;
  }

  #owe(peer: string, has: number, unmet: number, now: number): void {
    const since = this.#withheld.get(peer)?.since ?? now;
    this.#withheld.delete(peer);
    if (unmet <= 0 || this.slots === null || !this.#isDue(peer, has)) return;
    const short = Math.max(1, this.#fair) - this.#slotsOf(has);
    const slots = Math.min(short, Math.ceil((unmet * this.#total) / WHOLE));
    this.#withheld.set(peer, { slots, since, askedAt: now, until: now + WITHHELD_MS });
  }

  /** Throws what the store throws: then neither count may change. */
  #save(peer: string, given: number, got: number): void {
    this.#store.savePart({ limit: this.#limit, peer, given, got });
  }
}
