import { describe, expect, test } from "vitest";
import type { LimitedUse, SubjectLimits } from "../../../src/core/ports/subject-limits.ts";
import { SqlUseStore } from "../../../src/pool/limits/sql-use-store.ts";
import { configuration, leaseOf, request, result } from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";
import { memoryDatabase } from "../records/archive/sqlite.ts";

let uses = 0;

function use(limits: SubjectLimits, more: Partial<LimitedUse> = {}): LimitedUse {
  uses += 1;
  return { id: `use-${uses}`, key: "k", limits, tokens: 0, cost: 0, ...more };
}

function simulator(slots = 100, accounts: readonly string[] = ["a"]): PoolSimulator {
  const made = new PoolSimulator({ uses: new SqlUseStore(memoryDatabase()) });
  made.pool.configure(configuration(accounts, { perAccount: slots }));
  return made;
}

const HOLDER = { requestId: "r", model: "m", dialect: "", caller: "" };

describe("a key with limits", () => {
  test("is refused together with its slot, and gets its limits", () => {
    const { pool } = simulator();
    const limits = { requests_per_minute: 1 };
    expect(pool.acquire(request({ use: use(limits) }))).toMatchObject({
      granted: { limits: { requests: { limit: 1, remaining: 0, resetMs: 60_000 }, tokens: null } },
    });
    expect(pool.acquire(request({ use: use(limits) }))).toMatchObject({
      refused: "limited",
      limit: { limit: "requests_per_minute", max: 1, used: 1, resetMs: 60_000 },
      limits: { requests: { remaining: 0 } },
    });
    expect(pool.status()).toMatchObject({ in_use: 1, waiting: 0 });
  });

  test("200 requests at once against a budget for 100: 100 get a slot, whether at once or from the queue", () => {
    const it = simulator(30);
    it.pool.configure(configuration(["a"], { perAccount: 30, queue: 1_000 }));
    const limits = { tokens_per_day: 100 * 70 };
    const outcomes = Array.from({ length: 200 }, () => {
      const asked = use(limits, { tokens: 70 });
      return { asked, outcome: it.pool.acquire(request({ use: asked })) };
    });
    expect(it.pool.status()).toMatchObject({ in_use: 30, waiting: 70 });
    let served = 0;
    for (const { asked, outcome } of outcomes) {
      if ("refused" in outcome) continue;
      served += 1;
      it.pool.release("granted" in outcome ? outcome.granted.lease : leaseOf(outcome));
      it.pool.limitedRequests.settle(asked.id, { tokens: 70, cost: 0 });
    }
    expect(served).toBe(100);
    expect(it.pool.limitedRequests.listSubjectUses()).toMatchObject([
      { parallel: 0, day: { tokens: 7_000 } },
    ]);
  });

  test.each([
    ["there is no account", (it: PoolSimulator) => it.pool.configure(configuration([]))],
    ["the queue is full", (it: PoolSimulator) => it.pool.configure(configuration(["a"], { queue: 1 }))],
  ])("gets its reservation back when %s", (_, change) => {
    const it = simulator(1);
    change(it);
    while (!("refused" in it.pool.acquire(request()))) {}
    expect(it.pool.acquire(request({ use: use({ requests_per_minute: 9 }) }))).toHaveProperty("refused");
    expect(it.pool.limitedRequests.listSubjectUses()).toMatchObject([
      { parallel: 0, minute: { requests: 0 } },
    ]);
  });

  test("gets its reservation back for a request that leaves the queue or waits too long", () => {
    const it = simulator(1);
    it.pool.configure(configuration(["a"], { queue: 10 }));
    it.grant();
    const limits = { requests_per_minute: 2 };
    const left = it.queue({ use: use(limits) });
    const late = it.queue({ use: use(limits), waitMs: 1_000 });
    expect(it.pool.acquire(request({ use: use(limits) }))).toMatchObject({ refused: "limited" });
    left.cancel();
    it.advance(1_000);
    expect(result(late)).toBe("queue_timeout");
    expect(it.pool.limitedRequests.listSubjectUses()).toMatchObject([
      { parallel: 0, minute: { requests: 0 } },
    ]);
  });

  test("pays once for a request that continues with another account", () => {
    const it = simulator(1, ["a", "b"]);
    const asked = use({ requests_per_minute: 1, max_parallel: 1 });
    const first = it.grant({ use: asked });
    it.pool.release(first.lease);
    it.grant({ use: asked, exclude: [first.account.id] });
    expect(it.pool.limitedRequests.listSubjectUses()).toMatchObject([
      { parallel: 1, minute: { requests: 1 } },
    ]);
  });

  test("pays the estimate for a request whose isolate dies, and gets its slot back when the lease ends", () => {
    const it = simulator();
    const asked = use({ tokens_per_day: 1_000, max_parallel: 1 }, { tokens: 300 });
    it.grant({ use: asked });
    it.advance(40_000);
    expect(it.pool.limitedRequests.listSubjectUses()).toMatchObject([{ parallel: 0, day: { tokens: 300 } }]);
  });

  test("keeps its counts after a restart, and its running requests continue", () => {
    const it = simulator();
    const limits = { requests_per_minute: 2, max_parallel: 2 };
    const asked = use(limits, { tokens: 10 });
    const { lease } = it.grant({ use: asked });
    it.grant({ use: use(limits, { tokens: 10 }) });
    it.restart().configure(configuration(["a"], { perAccount: 100 }));
    expect(it.pool.resumeLease(lease, "a", { ...HOLDER, use: asked.id })).not.toBeNull();
    expect(it.pool.acquire(request({ use: use(limits) }))).toMatchObject({ refused: "limited" });
    it.pool.limitedRequests.settle(asked.id, { tokens: 4, cost: 0 });
    expect(it.pool.limitedRequests.listSubjectUses()).toMatchObject([
      { parallel: 1, minute: { requests: 2 }, day: { tokens: 14 } },
    ]);
    // The other one was never heard of again.
    it.advance(40_000);
    expect(it.pool.limitedRequests.listSubjectUses()).toMatchObject([{ parallel: 0, day: { tokens: 14 } }]);
  });

  test("counts requests that need no slot", () => {
    const { pool } = simulator();
    const limits = { requests_per_minute: 1 };
    expect(pool.limitedRequests.count(use(limits, { tokens: 5 }))).toMatchObject({
      limits: { requests: { remaining: 0 } },
    });
    expect(pool.limitedRequests.count(use(limits))).toMatchObject({ refused: "limited" });
    expect(pool.limitedRequests.listSubjectUses()).toMatchObject([{ parallel: 0, day: { tokens: 5 } }]);
  });
});

test("a key without limits causes no writes, and gets no limits", () => {
  const sql = memoryDatabase();
  const it = new PoolSimulator({ uses: new SqlUseStore(sql) });
  it.pool.configure(configuration(["a"]));
  const granted = it.grant();
  expect(granted.limits).toBeUndefined();
  it.pool.release(granted.lease);
  expect(it.pool.limitedRequests.listSubjectUses()).toEqual([]);
  expect(sql.all("select count(*) as n from key_use")[0]?.["n"]).toBe(0);
});
