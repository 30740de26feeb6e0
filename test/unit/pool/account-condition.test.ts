import { expect, it } from "vitest";
import { account, LIMITS, Rig } from "./rig.ts";

it("tells how many accounts are how, and of thousands no more than a screen shows", async () => {
  const ids = Array.from(
    { length: 5_000 },
    (_, index) => `account-${String(index).padStart(4, "0")}@example.test`,
  );
  const rig = new Rig();
  rig.pool.configure({
    accounts: ids.map((id, index) => account(id, { disabled: index < 10 })),
    limits: LIMITS,
  });
  for (const id of ids.slice(0, 30)) rig.pool.setTestStatus(id, "ok");
  for (const id of ids.slice(30)) rig.pool.setTestStatus(id, `it failed: ${"x".repeat(400)}`);
  const status = rig.pool.status(16);
  expect(status.conditions).toEqual({ ok: 20, untested: 0, failing: 4_970, cooling: 0, disabled: 10 });
  expect(status.failing).toHaveLength(16);
  expect(JSON.stringify(status).length).toBeLessThan(20_000);
});
