/** A pool object that counts the slots of a part of the accounts. */
export interface Shard {
  /** Names it for good: where an account belongs follows from the names. */
  readonly name: string;
  /** Where it runs. */
  readonly region: string;
}

/** 32 bits of FNV-1a. */
function digest(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Spreads 32 bits: the end of MurmurHash3. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * Which shard has which account: rendezvous hashing, so that one shard more takes over 1/n of the accounts, from all others alike,
 * and no other account moves.
 */
export class ShardMap {
  readonly shards: readonly Shard[];
  readonly #seeds: readonly number[];

  /** Throws a `RangeError` without shards, or with two of one name. */
  constructor(shards: readonly Shard[]) {
    if (shards.length === 0) throw new RangeError("there is no shard");
    if (new Set(shards.map(({ name }) => name)).size < shards.length)
      throw new RangeError("two shards have the same name");
    this.shards = shards;
    this.#seeds = shards.map(({ name }) => mix(digest(name)));
  }

  /** Index of the shard that an account lives in. */
  of(account: string): number {
    const hash = digest(account);
    let best = 0;
    let most = -1;
    for (const [index, seed] of this.#seeds.entries()) {
      const weight = mix(hash ^ seed);
      if (weight > most) {
        most = weight;
        best = index;
      }
    }
    return best;
  }

  /** The accounts of each shard, in their order. */
  split<T extends { readonly id: string }>(accounts: readonly T[]): T[][] {
    const parts = this.shards.map((): T[] => []);
    for (const account of accounts) parts[this.of(account.id)]?.push(account);
    return parts;
  }
}

/**
 * Parts of a limit in proportion to `weights`, whole numbers whose sum is exactly `total`. A part may be 0: the shard must not be
 * asked then, for a limit of 0 means "as many as there are slots" to a pool. What is set to that (`total` 0) stays so for each.
 */
export function partsOf(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (total === 0 || sum === 0) return weights.map(() => 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const parts = exact.map(Math.floor);
  const left = total - parts.reduce((all, part) => all + part, 0);
  const byRest = exact
    .map((value, index) => ({ index, rest: value - Math.floor(value) }))
    .sort((one, other) => other.rest - one.rest || one.index - other.index);
  for (const { index } of byRest.slice(0, left)) parts[index] = (parts[index] ?? 0) + 1;
  return parts;
}
