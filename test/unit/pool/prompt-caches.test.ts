import { expect, it } from "vitest";
import { simulateCaches } from "../../../bench/simulation/caches.ts";

it("coding conversations over eight accounts cost within 3 % of one account without a limit", () => {
  const alone = simulateCaches("affinity", 1, 1_000);
  const { cost, hitRate } = simulateCaches("affinity", 8, 2);
  expect(cost / alone.cost).toBeLessThan(1.03);
  expect(hitRate).toBeGreaterThan(0.9);
  // The traffic can tell strategies apart.
  expect(simulateCaches("round_robin", 8, 2).cost / alone.cost).toBeGreaterThan(2);
});
