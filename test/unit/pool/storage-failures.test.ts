import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AccountPoolClient, AcquireRequest, Lease } from "../../../src/core/ports/accounts.ts";
import { WALL_CLOCK } from "../../../src/core/ports/clock.ts";
import type { LimitedUse } from "../../../src/core/ports/subject-limits.ts";
import { createInProcessPool, InProcessAccountPool } from "../../../src/pool/in-process-pool.ts";
import { BatchedUseStore } from "../../../src/pool/limits/batched-use-store.ts";
import { SqlUseStore } from "../../../src/pool/limits/sql-use-store.ts";
import { SqlPoolStore } from "../../../src/pool/storage/sql-pool-store.ts";
import { attempt, FAILURE_KINDS, FailingSql, failEachStep } from "../../support/failing-sql.ts";
import { configuration, request } from "../../support/pool-simulator/fixtures.ts";
import { PoolObject } from "../../support/pool-simulator/pool-object.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const KEY_LIMITS = { requests_per_minute: 100, max_parallel: 50, tokens_per_day: 10_000 };
const FAILURE = {
  kind: "invalid_credentials",
  message: "no",
  status: 401,
  fault: "account",
  retryAfter: null,
} as const;

beforeEach(() => {
  vi.useFakeTimers({ now: NOON });
});
afterEach(() => {
  vi.useRealTimers();
});

function start(sql: FailingSql): AccountPoolClient {
  const uses = new BatchedUseStore(new SqlUseStore(sql), (work) => sql.transaction(work));
  const { pool } = new PoolObject(WALL_CLOCK, { pool: { store: new SqlPoolStore(sql), uses } });
  return new InProcessAccountPool(pool);
}

const use = (id: string): LimitedUse => ({ id, key: "k", limits: KEY_LIMITS, tokens: 10, cost: 0 });

/** A request for a slot, which may fail; `lease` is undefined until it has one. */
class Asking {
  lease: Lease | undefined;
  isOver = false;

  constructor(pool: AccountPoolClient, asked: Partial<AcquireRequest>) {
    void attempt(() => pool.acquire(request(asked))).then((acquired) => {
      this.isOver = true;
      if (acquired !== undefined && "lease" in acquired) this.lease = acquired.lease;
    });
  }
}

async function ask(pool: AccountPoolClient, asked: Partial<AcquireRequest> = {}): Promise<Asking> {
  const asking = new Asking(pool, asked);
  await vi.advanceTimersByTimeAsync(1);
  return asking;
}

async function expectNothingHeld(pool: AccountPoolClient): Promise<void> {
  expect(await pool.getStatus()).toMatchObject({ in_use: 0, available: 2, waiting: 0 });
  const [used] = await pool.listSubjectUsage();
  expect(used?.parallel ?? 0).toBe(0);
}

/** What the pool does for requests, one of whose steps fails. */
async function serve(sql: FailingSql): Promise<void> {
  // A process whose start fails is started again.
  let pool = (await attempt(() => start(sql))) ?? start(sql);
  await pool.configure({ ...configuration(["a", "b"], { queue: 10 }), version: 1 });
  const settled: string[] = [];
  const settle = async (id: string) => {
    settled.push(id);
    const settling = attempt(() => pool.settleUsage(use(id), { tokens: 25, cost: 0 }));
    await vi.advanceTimersByTimeAsync(1);
    await settling;
  };
  const one = await ask(pool, { use: use("one") });
  const two = await ask(pool, {});
  const three = await ask(pool, { use: use("three"), caller: "x" });
  const four = await ask(pool, { target: "a", caller: "y" });
  const five = await ask(pool, { use: use("five"), waitMs: 500 });
  one.lease?.release();
  await vi.advanceTimersByTimeAsync(1);
  const answer = await two.lease?.getToken();
  if (answer !== undefined && "signIn" in answer) {
    await two.lease?.completeSignIn(answer.signIn.ticket, { token: "t", expiresAt: 0 });
  }
  await two.lease?.reportFailure(FAILURE);
  two.lease?.release();
  await vi.advanceTimersByTimeAsync(1_000);
  // Nobody renews the leases that are left: they expire.
  await vi.advanceTimersByTimeAsync(40_000);
  for (const asking of [one, two, three, four, five]) expect(asking.isOver).toBe(true);
  for (const [id, asking] of Object.entries({ one, three, five }))
    if (asking.lease !== undefined) await settle(id);
  await pool.setTestStatus("a", "well");
  await expectNothingHeld(pool);
  const counted = async () => (await pool.listSubjectUsage())[0]?.day.tokens ?? 0;
  expect(await counted()).toBe(25 * settled.length);
  await pool.configure({ ...configuration(["b", "c"], { queue: 10 }), version: 2 });
  const six = await ask(pool, { use: use("six") });
  six.lease?.release();
  await settle("six");
  const isCounted = six.lease !== undefined;
  // What has ended is added up, and the marks are lowered.
  await vi.advanceTimersByTimeAsync(120_000);
  await expectNothingHeld(pool);
  const tokens = 25 * (settled.length - (isCounted ? 0 : 1));
  expect(await counted()).toBe(tokens);
  // From here on nothing fails.
  sql.heal();
  const others = [await ask(pool), await ask(pool, { use: use("seven") })];
  for (const { lease } of others) {
    expect(lease).toBeDefined();
    lease?.release();
  }
  await settle("seven");
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sql.all("select * from mark")).toEqual([]);
  expect(sql.all("select * from key_use")).toEqual([]);
  expect(sql.all("select id from account where id not in ('a', 'b', 'c')")).toEqual([]);
  pool = start(sql);
  await pool.configure({ ...configuration(["b", "c"], { queue: 10 }), version: 2 });
  await expectNothingHeld(pool);
  expect(await counted()).toBe(tokens + 25);
}

test.each(FAILURE_KINDS)(
  "loses no slot and no usage if any step of its storage fails %s",
  async (kind) => {
    const failed = await failEachStep(kind, async (sql) => {
      vi.clearAllTimers();
      vi.setSystemTime(NOON);
      await serve(sql);
    });
    for (const table of ["mark", "key_use", "reclaimed", "account", "key_sum", "health", "start"]) {
      expect(failed).toContainEqual(expect.stringContaining(`into ${table}`));
    }
  },
  // Hundreds of runs.
  120_000,
);

test("fails only requests without a slot while a disk is full", async () => {
  const sql = new FailingSql();
  const pool = start(sql);
  await pool.configure(configuration(["a", "b"], { queue: 10 }));
  const held = [await ask(pool), await ask(pool)];
  const waiting = [await ask(pool), await ask(pool)];
  sql.isFull = true;
  // There is room for them, and it cannot be written down that they have it.
  await pool.configure(configuration(["a", "b"], { queue: 10, perAccount: 2 }));
  await vi.advanceTimersByTimeAsync(1);
  expect(waiting.map(({ isOver, lease }) => [isOver, lease])).toEqual([
    [true, undefined],
    [true, undefined],
  ]);
  const limited = Array.from({ length: 20 }, (_, n) => ask(pool, { use: use(`full ${n}`) }));
  expect((await Promise.all(limited)).map(({ lease }) => lease)).toEqual(limited.map(() => undefined));
  expect(await pool.getStatus()).toMatchObject({ in_use: 2, waiting: 0 });
  // Nothing needs to be written for a slot in the place of another.
  held[0]?.lease?.release();
  const again = await ask(pool);
  expect(again.lease).toBeDefined();
  sql.heal();
  const others = await Promise.all([ask(pool), ask(pool, { use: use("healed") })]);
  for (const { lease } of [...others, again, ...held]) {
    expect(lease).toBeDefined();
    lease?.release();
  }
  expect((await pool.listSubjectUsage())[0]).toMatchObject({ minute: { requests: 1 }, day: { tokens: 10 } });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await pool.getStatus()).toMatchObject({ in_use: 0, available: 2 });
  expect(sql.all("select id from key_use")).toEqual([{ id: "healed" }]);
});

test("grants slots while a disk is full, if holders end together with the pool", async () => {
  const sql = new FailingSql();
  const pool = createInProcessPool(new SqlPoolStore(sql));
  await pool.configure(configuration(["a", "b"], { queue: 10 }));
  sql.isFull = true;
  const { lease } = await ask(pool);
  expect(lease).toBeDefined();
  lease?.release();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await pool.getStatus()).toMatchObject({ in_use: 0, available: 2 });
});
