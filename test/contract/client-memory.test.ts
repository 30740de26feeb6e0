import { describe, expect, it } from "vitest";
import { MEMORY_USES } from "../support/client-memory.ts";
import { useGateway } from "../support/use-gateway.ts";

const MIB = 1024 * 1024;

/** The share of the budget for callers without a key: a quarter. */
const STRANGERS_BYTES = 8 * MIB;

/** How much memory the program itself may add meanwhile: compiled code, tables, pages of the heap. */
const OWN_BYTES = 12 * MIB;

const api = useGateway({ inspected: true, vars: { BODY_BUDGET_BYTES: String(4 * STRANGERS_BYTES) } });

// `npm run memory` is the long form, with the budgets of a deployment.
describe("memory for callers without a key", () => {
  it.each(MEMORY_USES)("is bounded: $name", { timeout: 120_000 }, async ({ take }) => {
    // Each kind uses code that others did not need.
    const first = await take(api.gateway, { clients: 1, bytes: MIB / 4 });
    await first.end();
    const before = await api.gateway.heap();
    const held = await take(api.gateway, { clients: 8, bytes: 3 * MIB });
    try {
      const during = await api.gateway.heap();
      expect(during - before).toBeLessThan(STRANGERS_BYTES + OWN_BYTES);
      expect(held.statuses).not.toContain(500);
      expect((await api.gateway.fetch("/healthz")).status).toBe(200);
    } finally {
      await held.end();
    }
    await expect
      .poll(async () => (await api.gateway.heap()) - before, { timeout: 60_000 })
      .toBeLessThan(OWN_BYTES);
  });
});
