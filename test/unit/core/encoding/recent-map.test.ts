import { expect, it } from "vitest";
import { RecentMap } from "../../../../src/core/encoding/recent-map.ts";

it("evicts the entry that was set longest ago when it is full", () => {
  const map = new RecentMap<number>(2);
  map.set("a", 1, 0);
  map.set("b", 2, 0);
  map.set("a", 3, 0);
  map.set("c", 4, 0);
  expect(["a", "b", "c"].map((key) => map.get(key, 0))).toEqual([3, undefined, 4]);
});

it("keeps an entry for its lifetime after it was set last", () => {
  const map = new RecentMap<number>(2, 100);
  map.set("a", 1, 0);
  map.set("a", 2, 50);
  expect([map.get("a", 149), map.get("a", 150)]).toEqual([2, undefined]);
});
