import { describe, expect, test } from "vitest";
import { Waiter } from "../../../src/pool/queue/waiter.ts";
import { account, LIMITS, request } from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";

const FREE = { provider: "free" };

/** A limited account of the default provider, and accounts without a limit. */
function simulatorWith(ids: readonly string[], limits: Partial<typeof LIMITS> = {}): PoolSimulator {
  const simulator = new PoolSimulator();
  const accounts = [account("limited"), ...ids.map((id) => account(id, { ...FREE, token: "t" }))];
  simulator.pool.configure({ accounts, perAccount: { free: 0 }, limits: { ...LIMITS, ...limits } });
  return simulator;
}

/** Ends the time in which accounts that have never worked get only a few requests. */
function prove(simulator: PoolSimulator, ids: readonly string[]): void {
  for (const id of ids) simulator.pool.succeeded(simulator.grant({ ...FREE, target: id }).lease);
}

describe("accounts without a limit", () => {
  test("get any number of requests at once, and other accounts keep their limit", () => {
    const simulator = simulatorWith(["a", "b"]);
    prove(simulator, ["a", "b"]);
    for (let n = 0; n < 500; n += 1) simulator.grant(FREE);
    simulator.grant();
    simulator.queue();
    expect(simulator.pool.status(0)).toMatchObject({ in_use: 503, waiting: 1, available: 2 });
  });

  test("are not part of the recommended concurrency, so that all numbers of the status are finite", () => {
    const { recommended_concurrency, global_max_inflight, max_queue_size } = simulatorWith([
      "a",
    ]).pool.status();
    expect({ recommended_concurrency, global_max_inflight, max_queue_size }).toEqual({
      recommended_concurrency: 1,
      global_max_inflight: 1,
      max_queue_size: 1,
    });
  });

  test("count for a global limit that is set, and wait for it", () => {
    const simulator = simulatorWith(["a", "b"], { global: 3 });
    const first = simulator.grant(FREE);
    simulator.grant(FREE);
    simulator.grant();
    const waiting = simulator.queue(FREE);
    simulator.pool.release(first.lease);
    expect(waiting.outcome).toMatchObject({ granted: { account: { provider: "free" } } });
  });

  test("get few requests until they have worked; the others wait instead of failing", () => {
    const simulator = simulatorWith(["a", "b"]);
    const granted = Array.from({ length: 6 }, () => simulator.grant(FREE));
    const waiting = simulator.pool.acquire(request(FREE));
    expect(waiting).toBeInstanceOf(Waiter);
    simulator.pool.succeeded(granted[0]?.lease ?? "");
    expect(waiting).toMatchObject({ outcome: { granted: { account: { id: granted[0]?.account.id } } } });
  });

  test("are named in the status, so that they do not appear full", () => {
    const simulator = simulatorWith(["a"]);
    simulator.grant(FREE);
    expect(simulator.pool.status()).toMatchObject({ max_inflight_per_account: 1, account_slots: { a: 0 } });
    const accounts = [account("limited"), account("a", { ...FREE, token: "t" })];
    simulator.pool.configure({ accounts, perAccount: { free: 3 }, limits: LIMITS });
    expect(simulator.pool.status().account_slots).toEqual({ a: 3 });
    simulator.pool.configure({ accounts, perAccount: {}, limits: LIMITS });
    expect(simulator.pool.status().account_slots).toBeUndefined();
  });

  test("keep their running requests when they get a limit, and lose it at once", () => {
    const simulator = simulatorWith(["a"]);
    prove(simulator, ["a"]);
    const leases = Array.from({ length: 4 }, () => simulator.grant(FREE).lease);
    const accounts = [account("a", { ...FREE, token: "t" })];
    simulator.pool.configure({ accounts, perAccount: { free: 2 }, limits: LIMITS });
    const waiting = simulator.queue(FREE);
    expect(leases.every((lease) => simulator.pool.renew(lease))).toBe(true);
    simulator.pool.configure({ accounts, perAccount: { free: 0 }, limits: LIMITS });
    expect(waiting.outcome).toMatchObject({ granted: { account: { id: "a" } } });
  });
});
