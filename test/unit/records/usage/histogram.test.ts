import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  computePercentiles,
  findBucket,
  getBucketMiddle,
  mergeBuckets,
} from "../../../../src/records/usage/histogram.ts";
import "../../../support/properties.ts";

const distribution = (times: readonly number[]) => {
  const buckets: Record<string, number> = {};
  for (const time of times) buckets[findBucket(time)] = (buckets[findBucket(time)] ?? 0) + 1;
  return buckets;
};

const times = fc.array(fc.integer({ min: 0, max: 90_000_000 }), { minLength: 1, maxLength: 200 });

describe("distributions of times", () => {
  it("contain each time within 5 %", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000_000 }), (time) => {
        expect(Math.abs(getBucketMiddle(findBucket(time)) - time)).toBeLessThanOrEqual(time * 0.05);
      }),
    );
  });

  it("have percentiles within 5 % and half a millisecond", () => {
    fc.assert(
      fc.property(times, (list) => {
        const sorted = list.toSorted((one, other) => one - other);
        const exact = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
        const told = computePercentiles(distribution(list));
        for (const [share, value] of [
          [0.5, told?.p50],
          [0.95, told?.p95],
          [0.99, told?.p99],
        ] as const) {
          expect(Math.abs((value ?? -1) - exact(share))).toBeLessThanOrEqual(exact(share) * 0.05 + 0.5);
        }
      }),
    );
  });

  it("can be added in any order, and equal the distribution of all times", () => {
    fc.assert(
      fc.property(times, times, (one, other) => {
        const all = distribution([...one, ...other]);
        expect(mergeBuckets(distribution(one), distribution(other))).toEqual(all);
        expect(mergeBuckets(distribution(other), distribution(one))).toEqual(all);
      }),
    );
  });

  it("have no percentiles without times", () => {
    expect(computePercentiles({})).toBeNull();
  });

  it("accept invalid and infinite times", () => {
    for (const time of [-5, Number.NaN, 0]) expect(findBucket(time)).toBe(0);
    expect(findBucket(Number.POSITIVE_INFINITY)).toBe(findBucket(1e12));
  });
});
