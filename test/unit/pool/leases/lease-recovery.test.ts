import { describe, expect, it } from "vitest";
import { AccountPool } from "../../../../src/pool/pool.ts";
import { MemoryPoolStore } from "../../../support/pool-simulator/memory-pool-store.ts";

const SLOTS = 50;

function poolOn(store: MemoryPoolStore): AccountPool {
  const pool = new AccountPool({ store, now: () => 1_000, setTimer: () => () => {}, wakeAt: () => {} });
  const account = { id: "one", email: "one@x.test", mobile: "", password: "p", token: "t", proxyId: "" };
  const limits = { perAccount: SLOTS, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 };
  pool.configure({ accounts: [account], limits });
  return pool;
}

function acquire(pool: AccountPool, count: number): void {
  for (let n = 0; n < count; n += 1) {
    expect(pool.acquire({ requestId: `r${n}`, model: "m" })).toHaveProperty("granted");
  }
}

describe("the stored mark of leases", () => {
  it("is written a few times while load builds up, and not for each request", () => {
    const store = new MemoryPoolStore();
    const pool = poolOn(store);
    const before = store.writes;
    acquire(pool, SLOTS);
    expect(store.writes - before).toBeLessThanOrEqual(7);
  });

  it.each([1, 2, 3, 5, 33, 50])(
    "reserves at least the %i slots that were held before a restart, and never more than exist",
    (held) => {
      const store = new MemoryPoolStore();
      acquire(poolOn(store), held);
      const inUse = poolOn(store).status().in_use;
      expect(inUse).toBeGreaterThanOrEqual(held);
      expect(inUse).toBeLessThanOrEqual(Math.min(2 * held, SLOTS));
    },
  );
});
