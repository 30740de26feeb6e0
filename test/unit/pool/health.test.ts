import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Health } from "../../../src/pool/health.ts";
import { AccountPool } from "../../../src/pool/pool.ts";
import { SqlPoolStore } from "../../../src/pool/sql-pool-store.ts";
import { failure } from "../../support/failures.ts";
import { memoryDatabase } from "../records/archive/sqlite.ts";
import { account, LIMITS, Rig, request } from "./rig.ts";

const HOUR = 3_600_000;

const rigOf = (...accounts: Parameters<typeof account>[]): Rig => {
  const rig = new Rig();
  rig.pool.configure({ accounts: accounts.map((it) => account(...it)), limits: LIMITS });
  return rig;
};
const activity = (rig: Rig) => rig.pool.health(["a"])[0]?.activity;

describe("what is known of an account from its requests", () => {
  test("is when it was used, how often it worked, and what failed last", () => {
    const rig = rigOf(["a"]);
    const first = rig.grant().lease;
    expect(activity(rig)).toMatchObject({ inFlight: 1, lastUsed: rig.now, hour: { requests: 0 } });
    rig.advance(100);
    rig.pool.release(first);
    const second = rig.grant().lease;
    rig.pool.failed(second, failure("cut", "broke off", { fault: "provider" }));
    rig.pool.release(second);
    expect(activity(rig)).toEqual({
      inFlight: 0,
      lastUsed: rig.now,
      lastSuccess: rig.now,
      lastFault: { kind: "cut", reason: "broke off", fault: "provider", at: rig.now },
      hour: { requests: 2, succeeded: 1 },
      day: { requests: 2, succeeded: 1 },
    });
  });

  test("is not told by a client that left, nor by a lease that expired", () => {
    const rig = rigOf(["a"]);
    const { lease } = rig.grant();
    rig.pool.failed(lease, failure("unreachable", "left", { fault: null }));
    rig.pool.release(lease);
    rig.grant();
    rig.advance(LIMITS.queueWaitMs);
    expect(activity(rig)).toMatchObject({
      inFlight: 0,
      lastSuccess: 0,
      lastFault: null,
      day: { requests: 0 },
    });
  });

  test("is forgotten after an hour and after a day", () => {
    const rig = rigOf(["a"]);
    rig.pool.release(rig.grant().lease);
    rig.advance(HOUR - 300_000);
    rig.pool.release(rig.grant().lease);
    expect(activity(rig)).toMatchObject({ hour: { requests: 2 } });
    rig.advance(300_000);
    expect(activity(rig)).toMatchObject({ hour: { requests: 1 }, day: { requests: 2 } });
    rig.advance(24 * HOUR);
    expect(activity(rig)).toMatchObject({ hour: { requests: 0 }, day: { requests: 0 } });
  });

  test("is what a list of all outcomes says, whatever time passes or is set, also after a restart", () => {
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

  test("survives a restart, but for the last seconds before it", () => {
    const rig = rigOf(["a"], ["b"]);
    rig.pool.release(rig.grant({ target: "a" }).lease);
    rig.pool.failed(rig.grant({ target: "a" }).lease, failure("cut", "broke off", { fault: "provider" }));
    rig.advance(60_000);
    const before = activity(rig);
    rig.restart();
    rig.pool.configure({ accounts: [account("a"), account("b")], limits: LIMITS });
    expect(activity(rig)).toEqual({ ...before, inFlight: 0 });
    expect(activity(rig)).toMatchObject({ hour: { requests: 2, succeeded: 1 }, lastFault: { kind: "cut" } });
  });

  test("is written at most once in ten seconds, and only when there is news", () => {
    const accounts = Array.from({ length: 600 }, (_, n): Parameters<typeof account> => [`a${n}`]);
    const rig = rigOf(...accounts);
    for (let second = 0; second < 60; second += 1) {
      for (let n = 0; n < 20; n += 1) rig.pool.release(rig.grant().lease);
      rig.advance(1_000);
    }
    expect(rig.store.healthWrites).toBeGreaterThan(0);
    expect(rig.store.healthWrites).toBeLessThanOrEqual(6);
    rig.advance(60_000);
    const { healthWrites } = rig.store;
    rig.advance(600_000);
    expect(rig.store.healthWrites).toBe(healthWrites);
  });

  test("is written of those alone of which there is news, and what is stored stays small", () => {
    const rig = rigOf(...Array.from({ length: 600 }, (_, n): Parameters<typeof account> => [`a${n}`]));
    const use = (target: string) => rig.pool.release(rig.grant({ target }).lease);
    for (let n = 0; n < 600; n += 1) use(`a${n}`);
    rig.advance(60_000);
    expect([...rig.store.health.values()].join().match(/"used"/g)).toHaveLength(600);
    const known = new Set(rig.store.health.keys());
    let written = 0;
    let most = 0;
    const save = rig.store.saveHealth.bind(rig.store);
    rig.store.saveHealth = (number, text) => {
      written += text.match(/"used"/g)?.length ?? 0;
      save(number, text);
    };
    use("a7");
    rig.advance(60_000);
    expect(written).toBe(1);
    expect([...rig.store.health.keys()].filter((number) => !known.has(number))).toHaveLength(1);
    for (let turn = 0; turn < 200; turn += 1) {
      for (let n = 0; n < 10; n += 1) use(`a${(turn * 7 + n * 61) % 600}`);
      rig.advance(60_000);
      most = Math.max(most, [...rig.store.health.values()].join().match(/"used"/g)?.length ?? 0);
    }
    expect(written, "all of what is news, and as much again").toBeLessThan(2 * 2_001 + 600);
    expect(most, "of each account at most twice, on average").toBeLessThanOrEqual(1_200);
    const ids = Array.from({ length: 600 }, (_, n) => `a${n}`);
    const activities = () => rig.pool.health(ids).map((it) => it.activity);
    const before = activities();
    rig.restart();
    rig.pool.configure({ accounts: ids.map((id) => account(id)), limits: LIMITS });
    expect(activities()).toEqual(before);
  });

  test("is what was stored last, however accounts come, go, and are used, and the pool is restarted", () => {
    const ids = ["a", "b", "c", "d", "e"];
    const step = fc.record({
      configured: fc.subarray(ids, { minLength: 1 }),
      used: fc.array(fc.constantFrom(...ids), { maxLength: 4 }),
      restarts: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const rig = rigOf(["a"]);
        for (const { configured, used, restarts } of steps) {
          rig.pool.configure({ accounts: configured.map((id) => account(id)), limits: LIMITS });
          for (const target of used.filter((id) => configured.includes(id)))
            rig.pool.release(rig.grant({ target }).lease);
          rig.advance(60_000);
          const stored = new Map(
            [...rig.store.loadHealth()].flatMap(([, text]) => Object.entries(JSON.parse(text))),
          );
          // One that comes back is as it was left, or as new.
          for (const { id, activity } of rig.pool.health())
            if (stored.has(id) && activity.lastUsed > 0)
              expect(stored.get(id)).toMatchObject({ used: activity.lastUsed });
            else expect([id, used.includes(id)]).toEqual([id, false]);
          if (used.some((id) => configured.includes(id)))
            expect(configured).toEqual(expect.arrayContaining([...stored.keys()]));
          if (restarts) rig.restart();
        }
      }),
      { numRuns: 50 },
    );
  });

  test("is forgotten with its account", () => {
    const rig = rigOf(["a"], ["b"]);
    for (const target of ["a", "b"]) rig.pool.release(rig.grant({ target }).lease);
    rig.advance(60_000);
    rig.pool.configure({ accounts: [account("b")], limits: LIMITS });
    rig.pool.release(rig.grant().lease);
    rig.advance(60_000);
    expect([...rig.store.health.values()].join()).not.toContain('"a"');
  });

  test("is read from a database as versions before have written it, all accounts anew each time", () => {
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
    const { now } = new Rig();
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

  test("is not known where another version has written it otherwise", () => {
    const rig = rigOf(["a"]);
    rig.store.health.set(0, '{"a":{"used":"yesterday"}}');
    rig.restart();
    rig.pool.configure({ accounts: [account("a")], limits: LIMITS });
    expect(activity(rig)).toMatchObject({ lastUsed: 0 });
  });

  test("writes nothing with each request", () => {
    const rig = rigOf(["a", { token: "t" }]);
    rig.pool.release(rig.grant().lease);
    const { writes } = rig.store;
    for (let i = 0; i < 100; i += 1) rig.pool.release(rig.grant().lease);
    expect(rig.store.writes).toBe(writes);
  });
});

describe("a disabled account", () => {
  test("serves nobody but administrators, and is available, but not ready", () => {
    const rig = rigOf(["a", { disabled: true }], ["b"]);
    expect(rig.pool.status()).toMatchObject({ available: 2, ready: 1, total: 2 });
    expect(rig.grant().account.id).toBe("b");
    rig.queue();
    expect(rig.pool.acquire(request({ target: "a" }))).toEqual({ refused: "target_not_found" });
    expect(rig.grant({ target: "a", disabledToo: true }).account.id).toBe("a");
  });

  test("is no reason to wait when there is no other", () => {
    const rig = rigOf(["a", { disabled: true }]);
    expect(rig.pool.acquire(request())).toEqual({ refused: "no_accounts" });
  });

  test("gives its running requests the time that they need, and comes back", () => {
    const rig = rigOf(["a"]);
    const { lease } = rig.grant();
    const waiter = rig.queue();
    rig.pool.configure({ accounts: [account("a", { disabled: true })], limits: LIMITS });
    expect(waiter.outcome).toEqual({ refused: "no_accounts" });
    expect(rig.pool.renew(lease)).toBe(true);
    rig.pool.configure({ accounts: [account("a")], limits: LIMITS });
    rig.pool.release(lease);
    expect(rig.grant().account.id).toBe("a");
  });
});

describe("weights", () => {
  test("say how many requests an account gets in its turn", () => {
    const rig = rigOf(["a", { weight: 3 }], ["b"]);
    const order = Array.from({ length: 8 }, () => {
      const { lease, account: leased } = rig.grant();
      rig.pool.release(lease);
      return leased.id;
    });
    expect(order.join("")).toBe("aaabaaab");
  });
});
