import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonScan } from "../../../../src/core/http/json-scan.ts";

const encoder = new TextEncoder();

/** Scans a text that comes in pieces, cut at these places. */
function scanned(json: string, maxDepth: number, cuts: readonly number[] = []): JsonScan {
  const scan = new JsonScan(maxDepth);
  const bytes = encoder.encode(json);
  let start = 0;
  for (const end of [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]) {
    scan.push(bytes.subarray(start, end));
    start = end;
  }
  return scan;
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** What a value costs as the scan states it: by its arrays and objects, members and further values. */
function costOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value);
  const members = Array.isArray(value) ? 0 : inner.length;
  const own = 192 + 96 * members + 16 * Math.max(0, inner.length - 1);
  return inner.reduce<number>((sum, next) => sum + costOf(next), own);
}

const texts = fc.string({
  unit: fc.constantFrom("[", "]", "{", '"', "\\", ",", ":", "a", "ü"),
  maxLength: 60,
});
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    texts,
    fc.integer(),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(texts, tie("value"), { maxKeys: 4 }),
  ),
})).value;

describe("the scan over JSON", () => {
  it("finds depth and cost for any strings and any split of the bytes", () => {
    fc.assert(
      fc.property(values, fc.nat(7), fc.array(fc.nat(400), { maxLength: 8 }), (value, limit, cuts) => {
        const scan = scanned(JSON.stringify(value, null, limit % 3), limit, cuts);
        expect(scan.tooDeep).toBe(depthOf(value) > limit);
        expect(scan.cost).toBe(costOf(value));
      }),
    );
  });

  it("finds a depth of a million levels", () => {
    expect(scanned("[".repeat(1e6) + "]".repeat(1e6), 512).tooDeep).toBe(true);
  });

  it("states at least the memory of the most expensive parsed values", () => {
    // Bytes of memory, measured: docs/performance.md.
    const measured: readonly [string, number][] = [
      ["{},", 64],
      ["[[[[]]]],", 199],
      ['{"k1":1},', 170],
      ['{"17":1},', 195],
      ['{"k1":1,"j1":2},', 296],
      ['{"k1":{"k1":{}}},', 399],
      ["[0.5],", 67],
    ];
    for (const [json, bytes] of measured) {
      expect(scanned(json, 512).cost + 2 * json.length).toBeGreaterThanOrEqual(bytes);
    }
  });
});
