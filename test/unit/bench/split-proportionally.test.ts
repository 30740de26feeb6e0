import { describe, expect, it } from "vitest";
import { splitProportionally } from "../../../bench/simulation/split-proportionally.ts";

describe("the proportional parts of a number", () => {
  it("add up to it exactly, whatever the weights", () => {
    for (const [total, weights] of [
      [10, [1, 1, 1]],
      [7, [5, 0, 3, 3]],
      [2, [1, 1, 1, 1]],
      [20_000, [3_071, 3_190, 3_142]],
    ] as const) {
      const parts = splitProportionally(total, weights);
      expect(parts.reduce((all, part) => all + part, 0)).toBe(total);
      for (const [index, part] of parts.entries()) {
        const exact = (total * (weights[index] ?? 0)) / weights.reduce<number>((all, one) => all + one, 0);
        expect(Math.abs(part - exact)).toBeLessThan(1);
      }
    }
  });

  it("are all 0 for 0", () => {
    expect(splitProportionally(0, [4, 6])).toEqual([0, 0]);
  });
});
