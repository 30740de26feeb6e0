import { beforeEach, describe, expect, it } from "vitest";
import { randomFrom, VirtualClock } from "../../../bench/simulation/clock.ts";
import type { AcquireRequest } from "../../../src/core/ports/accounts.ts";
import type { PoolLimits } from "../../../src/core/ports/pool-configuration.ts";
import { LimitAcquirer } from "../../../src/pool/limit-acquirer.ts";
import { LimitRebalancer } from "../../../src/pool/limit-rebalancer.ts";
import { AccountPool } from "../../../src/pool/pool.ts";
import { type AcquireOutcome, Waiter } from "../../../src/pool/waiter.ts";
import { MemoryPoolStore } from "../../support/memory-pool-store.ts";
import { ObjectTimers } from "../../support/object-timers.ts";
import { account, LIMITS, request } from "./rig.ts";

const START = 1_800_000_000_000;
/** How long a message takes, one way, milliseconds; unless it is another in a test. */
const WAY_MS = 20;

/** A pool object as far as its parts of the limits are concerned. */
class Shard {
  readonly name: string;
  readonly #timers: ObjectTimers;
  readonly pool: AccountPool;
  readonly trader: LimitRebalancer;
  readonly #seeker: LimitAcquirer;
  isSilent = false;

  constructor(name: string, clock: VirtualClock, find: (name: string) => Shard) {
    this.name = name;
    this.#timers = new ObjectTimers(clock.setTimer);
    const store = new MemoryPoolStore();
    const around = { now: clock.now, setTimer: this.#timers.set };
    this.pool = new AccountPool({
      store,
      ...around,
      wakeAt: () => undefined,
      onLimitExhausted: (limit, turnedAway) => this.trader.onLimitExhausted(limit, turnedAway),
    });
    this.trader = new LimitRebalancer({
      name,
      store,
      pool: this.pool,
      ...around,
      send: async (to, asks) => {
        await clock.after(wayMs());
        const other = find(to);
        if (other.isSilent) await new Promise(() => undefined);
        const answers = other.trader.handleRequest(name, asks);
        await clock.after(wayMs());
        return answers;
      },
    });
    this.#seeker = new LimitAcquirer(this.pool, this.trader, around);
  }

  acquire(more: Partial<AcquireRequest>): Promise<AcquireOutcome | Waiter> {
    return this.#seeker.acquire(request(more));
  }
}

/** What has become of a request by now. */
type Fate = "nothing" | "waits" | "granted" | string;

interface Asked {
  readonly fate: Fate;
  release(): void;
}

let clock: VirtualClock;
let wayMs = () => WAY_MS;
let shards: Shard[];

/** The first has all parts of limits that were just set. Each has so many accounts. */
function configure(limits: Partial<PoolLimits>, accounts = 1): void {
  const names = shards.map(({ name }) => name);
  for (const { name, trader } of shards)
    trader.configure(
      { shards: names, founders: ["shard-0"] },
      {
        accounts: Array.from({ length: accounts }, (_, n) => account(`${name}-${n}`)),
        limits: { ...LIMITS, ...limits },
      },
    );
}

beforeEach(() => {
  clock = new VirtualClock(START);
  wayMs = () => WAY_MS;
  shards = [0, 1, 2, 3].map((index) => {
    const find = (name: string) => {
      const shard = shards.find((one) => one.name === name);
      if (shard === undefined) throw new Error("there is no such shard");
      return shard;
    };
    return new Shard(`shard-${index}`, clock, find);
  });
});

const pass = (ms: number) => clock.runUntil(clock.now() + ms);

function ask(which: number, more: Partial<AcquireRequest> = {}): Asked {
  const shard = shards[which];
  if (shard === undefined) throw new Error("there is no such shard");
  let outcome: AcquireOutcome | Waiter | null = null;
  void shard.acquire(more).then((it) => {
    outcome = it;
  });
  const now = () => (outcome instanceof Waiter ? outcome.outcome : outcome);
  return {
    get fate(): Fate {
      const it = now();
      if (it === null) return outcome === null ? "nothing" : "waits";
      return "granted" in it ? "granted" : it.refused;
    },
    release() {
      const it = now();
      if (it !== null && "granted" in it) shard.pool.release(it.granted.lease);
    },
  };
}

const sum = (of: (status: ReturnType<AccountPool["status"]>) => number) =>
  shards.reduce((all, { pool }) => all + of(pool.status(0)), 0);

describe("a request at a pool whose parts of the limits are used up", () => {
  it("waits, and is served, right after limits of 1 were set: one in use, one waits, one is refused", async () => {
    configure({ global: 1, queue: 1 });
    const asked = [1, 2, 3].map((shard) => ask(shard));
    await pass(1_000);
    expect([sum(({ in_use }) => in_use), sum(({ waiting }) => waiting)]).toEqual([1, 1]);
    expect(asked.map(({ fate }) => fate).sort()).toEqual(["granted", "queue_full", "waits"]);
    for (const one of asked) if (one.fate === "granted") one.release();
    await pass(500);
    expect(asked.map(({ fate }) => fate).sort()).toEqual(["granted", "granted", "queue_full"]);
  });

  it("gets the room that another one only keeps ready", async () => {
    configure({ queue: 3 });
    for (const which of [0, 0, 1]) ask(which);
    await pass(100);
    expect(sum(({ waiting }) => waiting)).toBe(1);
    const other = [ask(1), ask(1)];
    await pass(1_000);
    expect(other.map(({ fate }) => fate)).toEqual(["waits", "waits"]);
    const late = ask(2);
    const later = ask(2);
    await pass(1_000);
    expect([late.fate, later.fate, sum(({ waiting }) => waiting)]).toEqual(["granted", "queue_full", 3]);
  });

  it("gets what nobody had a moment ago", async () => {
    configure({ global: 1, queue: 1 });
    const held = ask(0);
    const waiting = ask(1);
    await pass(200);
    expect([held.fate, waiting.fate]).toEqual(["granted", "waits"]);
    const refused = ask(2);
    await pass(500);
    expect(refused.fate).toBe("queue_full");
    held.release();
    await pass(250);
    expect(waiting.fate).toBe("granted");
    // It has just been told that there is none.
    const next = ask(2);
    await pass(400);
    expect(next.fate).toBe("waits");
  });

  it("does not wait for long when others do not answer", async () => {
    configure({ queue: 1 });
    ask(1);
    for (const shard of shards.slice(2)) shard.isSilent = true;
    if (shards[0] !== undefined) shards[0].isSilent = true;
    const refused = ask(1);
    await pass(2_000 + 2 * WAY_MS);
    expect(refused.fate).toBe("queue_full");
  });

  it("pushes nobody out of the queue while others have room, and afterwards as ever", async () => {
    configure({ queue: 2 });
    const held = ask(1, { caller: "many" });
    const first = [ask(1, { caller: "many" }), ask(1, { caller: "many" })];
    await pass(500);
    expect([held.fate, ...first.map(({ fate }) => fate)]).toEqual(["granted", "waits", "waits"]);
    configure({ queue: 4 });
    await pass(100);
    ask(1, { caller: "many" });
    const few = ask(1, { caller: "few" });
    await pass(500);
    expect([few.fate, ...first.map(({ fate }) => fate)]).toEqual(["waits", "waits", "waits"]);
    const fewer = ask(1, { caller: "fewer" });
    await pass(500);
    expect([fewer.fate, sum(({ waiting }) => waiting)]).toEqual(["waits", 4]);
  });

  it("gets a slot that it may not wait for, unless others are asked for one as well", async () => {
    configure({ global: 3 });
    await pass(100);
    const passing = ask(1, { waitMs: 0, passing: true });
    await pass(1);
    expect(passing.fate).toBe("queue_timeout");
    const last = ask(2, { waitMs: 0 });
    await pass(200);
    expect(last.fate).toBe("granted");
  });

  it("is granted soon when a slot falls free elsewhere and it waits without a part", async () => {
    configure({ global: 1, queue: 8 });
    const held = ask(0);
    const waiting = ask(1);
    await pass(5_030);
    expect([held.fate, waiting.fate]).toEqual(["granted", "waits"]);
    held.release();
    await pass(250);
    expect(waiting.fate).toBe("granted");
  });

  it("is not forgotten when the slot that it waited for goes to a pool that it was owed to", async () => {
    configure({ global: 1, queue: 4 });
    const held = ask(1);
    await pass(200);
    const both = [ask(1), ask(3)];
    await pass(1_000);
    held.release();
    await pass(1_500);
    expect([held.fate, ...both.map(({ fate }) => fate)]).toEqual(["granted", "waits", "granted"]);
    both[1]?.release();
    await pass(1_500);
    expect(both[0]?.fate).toBe("granted");
  });

  it.each([20, 35, 50, 65, 80])(
    "gets what is spread over all of them, two of which want it, %i ms away",
    async (ms) => {
      const random = randomFrom(ms);
      wayMs = () => ms + Math.floor(20 * random());
      configure({ global: 2, queue: 2 });
      const before = [0, 1, 2, 3].map((which) => ask(which, { waitMs: 500 }));
      await pass(1_000);
      for (const one of before) one.release();
      await pass(6_000);
      // Some have got one late.
      for (const one of before) one.release();
      configure({ global: 1, queue: 1 });
      const asked = [3, 1, 2].map((which) => ask(which));
      await pass(3_000);
      expect(asked.map(({ fate }) => fate).sort()).toEqual(["granted", "queue_full", "waits"]);
    },
  );

  it("waits no longer than it may, what it waits for parts included", async () => {
    configure({ global: 1, queue: 1 });
    ask(0);
    const waiting = ask(1, { waitMs: 300 });
    await pass(299);
    expect(waiting.fate).toBe("waits");
    await pass(2);
    expect(waiting.fate).toBe("queue_timeout");
  });
});
