import { describe, expect, it } from "vitest";
import { runInParallel } from "../../../src/core/run-in-parallel.ts";

describe("parallel work on a list", () => {
  it("handles each item once, and at most five at the same time", async () => {
    const seen: number[] = [];
    let now = 0;
    let most = 0;
    await runInParallel(Array.from({ length: 23 }, (_, index) => index).values(), 5, async (item) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, item % 3));
      seen.push(item);
      now -= 1;
    });
    expect(seen.sort((one, other) => one - other)).toEqual(Array.from({ length: 23 }, (_, index) => index));
    expect(most).toBe(5);
  });

  it("does nothing for an empty list, and fails if one item fails", async () => {
    await runInParallel([], 5, () => Promise.reject(new Error("never called")));
    await expect(runInParallel([1], 5, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  });
});
