import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeeperThan } from "../../../src/http/json-depth.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("the depth of JSON", () => {
  it("is what it is, whatever strings hold", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(7), (value, limit) => {
        expect(isDeeperThan(JSON.stringify(value), limit)).toBe(depthOf(value) > limit);
      }),
    );
    const brackets = fc.array(fc.string({ unit: fc.constantFrom("[", "]", "{", '"', "\\"), maxLength: 12 }));
    fc.assert(
      fc.property(brackets, (texts) => {
        expect(isDeeperThan(JSON.stringify(texts), 1)).toBe(false);
        expect(isDeeperThan(JSON.stringify(texts), 0)).toBe(true);
      }),
    );
  });

  it("is found in a million levels", () => {
    expect(isDeeperThan("[".repeat(1e6) + "]".repeat(1e6), 512)).toBe(true);
  });
});
