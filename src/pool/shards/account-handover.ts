import type { PoolLayout } from "../../core/ports/pool-configuration.ts";
import type { StoredAccount } from "../storage/pool-store.ts";
import { AccountOwnership, listAllShards } from "./layout.ts";

/** Slots that a shard still occupies on accounts that it no longer owns. The shard sends this to the new owner. */
export interface OccupiedSlots {
  /** The layout that the sender applies: from this layout on it grants no slots of these accounts. */
  readonly generation: number;
  /** Occupied slots by account; accounts without any are left out. */
  readonly held: Readonly<Record<string, number>>;
  /** Tokens, cooldowns and test results, if they were requested. */
  readonly known?: readonly StoredAccount[];
}

/**
 * Tracks which slots of this shard's accounts may still be occupied at earlier owners. An earlier owner first applies the
 * layout and stops granting slots of these accounts; then it reports the slots that it still occupies. After that the
 * reported numbers only fall. A late or repeated answer therefore holds a slot back for longer, but never lets a slot be
 * granted twice. Plain data: no timers, no network.
 */
export class Handover {
  #ownership: AccountOwnership | null = null;
  #generation = 0;
  /** The other shards' answers about this layout. */
  readonly #answers = new Map<string, ReadonlyMap<string, number>>();
  #others: readonly string[] = [];

  configure(layout: PoolLayout, self: string): void {
    if (layout.generation !== this.#generation) this.#answers.clear();
    this.#generation = layout.generation;
    this.isMoving = layout.earlier.length > 0;
    this.#ownership = new AccountOwnership(layout, self);
    const earlier = new Set(layout.earlier.flat());
    this.#others = listAllShards(layout).filter((name) => name !== self && earlier.has(name));
  }

  /** Number of the layout; 0: there is one pool. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether accounts may still be in use at their earlier shards. */
  isMoving = false;

  /** The shards that have not yet reported that they occupy no slots. */
  get pendingShards(): string[] {
    return this.#others.filter((name) => this.#answers.get(name)?.size !== 0);
  }

  /** The shards that have not answered yet. No slot of an account that they may have owned is known to be free. */
  get unansweredShards(): string[] {
    return this.#others.filter((name) => !this.#answers.has(name));
  }

  /** Slots of an account that may be occupied at other shards; `Infinity` while an earlier owner may still grant them. */
  slotsElsewhere(account: string): number {
    if (this.#ownership === null || this.#others.length === 0) return 0;
    let slots = 0;
    for (const owner of this.#ownership.earlierOwners(account)) {
      const occupied = this.#answers.get(owner);
      if (occupied === undefined) return Number.POSITIVE_INFINITY;
      slots += occupied.get(account) ?? 0;
    }
    return slots;
  }

  /** Records the answer of another shard. Returns false when it is about another layout or contains nothing new. */
  recordAnswer(shard: string, { generation, held }: OccupiedSlots): boolean {
    if (generation !== this.#generation || !this.#others.includes(shard)) return false;
    const previous = this.#answers.get(shard);
    if (previous?.size === 0) return false;
    const current = new Map<string, number>();
    for (const [account, slots] of Object.entries(held)) {
      const count = Math.min(slots, previous === undefined ? slots : (previous.get(account) ?? 0));
      if (count > 0) current.set(account, count);
    }
    this.#answers.set(shard, current);
    return true;
  }

  /** Whether `shard` owns the account (by its identifier) in the current layout. */
  isOwnedBy(shard: string, account: string): boolean {
    return this.#ownership?.ownerOf(account) === shard;
  }
}
