import type { PoolLayout } from "../platform/pool-configuration.ts";
import { everyShard, Ownership } from "../shards/layout.ts";
import type { StoredAccount } from "./pool-store.ts";

/** What a shard still holds on accounts that it has let go of, for the one that has them now. */
export interface StillHeld {
  /** Of which layout it knows: from then on it has granted nothing on these accounts. */
  readonly generation: number;
  /** Slots by account; those without any are left out. */
  readonly held: Readonly<Record<string, number>>;
  /** Tokens, cooldowns and tests, if they were asked for. */
  readonly known?: readonly StoredAccount[];
}

/**
 * What a shard must wait for before it grants the slots of accounts that another one may have had. That one knows of the layout first,
 * and grants none of them any more; then it tells what it still holds. From then on these numbers only fall, so that an answer
 * which is late, or comes twice, holds a slot back for longer, and never grants one twice. Plain data: no timers, no network.
 */
export class Handover {
  #ownership: Ownership | null = null;
  #generation = 0;
  /** What the others have said of this layout. */
  readonly #told = new Map<string, ReadonlyMap<string, number>>();
  #others: readonly string[] = [];

  configure(layout: PoolLayout, self: string): void {
    if (layout.generation !== this.#generation) this.#told.clear();
    this.#generation = layout.generation;
    this.isMoving = layout.earlier.length > 0;
    this.#ownership = new Ownership(layout, self);
    const earlier = new Set(layout.earlier.flat());
    this.#others = everyShard(layout).filter((name) => name !== self && earlier.has(name));
  }

  /** Number of the layout; 0: there is one pool. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether accounts may be in use where they were before. */
  isMoving = false;

  /** The shards that have not said yet that they hold nothing more. */
  get open(): string[] {
    return this.#others.filter((name) => this.#told.get(name)?.size !== 0);
  }

  /** The shards of which it is not known yet what they hold: of accounts that they may have had no slot is known to be free. */
  get unheard(): string[] {
    return this.#others.filter((name) => !this.#told.has(name));
  }

  /** Slots of an account that may be in use elsewhere; `Infinity` as long as somebody may still grant them. */
  elsewhere(account: string): number {
    if (this.#ownership === null || this.#others.length === 0) return 0;
    let slots = 0;
    for (const owner of this.#ownership.earlierOwners(account)) {
      const told = this.#told.get(owner);
      if (told === undefined) return Number.POSITIVE_INFINITY;
      slots += told.get(account) ?? 0;
    }
    return slots;
  }

  /** Another shard has answered. False when that is no news: it was about another layout, or says nothing new. */
  told(shard: string, { generation, held }: StillHeld): boolean {
    if (generation !== this.#generation || !this.#others.includes(shard)) return false;
    const before = this.#told.get(shard);
    if (before?.size === 0) return false;
    const now = new Map<string, number>();
    for (const [account, slots] of Object.entries(held)) {
      const least = Math.min(slots, before === undefined ? slots : (before.get(account) ?? 0));
      if (least > 0) now.set(account, least);
    }
    this.#told.set(shard, now);
    return true;
  }

  /** Whether an account, by its identifier, is another shard's: what is still held on it is what that one asks for. */
  isFor(shard: string, account: string): boolean {
    return this.#ownership?.ownerOf(account) === shard;
  }
}
