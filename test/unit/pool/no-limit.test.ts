import { describe, expect, test } from "vitest";
import { Waiter } from "../../../src/pool/waiter.ts";
import { account, LIMITS, Rig, request } from "./rig.ts";

const FREE = { provider: "free" };

/** A limited account of the default provider, and accounts without a limit. */
function rigWith(ids: readonly string[], limits: Partial<typeof LIMITS> = {}): Rig {
  const rig = new Rig();
  const accounts = [account("limited"), ...ids.map((id) => account(id, { ...FREE, token: "t" }))];
  rig.pool.configure({ accounts, perAccount: { free: 0 }, limits: { ...LIMITS, ...limits } });
  return rig;
}

/** Ends the time in which accounts that have never worked get only a few requests. */
function prove(rig: Rig, ids: readonly string[]): void {
  for (const id of ids) rig.pool.succeeded(rig.grant({ ...FREE, target: id }).lease);
}

describe("accounts without a limit", () => {
  test("get any number of requests at once, and other accounts keep their limit", () => {
    const rig = rigWith(["a", "b"]);
    prove(rig, ["a", "b"]);
    for (let n = 0; n < 500; n += 1) rig.grant(FREE);
    rig.grant();
    rig.queue();
    expect(rig.pool.status(0)).toMatchObject({ in_use: 503, waiting: 1, available: 2 });
  });

  test("are not part of the recommended concurrency, so that all numbers of the status are finite", () => {
    const { recommended_concurrency, global_max_inflight, max_queue_size } = rigWith(["a"]).pool.status();
    expect({ recommended_concurrency, global_max_inflight, max_queue_size }).toEqual({
      recommended_concurrency: 1,
      global_max_inflight: 1,
      max_queue_size: 1,
    });
  });

  test("count for a global limit that is set, and wait for it", () => {
    const rig = rigWith(["a", "b"], { global: 3 });
    const first = rig.grant(FREE);
    rig.grant(FREE);
    rig.grant();
    const waiting = rig.queue(FREE);
    rig.pool.release(first.lease);
    expect(waiting.outcome).toMatchObject({ granted: { account: { provider: "free" } } });
  });

  test("get few requests until they have worked; the others wait instead of failing", () => {
    const rig = rigWith(["a", "b"]);
    const granted = Array.from({ length: 6 }, () => rig.grant(FREE));
    const waiting = rig.pool.acquire(request(FREE));
    expect(waiting).toBeInstanceOf(Waiter);
    rig.pool.succeeded(granted[0]?.lease ?? "");
    expect(waiting).toMatchObject({ outcome: { granted: { account: { id: granted[0]?.account.id } } } });
  });

  test("keep their running requests when they get a limit, and lose it at once", () => {
    const rig = rigWith(["a"]);
    prove(rig, ["a"]);
    const leases = Array.from({ length: 4 }, () => rig.grant(FREE).lease);
    const accounts = [account("a", { ...FREE, token: "t" })];
    rig.pool.configure({ accounts, perAccount: { free: 2 }, limits: LIMITS });
    const waiting = rig.queue(FREE);
    expect(leases.every((lease) => rig.pool.renew(lease))).toBe(true);
    rig.pool.configure({ accounts, perAccount: { free: 0 }, limits: LIMITS });
    expect(waiting.outcome).toMatchObject({ granted: { account: { id: "a" } } });
  });
});
