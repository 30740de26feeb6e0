import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Health } from "../../../../src/pool/health/health.ts";
import { AccountPool } from "../../../../src/pool/pool.ts";
import { SqlPoolStore } from "../../../../src/pool/storage/sql-pool-store.ts";
import { failure } from "../../../support/failures.ts";
import { account, LIMITS, request } from "../../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../../support/pool-simulator/pool-simulator.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

const HOUR = 3_600_000;

const rigOf = (...accounts: Parameters<typeof account>[]): PoolSimulator => {
  const simulator = new PoolSimulator();
  simulator.pool.configure({ accounts: accounts.map((it) => account(...it)), limits: LIMITS });
  return simulator;
};
const activity = (simulator: PoolSimulator) => simulator.pool.health(["a"])[0]?.activity;

describe("what is known of an account from its requests", () => {
  test("includes its last use, its success rate and its last failure", () => {
    const simulator = rigOf(["a"]);
    const first = simulator.grant().lease;
    expect(activity(simulator)).toMatchObject({
      inFlight: 1,
      lastUsed: simulator.now,
      hour: { requests: 0 },
    });
    simulator.advance(100);
    simulator.pool.release(first);
    const second = simulator.grant().lease;
    simulator.pool.failed(second, failure("cut", "broke off", { fault: "provider" }));
    simulator.pool.release(second);
    expect(activity(simulator)).toEqual({
      inFlight: 0,
      lastUsed: simulator.now,
      lastSuccess: simulator.now,
      lastFault: { kind: "cut", reason: "broke off", fault: "provider", at: simulator.now },
      hour: { requests: 2, succeeded: 1 },
      day: { requests: 2, succeeded: 1 },
    });
  });

  test("does not depend on clients that left or leases that expired", () => {
    const simulator = rigOf(["a"]);
    const { lease } = simulator.grant();
    simulator.pool.failed(lease, failure("unreachable", "left", { fault: null }));
    simulator.pool.release(lease);
    simulator.grant();
    simulator.advance(LIMITS.queueWaitMs);
    expect(activity(simulator)).toMatchObject({
      inFlight: 0,
      lastSuccess: 0,
      lastFault: null,
      day: { requests: 0 },
    });
  });

  test("is forgotten after an hour and after a day", () => {
    const simulator = rigOf(["a"]);
    simulator.pool.release(simulator.grant().lease);
    simulator.advance(HOUR - 300_000);
    simulator.pool.release(simulator.grant().lease);
    expect(activity(simulator)).toMatchObject({ hour: { requests: 2 } });
    simulator.advance(300_000);
    expect(activity(simulator)).toMatchObject({ hour: { requests: 1 }, day: { requests: 2 } });
    simulator.advance(24 * HOUR);
    expect(activity(simulator)).toMatchObject({ hour: { requests: 0 }, day: { requests: 0 } });
  });

  test("equals a list of all outcomes after any time, clock change or restart", () => {
    const step = fc.record({
      passes: fc.oneof(fc.integer({ min: 0, max: 400_000 }), fc.integer({ min: -9_000_000, max: 30 * HOUR })),
      does: fc.constantFrom("succeeds", "fails", "looks", "restarts"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let health = new Health();
        let now = 100 * HOUR;
        /** The five minutes that count: no clock brings back those that are over. */
        let part = 0;
        const outcomes: { readonly part: number; readonly succeeded: boolean }[] = [];
        for (const { passes, does } of steps) {
          now += passes;
          if (does === "restarts") {
            const saved = health.save();
            health = new Health();
            if (saved !== null) health.load(saved);
            continue;
          }
          if (outcomes.length > 0 || does !== "looks") part = Math.max(part, Math.floor(now / 300_000));
          if (does === "looks") {
            const rateOf = (counted: typeof outcomes) => ({
              requests: counted.length,
              succeeded: counted.filter(({ succeeded }) => succeeded).length,
            });
            const hour = Math.floor(part / 12);
            expect(health.read(0, now)).toMatchObject({
              hour: rateOf(outcomes.filter((it) => it.part > part - 12)),
              day: rateOf(outcomes.filter((it) => Math.floor(it.part / 12) > hour - 24)),
            });
            continue;
          }
          health.used(now);
          if (does === "succeeds") health.succeeded(now);
          else health.failed(failure("cut", "broke off", { fault: "provider" }), now);
          outcomes.push({ part, succeeded: does === "succeeds" });
        }
      }),
    );
  });

  test("survives a restart, except for the last seconds", () => {
    const simulator = rigOf(["a"], ["b"]);
    simulator.pool.release(simulator.grant({ target: "a" }).lease);
    simulator.pool.failed(
      simulator.grant({ target: "a" }).lease,
      failure("cut", "broke off", { fault: "provider" }),
    );
    simulator.advance(60_000);
    const before = activity(simulator);
    simulator.restart();
    simulator.pool.configure({ accounts: [account("a"), account("b")], limits: LIMITS });
    expect(activity(simulator)).toEqual({ ...before, inFlight: 0 });
    expect(activity(simulator)).toMatchObject({
      hour: { requests: 2, succeeded: 1 },
      lastFault: { kind: "cut" },
    });
  });

  test("is written at most once in ten seconds, and only if it changed", () => {
    const accounts = Array.from({ length: 600 }, (_, n): Parameters<typeof account> => [`a${n}`]);
    const simulator = rigOf(...accounts);
    for (let second = 0; second < 60; second += 1) {
      for (let n = 0; n < 20; n += 1) simulator.pool.release(simulator.grant().lease);
      simulator.advance(1_000);
    }
    expect(simulator.store.healthWrites).toBeGreaterThan(0);
    expect(simulator.store.healthWrites).toBeLessThanOrEqual(6);
    simulator.advance(60_000);
    const { healthWrites } = simulator.store;
    simulator.advance(600_000);
    expect(simulator.store.healthWrites).toBe(healthWrites);
  });

  test("is written only for changed accounts, and stays small", () => {
    const simulator = rigOf(...Array.from({ length: 600 }, (_, n): Parameters<typeof account> => [`a${n}`]));
    const use = (target: string) => simulator.pool.release(simulator.grant({ target }).lease);
    for (let n = 0; n < 600; n += 1) use(`a${n}`);
    simulator.advance(60_000);
    expect([...simulator.store.health.values()].join().match(/"used"/g)).toHaveLength(600);
    const known = new Set(simulator.store.health.keys());
    let written = 0;
    let most = 0;
    const save = simulator.store.saveHealth.bind(simulator.store);
    simulator.store.saveHealth = (number, text) => {
      written += text.match(/"used"/g)?.length ?? 0;
      save(number, text);
    };
    use("a7");
    simulator.advance(60_000);
    expect(written).toBe(1);
    expect([...simulator.store.health.keys()].filter((number) => !known.has(number))).toHaveLength(1);
    for (let turn = 0; turn < 200; turn += 1) {
      for (let n = 0; n < 10; n += 1) use(`a${(turn * 7 + n * 61) % 600}`);
      simulator.advance(60_000);
      most = Math.max(most, [...simulator.store.health.values()].join().match(/"used"/g)?.length ?? 0);
    }
    expect(written, "all of what is news, and as much again").toBeLessThan(2 * 2_001 + 600);
    expect(most, "of each account at most twice, on average").toBeLessThanOrEqual(1_200);
    const ids = Array.from({ length: 600 }, (_, n) => `a${n}`);
    const activities = () => simulator.pool.health(ids).map((it) => it.activity);
    const before = activities();
    simulator.restart();
    simulator.pool.configure({ accounts: ids.map((id) => account(id)), limits: LIMITS });
    expect(activities()).toEqual(before);
  });

  test("equals the last stored state for any changes of accounts and restarts", () => {
    const ids = ["a", "b", "c", "d", "e"];
    const step = fc.record({
      configured: fc.subarray(ids, { minLength: 1 }),
      used: fc.array(fc.constantFrom(...ids), { maxLength: 4 }),
      restarts: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const simulator = rigOf(["a"]);
        for (const { configured, used, restarts } of steps) {
          simulator.pool.configure({ accounts: configured.map((id) => account(id)), limits: LIMITS });
          for (const target of used.filter((id) => configured.includes(id)))
            simulator.pool.release(simulator.grant({ target }).lease);
          simulator.advance(60_000);
          const stored = new Map(
            [...simulator.store.loadHealth()].flatMap(([, text]) => Object.entries(JSON.parse(text))),
          );
          // One that comes back is as it was left, or as new.
          for (const { id, activity } of simulator.pool.health())
            if (stored.has(id) && activity.lastUsed > 0)
              expect(stored.get(id)).toMatchObject({ used: activity.lastUsed });
            else expect([id, used.includes(id)]).toEqual([id, false]);
          if (used.some((id) => configured.includes(id)))
            expect(configured).toEqual(expect.arrayContaining([...stored.keys()]));
          if (restarts) simulator.restart();
        }
      }),
      { numRuns: 50 },
    );
  });

  test("is deleted with its account", () => {
    const simulator = rigOf(["a"], ["b"]);
    for (const target of ["a", "b"]) simulator.pool.release(simulator.grant({ target }).lease);
    simulator.advance(60_000);
    simulator.pool.configure({ accounts: [account("b")], limits: LIMITS });
    simulator.pool.release(simulator.grant().lease);
    simulator.advance(60_000);
    expect([...simulator.store.health.values()].join()).not.toContain('"a"');
  });

  test("is read from a database of earlier versions", () => {
    const sql = memoryDatabase();
    const before = new SqlPoolStore(sql);
    const health = (used: number) => ({ used, success: used, fault: null });
    for (const [part, ids] of [["a", "b"], ["c"]].entries())
      sql.all(
        "insert into health(part, data) values(?, ?)",
        part,
        JSON.stringify(Object.fromEntries(ids.map((id) => [id, health(7)]))),
      );
    before.saveHealth(2, JSON.stringify({ b: health(9) }));
    const { now } = new PoolSimulator();
    const pool = new AccountPool({
      store: new SqlPoolStore(sql),
      now: () => now,
      setTimer: () => () => undefined,
      wakeAt: () => undefined,
    });
    pool.configure({ accounts: ["a", "b", "c"].map((id) => account(id)), limits: LIMITS });
    expect(pool.health().map(({ id, activity }) => [id, activity.lastUsed])).toEqual([
      ["a", 7],
      ["b", 9],
      ["c", 7],
    ]);
    before.removeHealth(0);
    expect([...before.loadHealth()].map(([number]) => number)).toEqual([1, 2]);
  });

  test("is ignored if another version has written it in an unknown form", () => {
    const simulator = rigOf(["a"]);
    simulator.store.health.set(0, '{"a":{"used":"yesterday"}}');
    simulator.restart();
    simulator.pool.configure({ accounts: [account("a")], limits: LIMITS });
    expect(activity(simulator)).toMatchObject({ lastUsed: 0 });
  });

  test("writes nothing with each request", () => {
    const simulator = rigOf(["a", { token: "t" }]);
    simulator.pool.release(simulator.grant().lease);
    const { writes } = simulator.store;
    for (let i = 0; i < 100; i += 1) simulator.pool.release(simulator.grant().lease);
    expect(simulator.store.writes).toBe(writes);
  });
});

describe("a disabled account", () => {
  test("serves only administrators, and is available, but not ready", () => {
    const simulator = rigOf(["a", { disabled: true }], ["b"]);
    expect(simulator.pool.status()).toMatchObject({ available: 2, ready: 1, total: 2 });
    expect(simulator.grant().account.id).toBe("b");
    simulator.queue();
    expect(simulator.pool.acquire(request({ target: "a" }))).toEqual({ refused: "target_not_found" });
    expect(simulator.grant({ target: "a", disabledToo: true }).account.id).toBe("a");
  });

  test("is not waited for if there is no other", () => {
    const simulator = rigOf(["a", { disabled: true }]);
    expect(simulator.pool.acquire(request())).toEqual({ refused: "no_accounts" });
  });

  test("lets its running requests finish, and can be enabled again", () => {
    const simulator = rigOf(["a"]);
    const { lease } = simulator.grant();
    const waiter = simulator.queue();
    simulator.pool.configure({ accounts: [account("a", { disabled: true })], limits: LIMITS });
    expect(waiter.outcome).toEqual({ refused: "no_accounts" });
    expect(simulator.pool.renew(lease)).toBe(true);
    simulator.pool.configure({ accounts: [account("a")], limits: LIMITS });
    simulator.pool.release(lease);
    expect(simulator.grant().account.id).toBe("a");
  });
});

describe("weights", () => {
  test("set how many requests an account gets in its turn", () => {
    const simulator = rigOf(["a", { weight: 3 }], ["b"]);
    const order = Array.from({ length: 8 }, () => {
      const { lease, account: leased } = simulator.grant();
      simulator.pool.release(lease);
      return leased.id;
    });
    expect(order.join("")).toBe("aaabaaab");
  });
});
