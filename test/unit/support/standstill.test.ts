import { expect, it } from "vitest";
import { Standstill } from "../../campaigns/standstill.ts";

it("is counted although nothing of it has been told of yet", async () => {
  const from = performance.now();
  const standstill = await Standstill.watch();
  const until = performance.now() + 300;
  while (performance.now() < until);
  expect(standstill.since(from)).toBeGreaterThan(200);
  const later = performance.now();
  const stood = standstill.since(later);
  expect(stood).toBeLessThanOrEqual(performance.now() - later);
  await standstill.end();
});
