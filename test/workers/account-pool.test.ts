import { abortAllDurableObjects, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shardNameOf } from "../../durable-objects/account-pool.ts";
import type {
  AccountPoolClient,
  AcquireRequest,
  AcquireResult,
  Lease,
} from "../../src/core/ports/accounts.ts";
import type { PoolLimits } from "../../src/core/ports/pool-configuration.ts";
import { getAccountToken } from "../../src/gateway/accounts/sign-in.ts";
import { buildShardConfiguration, shardNames } from "../../src/pool/shards/layout.ts";
import { POOL_NAME } from "../../src/pool/shards/pool-name.ts";
import { createAccountPoolClient } from "../../src/runtime/cloudflare/pool-client/accounts.ts";
import { failure } from "../support/failures.ts";

const LIMITS: PoolLimits = { perAccount: 1, global: 0, queue: 10, queueWaitMs: 60_000, tokenRefreshMs: 0 };

const ask = (more: Partial<AcquireRequest> = {}): AcquireRequest => ({ requestId: "r", model: "m", ...more });

let pool: AccountPoolClient;

function configure(ids: readonly string[], limits: Partial<PoolLimits> = {}): Promise<void> {
  const accounts = ids.map((id) => ({ id, email: id, mobile: "", password: "p", token: "", proxyId: "" }));
  return pool.configure({ accounts, limits: { ...LIMITS, ...limits } });
}

function granted(acquired: AcquireResult): Lease {
  if (!("lease" in acquired)) throw new Error(`refused: ${acquired.refused}`);
  return acquired.lease;
}

/** What the object holds, once messages under way have arrived. */
async function eventually(expected: { in_use: number; waiting: number }): Promise<void> {
  await expect.poll(async () => pool.getStatus()).toMatchObject(expected);
}

beforeEach(async () => {
  pool = createAccountPoolClient(env);
  await configure(["a"]);
});

afterEach(() => reset());

describe("leases over RPC", () => {
  test("are released by disposing of them", async () => {
    {
      using lease = granted(await pool.acquire(ask()));
      expect(lease.account).toEqual({ id: "a", proxyId: "" });
      expect(await pool.getStatus()).toMatchObject({ in_use: 1 });
    }
    await eventually({ in_use: 0, waiting: 0 });
  });

  test("release nothing else if they are released twice", async () => {
    const lease = granted(await pool.acquire(ask()));
    lease.release();
    const next = granted(await pool.acquire(ask()));
    lease.release();
    lease[Symbol.dispose]();
    expect(await next.renew()).toBe(true);
    expect(await lease.renew()).toBe(false);
    expect(await pool.getStatus()).toMatchObject({ in_use: 1 });
    next.release();
  });

  test("are granted to a waiting request when the slot is free", async () => {
    const first = granted(await pool.acquire(ask()));
    const waiting = pool.acquire(ask());
    await eventually({ in_use: 1, waiting: 1 });
    first.release();
    const second = granted(await waiting);
    await eventually({ in_use: 1, waiting: 0 });
    second.release();
    await eventually({ in_use: 0, waiting: 0 });
  });

  test("are no longer awaited by a request whose client leaves", async () => {
    const first = granted(await pool.acquire(ask()));
    const client = new AbortController();
    const waiting = pool.acquire(ask(), client.signal);
    await eventually({ in_use: 1, waiting: 1 });
    client.abort();
    expect(await waiting).toEqual({ refused: "cancelled" });
    await eventually({ in_use: 1, waiting: 0 });
    first.release();
    await eventually({ in_use: 0, waiting: 0 });
  });

  test("are no longer awaited by a request whose client leaves before the pool has queued it", async () => {
    const first = granted(await pool.acquire(ask()));
    const client = new AbortController();
    const waiting = pool.acquire(ask(), client.signal);
    client.abort();
    expect(await waiting).toEqual({ refused: "cancelled" });
    await eventually({ in_use: 1, waiting: 0 });
    first.release();
    await eventually({ in_use: 0, waiting: 0 });
  });

  test("may be refused with a reason", async () => {
    const lease = granted(await pool.acquire(ask()));
    expect(await pool.acquire(ask({ target: "z" }))).toEqual({ refused: "target_not_found" });
    expect(await pool.acquire(ask({ exclude: ["a"] }))).toEqual({ refused: "no_accounts" });
    expect(await pool.acquire(ask({ waitMs: 20 }))).toEqual({ refused: "queue_timeout" });
    lease.release();
  });

  test("pass failures and successes to the pool", async () => {
    const lease = granted(await pool.acquire(ask()));
    await lease.reportFailure(failure("rate_limited", "slow down"));
    expect(await pool.getHealth()).toMatchObject([
      { id: "a", cooldown: { reason: "slow down", failures: 1 } },
    ]);
    lease.release();
    const next = granted(await pool.acquire(ask()));
    await next.reportSuccess();
    expect(await pool.getHealth()).toMatchObject([{ id: "a", cooldown: null }]);
    next.release();
  });

  test("need one sign-in for 100 simultaneous requests with an expired token", async () => {
    await configure(["a"], { perAccount: 100 });
    const first = granted(await pool.acquire(ask()));
    await getAccountToken(first, async () => ({ token: "expired", expiresAt: 0 }));
    let signIns = 0;
    const signIn = async () => {
      signIns += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { token: `new-${signIns}`, expiresAt: 0 };
    };
    first.release();
    const leases = await Promise.all(
      Array.from({ length: 100 }, async () => granted(await pool.acquire(ask()))),
    );
    expect(new Set(leases.map((lease) => lease.initialToken))).toEqual(new Set(["expired"]));
    const tokens = await Promise.all(leases.map((lease) => getAccountToken(lease, signIn, "expired")));
    expect(new Set(tokens)).toEqual(new Set(["new-1"]));
    expect(signIns).toBe(1);
    for (const lease of leases) lease.release();
    await eventually({ in_use: 0, waiting: 0 });
  });
});

describe("the loss of the object while leases are held", () => {
  test("grants no slot twice, and leaves the holder its own", async () => {
    await configure(["a", "b"]);
    const held = granted(await pool.acquire(ask({ target: "a" })));
    await abortAllDurableObjects();
    await configure(["a", "b"]);
    expect(await pool.getStatus()).toMatchObject({
      in_use: 1,
      in_use_accounts: ["a"],
      available_accounts: ["b"],
    });
    const other = granted(await pool.acquire(ask()));
    expect(other.account.id).toBe("b");
    expect(await pool.acquire(ask({ waitMs: 50 }))).toEqual({ refused: "queue_timeout" });

    expect(await held.renew()).toBe(true);
    expect(await pool.getStatus()).toMatchObject({ in_use: 2, leases: [{ account: "b" }, { account: "a" }] });
    const waiting = pool.acquire(ask());
    await eventually({ in_use: 2, waiting: 1 });
    held.release();
    const next = granted(await waiting);
    expect(next.account.id).toBe("a");
    held.release();
    expect(await pool.getStatus()).toMatchObject({ in_use: 2 });
    next.release();
    other.release();
    await eventually({ in_use: 0, waiting: 0 });
  });

  test("makes waiting requests wait again", async () => {
    const held = granted(await pool.acquire(ask()));
    const waiting = pool.acquire(ask());
    await eventually({ in_use: 1, waiting: 1 });
    await abortAllDurableObjects();
    await configure(["a"]);
    await eventually({ in_use: 1, waiting: 1 });
    expect(await held.renew()).toBe(true);
    held.release();
    granted(await waiting).release();
    await eventually({ in_use: 0, waiting: 0 });
  });

  test("does not end a sign-in in progress, which finishes on the new object", async () => {
    const lease = granted(await pool.acquire(ask()));
    const token = getAccountToken(lease, async () => {
      await abortAllDurableObjects();
      await configure(["a"]);
      return { token: "fresh", expiresAt: 0 };
    });
    expect(await token).toBe("fresh");
    expect(await pool.getStatus()).toMatchObject({ in_use: 1 });
    lease.release();
    await eventually({ in_use: 0, waiting: 0 });
  });

  test("keeps tokens, tests and cooldowns", async () => {
    const lease = granted(await pool.acquire(ask()));
    await getAccountToken(lease, async () => ({ token: "kept", expiresAt: 0 }));
    await lease.reportFailure(failure("account_suspended", "suspended"));
    await pool.setTestStatus("a", "ok");
    lease.release();
    await abortAllDurableObjects();
    await configure(["a"]);
    expect(await pool.getHealth()).toMatchObject([
      { id: "a", token: "kept", testStatus: "ok", cooldown: { kind: "account_suspended" } },
    ]);
  });
});

describe("storage", () => {
  const stub = () => env.ACCOUNT_POOL.getByName(POOL_NAME);
  const rowsWritten = () =>
    runInDurableObject(stub(), (_, state) => {
      const [row] = state.storage.sql
        .exec<{ n: number }>("select coalesce(sum(slots), 0) n from mark")
        .toArray();
      return row?.n ?? 0;
    });

  test("keeps the number of slots held, and is cleared when the pool has been idle for a while", async () => {
    await configure(["a"], { perAccount: 3 });
    const leases = [granted(await pool.acquire(ask())), granted(await pool.acquire(ask()))];
    expect(await rowsWritten()).toBe(2);
    for (const lease of leases) lease.release();
    await eventually({ in_use: 0, waiting: 0 });
    expect(await rowsWritten()).toBe(2);
    await expect.poll(rowsWritten, { timeout: 8_000, interval: 250 }).toBe(0);
  }, 10_000);

  test("has an alarm while slots are held, so that a lost object starts again and cleans up", async () => {
    const lease = granted(await pool.acquire(ask()));
    const planned = await runInDurableObject(stub(), (_, state) => state.storage.getAlarm());
    expect(planned).toBeGreaterThan(Date.now());
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    expect(await runInDurableObject(stub(), (_, state) => state.storage.getAlarm())).toBeGreaterThan(
      Date.now(),
    );
    expect(await lease.renew()).toBe(true);
    lease.release();
  });
});

describe("an unconfigured pool", () => {
  test("requests the configuration", async () => {
    await reset();
    const { config } = await env.CONFIGURATION.getByName(POOL_NAME).get();
    expect(await pool.getStatus()).toMatchObject({
      total: config.accounts.length,
      max_inflight_per_account: config.runtime.account_max_inflight,
    });
  });
});

describe("one of several pools", () => {
  const names = shardNames(2);
  const ids = Array.from({ length: 40 }, (_, n) => `a${n}`);
  const whole = {
    accounts: ids.map((id) => ({ id, email: id, mobile: "", password: "p", token: "t", proxyId: "" })),
    limits: { ...LIMITS, global: 40 },
  };
  const layout = { generation: 1, shards: names, earlier: [], former: [] };
  const partOf = (name: string) => buildShardConfiguration(whole, layout, name, 1);

  test("obtains its share of the limits before it answers its first request", async () => {
    await env.ACCOUNT_POOL.getByName(POOL_NAME).configure(partOf(POOL_NAME));
    const outcome = await runInDurableObject(env.ACCOUNT_POOL.getByName("shard-1"), async (object) => {
      await object.configure(partOf("shard-1"));
      const reply = await object.acquire(ask({ waitMs: 0 }));
      return "granted" in reply ? "granted" : reply;
    });
    expect(outcome).toBe("granted");
  });

  test("knows its own name from its id", () => {
    const { ACCOUNT_POOL: pools } = env;
    const nameless = (name: string) => pools.idFromString(pools.idFromName(name).toString());
    for (const name of [POOL_NAME, "shard-1", "shard-63"])
      expect(shardNameOf(nameless(name), pools)).toBe(name);
    expect(() => shardNameOf(nameless("somebody"), pools)).toThrow("name");
  });
});

describe("a key with limits", () => {
  test("admits 60 requests a minute from four isolates, also across a loss of the object", async () => {
    await configure(["a"], { perAccount: 200 });
    const isolates = Array.from({ length: 4 }, () => createAccountPoolClient(env));
    let serial = 0;
    const let1 = async (isolate: AccountPoolClient) => {
      serial += 1;
      const limits = { requests_per_minute: 60 };
      const use = { id: `use-${serial}`, key: "k", limits, tokens: 0, cost: 0 };
      return await isolate.acquire(ask({ use }));
    };
    const hammer = async () =>
      (
        await Promise.all(isolates.flatMap((isolate) => Array.from({ length: 10 }, () => let1(isolate))))
      ).filter((acquired) => "lease" in acquired);
    const first = await hammer();
    expect(first).toHaveLength(40);
    await abortAllDurableObjects();
    await configure(["a"], { perAccount: 200 });
    const second = await hammer();
    expect(first.length + second.length).toBe(60);
    expect((await hammer()).length).toBe(0);
    for (const acquired of [...first, ...second]) granted(acquired).release();
  });

  test("counts reported usage, and otherwise the reservation", async () => {
    await configure(["a"], { perAccount: 9 });
    const limits = { tokens_per_day: 1_000, max_parallel: 2 };
    const use = (id: string) => ({ id, key: "k", limits, tokens: 100, cost: 0 });
    const told = granted(await pool.acquire(ask({ use: use("told") })));
    const untold = granted(await pool.acquire(ask({ use: use("untold") })));
    expect(await pool.acquire(ask({ use: use("third") }))).toMatchObject({
      refused: "limited",
      limit: { limit: "max_parallel", max: 2, used: 2 },
    });
    told.release();
    untold.release();
    await pool.settleUsage(use("told"), { tokens: 7, cost: 0 });
    await expect
      .poll(() => pool.listSubjectUsage())
      .toMatchObject([{ key: "k", parallel: 0, day: { tokens: 107 } }]);
    expect(await pool.countRequest(use("counted"))).toEqual({ limits: { requests: null, tokens: null } });
  });
});
