import { describe, expect, test } from "vitest";
import type { QuotaWindow } from "../../../src/core/ports/accounts.ts";
import { failure } from "../../support/failures.ts";
import { configuration } from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";

const HOUR_MS = 3_600_000;

function rigOf(): PoolSimulator {
  const simulator = new PoolSimulator();
  simulator.pool.configure(configuration(["a", "b"], { perAccount: 10 }));
  for (const target of ["a", "b"]) {
    const { lease } = simulator.grant({ target });
    simulator.pool.succeeded(lease);
    simulator.pool.release(lease);
  }
  return simulator;
}

const exhausted = (simulator: PoolSimulator, more: Partial<QuotaWindow> = {}): QuotaWindow => ({
  name: "5h",
  remaining: 0,
  isExhausted: true,
  resetsAt: simulator.now + 5 * HOUR_MS,
  isOfModel: false,
  ...more,
});

/** The accounts of four requests. */
function accountsOf(simulator: PoolSimulator, model: string): Set<string> {
  return new Set(
    Array.from({ length: 4 }, () => {
      const { account, lease } = simulator.grant({ model });
      simulator.pool.release(lease);
      return account.id;
    }),
  );
}

describe("an account whose quota is used up", () => {
  test("gets no requests until the quota is renewed", () => {
    const simulator = rigOf();
    const { lease } = simulator.grant({ target: "a" });
    simulator.pool.recordQuota(lease, [exhausted(simulator)]);
    simulator.pool.succeeded(lease);
    simulator.pool.release(lease);
    expect(accountsOf(simulator, "m")).toEqual(new Set(["b"]));
    const until = simulator.now + 5 * HOUR_MS;
    expect(simulator.pool.status().cooldowns).toMatchObject([
      { account: "a", kind: "rate_limited", until, reason: expect.stringContaining("5h") },
    ]);
    simulator.advance(5 * HOUR_MS - 1);
    expect(accountsOf(simulator, "m")).toEqual(new Set(["b"]));
    simulator.advance(1);
    expect(accountsOf(simulator, "m")).toEqual(new Set(["a", "b"]));
  });

  test("serves other models if the quota is that of one model", () => {
    const simulator = rigOf();
    const { lease } = simulator.grant({ target: "a", model: "large" });
    simulator.pool.recordQuota(lease, [exhausted(simulator, { isOfModel: true })]);
    simulator.pool.failed(lease, failure("rate_limited"));
    simulator.pool.release(lease);
    expect(accountsOf(simulator, "large")).toEqual(new Set(["b"]));
    expect(accountsOf(simulator, "small")).toEqual(new Set(["a", "b"]));
    simulator.advance(5 * HOUR_MS);
    expect(accountsOf(simulator, "large")).toEqual(new Set(["a", "b"]));
  });

  test("is used if no other account is left for the model", () => {
    const simulator = rigOf();
    for (const target of ["a", "b"]) {
      const { lease } = simulator.grant({ target, model: "large" });
      simulator.pool.recordQuota(lease, [exhausted(simulator, { isOfModel: true })]);
      simulator.pool.release(lease);
    }
    expect(accountsOf(simulator, "large")).toEqual(new Set(["a", "b"]));
  });

  test("is used again as soon as the provider states a remaining quota", () => {
    const simulator = rigOf();
    const { lease } = simulator.grant({ target: "a" });
    simulator.pool.recordQuota(lease, [exhausted(simulator)]);
    simulator.pool.recordQuota(lease, [exhausted(simulator, { isExhausted: false, remaining: 0.9 })]);
    simulator.pool.release(lease);
    expect(accountsOf(simulator, "m")).toEqual(new Set(["a", "b"]));
  });

  test("waits as long as a refusal states, beyond a quarter of an hour", () => {
    const simulator = rigOf();
    const { lease } = simulator.grant({ target: "a" });
    simulator.pool.failed(lease, { ...failure("rate_limited"), retryAfter: 5 * 3_600 });
    simulator.pool.release(lease);
    simulator.advance(5 * HOUR_MS - 1);
    expect(accountsOf(simulator, "m")).toEqual(new Set(["b"]));
  });
});
