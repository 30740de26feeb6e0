import { AccountPool } from "../../src/pool/pool.ts";
import { Waiter } from "../../src/pool/queue/waiter.ts";
import { MemoryPoolStore } from "../../test/support/pool-simulator/memory-pool-store.ts";

const SIZES = [10, 1_000, 100_000];
const HELD = 8;
const BLOCK = 5_000;
const ROUNDS = 60;

/** Releases a slot and acquires another, repeatedly, with eight slots held throughout. */
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

/**
 * Measures the cost of one acquire and release with few and with many accounts, in microseconds: medians of alternating
 * blocks. The order is random, because in a fixed order the garbage collector would always hit the same subject.
 */
export function costs(): { accounts: number; microseconds: number }[] {
  const subjects = SIZES.map((accounts) => {
    const turn = turns(accounts);
    // Warm-up: afterwards every account has its high-water mark stored, and grants write nothing.
    turn(accounts + BLOCK);
    return { accounts, turn, times: [] as number[] };
  });
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { turn, times } of shuffled(subjects)) {
      const start = performance.now();
      turn(BLOCK);
      times.push(((performance.now() - start) * 1_000) / BLOCK);
    }
  return subjects.map(({ accounts, times }) => ({
    accounts,
    microseconds: times.sort((one, other) => one - other)[times.length >> 1] ?? Number.NaN,
  }));
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
