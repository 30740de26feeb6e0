import { afterAll, beforeAll, expect, it } from "vitest";
import { DenoGateway } from "../support/deno.ts";
import { MEMORY_ATTACKS, MOST_MEMORY } from "../support/memory-attacks.ts";

let gateway: DenoGateway;
beforeAll(async () => {
  gateway = await DenoGateway.start();
});
afterAll(() => gateway.close());

// How soon a process answers afterwards is for a quiet machine: `npm run memory`.
it.each(MEMORY_ATTACKS)("survives $name", { timeout: 60_000 }, async ({ run, own }) => {
  // V8 collects the garbage of earlier attacks late, and a key needs memory of its own: so its attack is measured alone.
  if (own > 0) await gateway.restart();
  for (const { status, allowed } of await run(gateway)) expect(allowed).toContain(status);
  expect((await gateway.fetch("/healthz")).status).toBe(200);
  expect(await gateway.peakMemory()).toBeLessThan(MOST_MEMORY + own);
});
