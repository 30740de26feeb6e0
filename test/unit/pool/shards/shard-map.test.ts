import { describe, expect, it } from "vitest";
import { type Shard, ShardMap } from "../../../../src/pool/shards/shard-map.ts";
import { ShardOrder } from "../../../../src/pool/shards/shard-order.ts";

const shards = (count: number, regions = ["weur"]): Shard[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `shard-${i}`,
    region: regions[i % regions.length] ?? "",
  }));
const accounts = Array.from({ length: 10_000 }, (_, i) => ({ id: `account-${i}@example.com` }));

describe("the shard of an account", () => {
  it("is the same for every isolate and every order of the shards", () => {
    const here = shards(8);
    const there = here.toReversed();
    const [one, other] = [new ShardMap(here), new ShardMap(there)];
    for (const { id } of accounts.slice(0, 500))
      expect(here[one.of(id)]?.name).toBe(there[other.of(id)]?.name);
  });

  it("distributes the accounts evenly", () => {
    for (const count of [2, 6, 32]) {
      const sizes = new ShardMap(shards(count)).split(accounts).map(({ length }) => length);
      expect(sizes.reduce((all, size) => all + size, 0)).toBe(accounts.length);
      // Six standard deviations of a fair lot.
      const share = accounts.length / count;
      for (const size of sizes) expect(Math.abs(size - share)).toBeLessThan(6 * Math.sqrt(share));
    }
  });

  it("changes for 1/n of the accounts when a shard is added, and only to the new one", () => {
    const before = new ShardMap(shards(7));
    const after = new ShardMap(shards(8));
    const moved = accounts.filter(({ id }) => before.of(id) !== after.of(id));
    expect(new Set(moved.map(({ id }) => after.of(id)))).toEqual(new Set([7]));
    expect(moved.length / accounts.length).toBeGreaterThan(0.1);
    expect(moved.length / accounts.length).toBeLessThan(0.15);
  });

  it("requires distinct shards", () => {
    const [shard] = shards(1);
    expect(() => new ShardMap([])).toThrow(RangeError);
    expect(() => new ShardMap(shard === undefined ? [] : [shard, shard])).toThrow(RangeError);
  });
});

describe("the order in which shards are asked", () => {
  const distances: Record<string, number> = { weur: 10, enam: 90, apac: 320 };
  const distance = (region: string) => distances[region] ?? Number.POSITIVE_INFINITY;
  const six = shards(6, ["apac", "weur", "enam"]);
  const all = [0, 1, 2, 3, 4, 5];
  const regionsOf = (order: readonly number[]) => order.map((index) => six[index]?.region);

  it("is the nearest region first, with its shards in turn", () => {
    const order = new ShardOrder(six, all, distance);
    const first = order.nextOrder(0);
    expect(regionsOf(first)).toEqual(["weur", "weur", "enam", "enam", "apac", "apac"]);
    expect(first[0]).not.toBe(order.nextOrder(0)[0]);
    expect(order.nextOrder(0)).toEqual(first);
  });

  it("leaves out shards that have no account", () => {
    expect(new ShardOrder(six, [0, 2], distance).nextOrder(0)).toEqual([2, 0]);
  });

  it("asks who had nothing free after the others, for a moment", () => {
    const order = new ShardOrder(six, all, distance);
    order.avoid(1, 1_000);
    order.avoid(4, 1_000, 5_000);
    expect(regionsOf(order.nextOrder(1_100)).slice(0, 2)).toEqual(["enam", "enam"]);
    expect(order.nextOrder(1_100)).toHaveLength(6);
    expect(order.nextOrder(2_000)[0]).toBe(1);
    expect(regionsOf(order.nextOrder(7_000)).slice(0, 2)).toEqual(["weur", "weur"]);
  });
});
