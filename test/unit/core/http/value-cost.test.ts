import { expect, it } from "vitest";
import { costOfText, costOfValue } from "../../../../src/core/http/value-cost.ts";

it("counts two bytes for each character of a text with a wide one", () => {
  expect(costOfText("é".repeat(1000))).toBe(1000);
  expect(costOfText(`${"e".repeat(999)}…`)).toBe(2000);
});

it("counts texts and containers of a value, and shared ones once", () => {
  const image = { type: "image", data: "A".repeat(10_000) };
  const once = costOfValue([image]);
  expect(once).toBeGreaterThan(10_000);
  expect(once).toBeLessThan(11_000);
  expect(costOfValue([image, image]) - once).toBeLessThan(100);
  expect(costOfValue([image], 2) - once).toBeGreaterThan(9_999);
  expect(costOfValue(Array.from({ length: 1000 }, () => ({})))).toBeGreaterThan(192_000);
});
