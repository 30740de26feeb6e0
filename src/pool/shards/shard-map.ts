import { hashText, mixBits } from "../../core/encoding/text-hash.ts";

/** A pool object that manages the slots of a part of the accounts. */
export interface Shard {
  /** Permanent name: the assignment of accounts to shards is computed from the names. */
  readonly name: string;
  /** The region where it runs. */
  readonly region: string;
}

/**
 * Assigns accounts to shards by rendezvous hashing. An added shard takes 1/n of the accounts, evenly from all others, and
 * no other account moves.
 */
export class ShardMap {
  readonly shards: readonly Shard[];
  readonly #seeds: readonly number[];

  /** Throws a `RangeError` if there are no shards, or two with the same name. */
  constructor(shards: readonly Shard[]) {
    if (shards.length === 0) throw new RangeError("there is no shard");
    if (new Set(shards.map(({ name }) => name)).size < shards.length)
      throw new RangeError("two shards have the same name");
    this.shards = shards;
    this.#seeds = shards.map(({ name }) => mixBits(hashText(name)));
  }

  /** Index of the shard that owns an account. */
  of(account: string): number {
    const hash = hashText(account);
    let bestIndex = 0;
    let highestWeight = -1;
    for (const [index, seed] of this.#seeds.entries()) {
      const weight = mixBits(hash ^ seed);
      if (weight > highestWeight) {
        highestWeight = weight;
        bestIndex = index;
      }
    }
    return bestIndex;
  }

  /** Splits the accounts by shard, keeping their order. */
  split<T extends { readonly id: string }>(accounts: readonly T[]): T[][] {
    const accountsByShard = this.shards.map((): T[] => []);
    for (const account of accounts) accountsByShard[this.of(account.id)]?.push(account);
    return accountsByShard;
  }
}
