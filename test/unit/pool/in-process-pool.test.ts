import { describe, expect, test } from "vitest";
import { createInProcessPool } from "../../../src/pool/in-process-pool.ts";
import { configuration, request } from "../../support/pool-simulator/fixtures.ts";
import { MemoryPoolStore } from "../../support/pool-simulator/memory-pool-store.ts";

async function pool(limits = {}) {
  const created = createInProcessPool(new MemoryPoolStore());
  await created.configure(configuration(["a"], limits));
  return created;
}

describe("the pool of a single process", () => {
  test("releases a slot when its lease is disposed", async () => {
    const accounts = await pool();
    {
      const acquired = await accounts.acquire(request());
      if (!("lease" in acquired)) throw new Error("refused");
      using lease = acquired.lease;
      expect(lease.account.id).toBe("a");
      expect((await accounts.getStatus()).in_use).toBe(1);
    }
    expect((await accounts.getStatus()).in_use).toBe(0);
  });

  test("removes a waiting request from the queue when its client leaves", async () => {
    const accounts = await pool();
    await accounts.acquire(request());
    const client = new AbortController();
    const waiting = accounts.acquire(request(), client.signal);
    expect((await accounts.getStatus()).waiting).toBe(1);
    client.abort();
    expect(await waiting).toEqual({ refused: "cancelled" });
    expect(await accounts.getStatus()).toMatchObject({ waiting: 0, in_use: 1 });
  });

  test("gives a slot to the next request if its client leaves at that moment", async () => {
    const accounts = await pool({ queue: 5 });
    const first = await accounts.acquire(request());
    const client = new AbortController();
    const leaving = accounts.acquire(request(), client.signal);
    const next = accounts.acquire(request());
    if (!("lease" in first)) throw new Error("refused");
    first.lease.release();
    client.abort();
    expect(await leaving).toEqual({ refused: "cancelled" });
    expect(await next).toMatchObject({ lease: { account: { id: "a" } } });
  });

  test("gives no slot to a client that has left", async () => {
    const accounts = await pool();
    expect(await accounts.acquire(request(), AbortSignal.abort())).toEqual({ refused: "cancelled" });
  });

  test("ends a wait by the process's own clock", async () => {
    const accounts = await pool();
    await accounts.acquire(request());
    expect(await accounts.acquire(request({ waitMs: 20 }))).toEqual({ refused: "queue_timeout" });
  });
});
