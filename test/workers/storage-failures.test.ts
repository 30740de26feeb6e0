import { env, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import type { LimitedUse } from "../../src/core/ports/subject-limits.ts";
import { POOL_NAME } from "../../src/pool/shards/pool-name.ts";
import { createAccountPoolClient } from "../../src/runtime/cloudflare/pool-client/accounts.ts";
import { emptyConfig } from "../support/config.ts";

afterEach(() => reset());

/** Runs a statement in the database of an object. */
type Execute = (statement: string) => Promise<unknown>;

/** Has statements fail that name a table, while `work` runs. */
async function withoutTable(execute: Execute, table: string, work: () => Promise<void>): Promise<void> {
  await execute(`alter table ${table} rename to ${table}_away`);
  await work();
  await execute(`alter table ${table}_away rename to ${table}`);
}

test("grants no slot that cannot be stored, and grants it once it can", async () => {
  const pool = createAccountPoolClient(env);
  const accounts = [{ id: "a", email: "a", mobile: "", password: "p", token: "", proxyId: "" }];
  const limits = { perAccount: 1, global: 0, queue: 10, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  await pool.configure({ accounts, limits });
  const stub = env.ACCOUNT_POOL.getByName(POOL_NAME);
  const execute: Execute = (statement) =>
    runInDurableObject(stub, (_, { storage }) => storage.sql.exec(statement).toArray());
  const use: LimitedUse = { id: "u", key: "k", limits: { max_parallel: 5 }, tokens: 7, cost: 0 };
  const ask = (asked: { readonly use?: LimitedUse } = {}) =>
    pool.acquire({ requestId: "r", model: "m", ...asked });
  for (const [table, asked] of [
    ["mark", {}],
    ["key_use", { use }],
  ] as const) {
    await withoutTable(execute, table, async () => {
      await expect(ask(asked)).rejects.toThrow(`no such table: ${table}`);
      expect(await pool.getStatus()).toMatchObject({ in_use: 0, available: 1, waiting: 0 });
    });
    const acquired = await ask({ use: { ...use, id: table } });
    if (!("lease" in acquired)) throw new Error("refused");
    acquired.lease.release();
    await expect.poll(() => pool.getStatus()).toMatchObject({ in_use: 0 });
    await pool.settleUsage({ ...use, id: table }, { tokens: 1, cost: 0 });
  }
  expect(await pool.listSubjectUsage()).toMatchObject([{ key: "k", parallel: 0, day: { tokens: 2 } }]);
});

test("rejects an edit of the configuration whose audit record cannot be stored", async () => {
  const stub = env.CONFIGURATION.getByName("failing");
  const execute: Execute = (statement) =>
    runInDurableObject(stub, (_, { storage }) => storage.sql.exec(statement).toArray());
  const { version } = await stub.get();
  const config = { ...emptyConfig(), keys: ["edited"] };
  const note = {
    at: 1,
    who: "key",
    address: "",
    action: "PUT",
    changes: [],
    more: 0,
    keep: true,
    forget: false,
  };
  await withoutTable(execute, "audit", async () => {
    // An RPC promise that is not awaited itself counts as one that nobody handles.
    const replace = async () => void (await stub.replace(version, config, note));
    await expect(replace()).rejects.toThrow("no such table: audit");
    expect(await stub.get()).toMatchObject({ version, config: { keys: [] } });
    expect(await stub.versions()).toEqual([]);
  });
  expect(await stub.replace(version, config, note)).toMatchObject({ stored: true });
  expect(await stub.versions()).toMatchObject([{ version }]);
});
