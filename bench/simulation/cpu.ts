import { AccountPool } from "../../src/accounts/pool.ts";
import { Waiter } from "../../src/accounts/waiting-queue.ts";
import { MemoryPoolStore } from "../../test/support/memory-pool-store.ts";

const SIZES = [10, 1_000, 100_000];
const HELD = 8;
const BLOCK = 20_000;
const BLOCKS = 9;

/** Gives a slot back and takes another one, so many times, with eight held throughout. */
function turns(accounts: number): (times: number) => void {
  const pool = new AccountPool({
    store: new MemoryPoolStore(),
    now: Date.now,
    setTimer: () => () => {},
    wakeAt: () => {},
  });
  pool.configure({
    accounts: Array.from({ length: accounts }, (_, i) => {
      const id = `account-${i}@example.com`;
      return { id, email: id, mobile: "", password: "", token: `t${i}`, proxyId: "" };
    }),
    limits: { perAccount: 2, global: 0, queue: 0, queueWaitMs: 60_000, tokenRefreshMs: 0 },
  });
  const acquire = (): string => {
    const outcome = pool.acquire({ requestId: "r", model: "m" });
    if (outcome instanceof Waiter || "refused" in outcome) throw new Error("there is no slot");
    return outcome.granted.lease;
  };
  const held = Array.from({ length: HELD }, acquire);
  return (times) => {
    for (let i = 0; i < times; i += 1) {
      pool.release(held[i % HELD] ?? "");
      held[i % HELD] = acquire();
    }
  };
}

/** What one acquire and release cost with few and with many accounts, microseconds: medians of blocks that take turns. */
export function costs(): { accounts: number; microseconds: number }[] {
  const subjects = SIZES.map((accounts) => {
    const turn = turns(accounts);
    // Every account has had its first mark written: from then on nothing is.
    turn(accounts + BLOCK);
    return { accounts, turn, times: [] as number[] };
  });
  for (let block = 0; block < BLOCKS; block += 1)
    for (const { turn, times } of subjects) {
      const { user, system } = process.cpuUsage();
      turn(BLOCK);
      const used = process.cpuUsage();
      times.push((used.user + used.system - user - system) / BLOCK);
    }
  return subjects.map(({ accounts, times }) => ({
    accounts,
    microseconds: times.sort((one, other) => one - other)[times.length >> 1] ?? Number.NaN,
  }));
}
