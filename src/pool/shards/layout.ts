import type { PoolAccount, PoolConfiguration, PoolLayout } from "../../core/ports/pool-configuration.ts";
import { POOL_NAME } from "./pool-name.ts";
import { ShardMap } from "./shard-map.ts";
import { buildSharedLimits } from "./shared-limit-accounts.ts";

/**
 * Names of the pool objects. The first keeps the name of the single pool, so that a change from one to several pools moves
 * as few accounts as possible.
 */
export function shardNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? POOL_NAME : `shard-${index}`));
}

/** Creates the map from accounts to these shards. */
function createShardMap(names: readonly string[]): ShardMap {
  return new ShardMap(names.map((name) => ({ name, region: "" })));
}

/** Computes the layout for `count` shards that follows `previous`. Null: there is one pool, and there never was another. */
export function nextLayout(count: number, previous: PoolLayout | null): PoolLayout | null {
  const shards = shardNames(count);
  if (previous === null) {
    // There may have been a single pool that was never recorded as a layout.
    return count === 1 ? null : { generation: 1, shards, earlier: [[POOL_NAME]], former: [] };
  }
  if (previous.shards.length === count) return previous;
  // Layouts with the same number of shards assign the accounts in the same way.
  const earlier = [...previous.earlier, previous.shards].filter(({ length }) => length !== count);
  const former = new Set([...previous.former, ...previous.shards]);
  for (const name of shards) former.delete(name);
  return { generation: previous.generation + 1, shards, earlier, former: [...former] };
}

/** The layout after the migration, when no slots of moved accounts are occupied elsewhere. */
export function settledLayout(layout: PoolLayout): PoolLayout {
  return { ...layout, earlier: [] };
}

/** Lists every shard that owns, or may still hold, anything in a layout. */
export function listAllShards({ shards, earlier, former }: PoolLayout): string[] {
  return [...new Set([...shards, ...earlier.flat(), ...former])];
}

/** Which shard owns which account in a layout, from the point of view of one shard. */
export class AccountOwnership {
  readonly #self: string;
  readonly #map: ShardMap;
  readonly #earlier: readonly ShardMap[];

  constructor(layout: PoolLayout, self: string) {
    this.#self = self;
    this.#map = createShardMap(layout.shards);
    this.#earlier = layout.earlier.map(createShardMap);
  }

  /** Name of the shard that owns an account. */
  ownerOf(account: string): string {
    return findOwner(this.#map, account);
  }

  /** The other shards that may have owned the account. */
  earlierOwners(account: string): string[] {
    const names = new Set(this.#earlier.map((map) => findOwner(map, account)));
    names.delete(this.#self);
    return [...names];
  }

  /** Whether this shard may have owned the account but does not own it any more. */
  hasMovedAway(account: string): boolean {
    if (this.ownerOf(account) === this.#self) return false;
    return this.#earlier.some((map) => findOwner(map, account) === this.#self);
  }
}

const findOwner = (map: ShardMap, account: string): string => map.shards[map.of(account)]?.name ?? "";

/**
 * Builds one shard's part of the pool configuration: its own accounts, and those that it owned and must release. The first
 * shard also gets the limits of all shards together.
 *
 * @param order sequence number of the message: a shard ignores a message with a lower number as outdated
 */
export function buildShardConfiguration(
  configuration: PoolConfiguration,
  layout: PoolLayout,
  name: string,
  order: number,
): PoolConfiguration {
  const ownership = new AccountOwnership(layout, name);
  const accounts = configuration.accounts.flatMap((account, rank): PoolAccount[] => {
    if (ownership.ownerOf(account.id) === name) return [{ ...account, rank }];
    return ownership.hasMovedAway(account.id) ? [{ ...account, rank, moved: true }] : [];
  });
  const shard = { name, order, layout };
  if (name !== layout.shards[0] || layout.shards.length === 1) return { ...configuration, accounts, shard };
  const shared = buildSharedLimits(configuration);
  return {
    ...configuration,
    accounts: [...accounts, ...shared.accounts],
    perAccount: shared.perAccount,
    shard,
  };
}
