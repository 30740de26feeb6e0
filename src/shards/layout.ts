import type { PoolAccount, PoolConfiguration, PoolLayout } from "../platform/pool-configuration.ts";
import { POOL_NAME } from "./pool-name.ts";
import { ShardMap } from "./shards.ts";

/** What the pool objects are called: the first as the one pool is, so that going from one to several moves only what must. */
export function shardNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? POOL_NAME : `shard-${index}`));
}

/** The shards as a map of accounts. */
export function mapOf(names: readonly string[]): ShardMap {
  return new ShardMap(names.map((name) => ({ name, region: "" })));
}

/** The layout for so many shards, after another one. Null: there is one pool, and there has never been another. */
export function layoutFor(count: number, before: PoolLayout | null): PoolLayout | null {
  const shards = shardNames(count);
  if (before === null) {
    // There may have been one pool, of which nobody has written down that there was.
    return count === 1 ? null : { generation: 1, shards, earlier: [[POOL_NAME]], former: [] };
  }
  if (before.shards.length === count) return before;
  // As many shards have the same accounts whenever there are so many.
  const earlier = [...before.earlier, before.shards].filter(({ length }) => length !== count);
  const former = new Set([...before.former, ...before.shards]);
  for (const name of shards) former.delete(name);
  return { generation: before.generation + 1, shards, earlier, former: [...former] };
}

/** The layout once nothing is held any more on accounts that have moved. */
export function settledLayout(layout: PoolLayout): PoolLayout {
  return { ...layout, earlier: [] };
}

/** Every shard that has, or may have, something of a layout. */
export function everyShard({ shards, earlier, former }: PoolLayout): string[] {
  return [...new Set([...shards, ...earlier.flat(), ...former])];
}

/** Who has which account by a layout, as one of its shards sees it. */
export class Ownership {
  readonly #self: string;
  readonly #map: ShardMap;
  readonly #earlier: readonly ShardMap[];

  constructor(layout: PoolLayout, self: string) {
    this.#self = self;
    this.#map = mapOf(layout.shards);
    this.#earlier = layout.earlier.map(mapOf);
  }

  /** Name of the shard that an account lives in. */
  ownerOf(account: string): string {
    return ownerIn(this.#map, account);
  }

  /** The other shards that it may have lived in. */
  earlierOwners(account: string): string[] {
    const names = new Set(this.#earlier.map((map) => ownerIn(map, account)));
    names.delete(this.#self);
    return [...names];
  }

  /** Whether this shard may have had the account, and has it no more. */
  isDrained(account: string): boolean {
    if (this.ownerOf(account) === this.#self) return false;
    return this.#earlier.some((map) => ownerIn(map, account) === this.#self);
  }
}

const ownerIn = (map: ShardMap, account: string): string => map.shards[map.of(account)]?.name ?? "";

/**
 * What one shard needs of the pool's configuration: its own accounts, and those that it had and lets go of.
 *
 * @param order numbers what the shards are told: what comes later and is lower is from before
 */
export function partFor(
  whole: PoolConfiguration,
  layout: PoolLayout,
  name: string,
  order: number,
): PoolConfiguration {
  const ownership = new Ownership(layout, name);
  const accounts = whole.accounts.flatMap((account, rank): PoolAccount[] => {
    if (ownership.ownerOf(account.id) === name) return [{ ...account, rank }];
    return ownership.isDrained(account.id) ? [{ ...account, rank, moved: true }] : [];
  });
  return { ...whole, accounts, shard: { name, order, layout } };
}
