import { describe, expect, it } from "vitest";
import type { PoolLayout } from "../../../../src/core/ports/pool-configuration.ts";
import {
  AccountOwnership,
  buildShardConfiguration,
  listAllShards,
  nextLayout,
  settledLayout,
  shardNames,
} from "../../../../src/pool/shards/layout.ts";
import { POOL_NAME } from "../../../../src/pool/shards/pool-name.ts";
import { configuration } from "../../../support/pool-simulator/fixtures.ts";

const ids = Array.from({ length: 400 }, (_, n) => `account-${n}@example.com`);

function layouts(...counts: number[]): PoolLayout {
  let layout: PoolLayout | null = null;
  for (const count of counts) layout = nextLayout(count, layout);
  if (layout === null) throw new Error("there is one pool");
  return layout;
}

describe("the layout of several pools", () => {
  it("does not exist with one pool", () => {
    expect(nextLayout(1, null)).toBeNull();
  });

  it("continues with the existing pool", () => {
    expect(layouts(3)).toEqual({
      generation: 1,
      shards: [POOL_NAME, "shard-1", "shard-2"],
      earlier: [[POOL_NAME]],
      former: [],
    });
    expect(nextLayout(3, layouts(3))).toEqual(layouts(3));
  });

  it("remembers where accounts may be until they have left", () => {
    const small = layouts(4, 2);
    expect(small).toEqual({
      generation: 2,
      shards: shardNames(2),
      earlier: [[POOL_NAME], shardNames(4)],
      former: ["shard-2", "shard-3"],
    });
    expect(listAllShards(small).sort()).toEqual(shardNames(4).sort());
    expect(settledLayout(small)).toEqual({ ...small, earlier: [] });
    // Back before all was settled: what the same layout had before is where it is now.
    expect(layouts(4, 2, 4)).toMatchObject({
      generation: 3,
      earlier: [[POOL_NAME], shardNames(2)],
      former: [],
    });
    expect(nextLayout(1, settledLayout(small))).toMatchObject({
      shards: [POOL_NAME],
      earlier: [shardNames(2)],
      former: ["shard-2", "shard-3", "shard-1"],
    });
  });

  it("assigns every account to one pool, and leaves busy ones in their old pool", () => {
    const layout = layouts(4, 3);
    const whole = configuration(ids);
    const parts = listAllShards(layout).map((name) => ({
      name,
      part: buildShardConfiguration(whole, layout, name, 7),
    }));
    const own = parts.flatMap(({ part }) => part.accounts.filter(({ moved }) => moved !== true));
    expect(own.map(({ id }) => id).sort()).toEqual([...ids].sort());
    for (const { name, part } of parts) {
      expect(part.shard).toEqual({ name, order: 7, layout });
      const ownership = new AccountOwnership(layout, name);
      for (const { id, moved, rank } of part.accounts) {
        expect(ids[rank ?? -1]).toBe(id);
        const owner = ownership.ownerOf(id);
        expect(moved === true).toBe(owner !== name);
        // The one that has it now knows whom to ask.
        if (moved === true) expect(new AccountOwnership(layout, owner).earlierOwners(id)).toContain(name);
      }
    }
    // All of them were the one pool's.
    expect(parts.find(({ name }) => name === POOL_NAME)?.part.accounts).toHaveLength(ids.length);
  });
});
