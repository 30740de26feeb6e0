import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PoolConfiguration } from "../../../src/core/ports/pool-configuration.ts";
import { LimitRebalancer, type RebalancedPool } from "../../../src/pool/limit-rebalancer.ts";
import type { DistributedLimit, LimitLayout, LimitUsage } from "../../../src/pool/limit-share.ts";
import type { ShareAnswers, ShareRequests } from "../../../src/pool/peer-limit-state.ts";
import type { AccountPool } from "../../../src/pool/pool.ts";
import type { LimitShares } from "../../../src/pool/slot-limits.ts";
import { Waiter } from "../../../src/pool/waiter.ts";
import { MemoryPoolStore } from "../../support/memory-pool-store.ts";
import { configuration, Rig, request } from "./rig.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Has slots for all that it wants, and uses what it may. */
class GreedyPool implements RebalancedPool {
  parts: LimitShares = { global: null, queue: null };
  demand = 0;
  inUse = 0;
  configuration: PoolConfiguration | null = null;

  configure(given: PoolConfiguration): boolean {
    if ((given.version ?? 0) < (this.configuration?.version ?? 0)) return false;
    this.configuration = given;
    return true;
  }

  limitUsage(): Record<DistributedLimit, LimitUsage> {
    const wanted = Math.max(0, this.demand - this.inUse);
    return {
      global: { inUse: this.inUse, heldBack: 0, wanted, most: 1_000 },
      queue: { inUse: 0, heldBack: 0, wanted: 0, most: 1_000 },
    };
  }

  applyLimitShares(parts: LimitShares): void {
    this.parts = parts;
    this.serve();
  }

  serve(): void {
    this.inUse = Math.max(this.inUse, Math.min(this.demand, this.parts.global ?? 1_000));
  }
}

interface Member {
  readonly name: string;
  readonly store: MemoryPoolStore;
  readonly pool: GreedyPool;
  trader: LimitRebalancer;
}

/** Shards on a network where each message takes 50 ms, and `loses` says which get lost. */
class Shards {
  readonly members: Member[];
  messages = 0;
  /** Milliseconds each way. */
  delayMs = 50;
  readonly #starts = new Map<string, number>();
  loses: (from: string, to: string, isAnswer: boolean) => boolean = () => false;

  constructor(count: number, limit: number, layout: Partial<LimitLayout> = {}) {
    const names = Array.from({ length: count }, (_, i) => `shard-${i}`);
    this.members = names.map((name) => {
      const store = new MemoryPoolStore();
      const pool = new GreedyPool();
      return { name, store, pool, trader: this.trader(name, store, pool) };
    });
    this.configure(limit, { shards: names, founders: names, ...layout });
  }

  /** The one before it is gone, with its timers and what it waited for. */
  trader(name: string, store: MemoryPoolStore, pool: RebalancedPool): LimitRebalancer {
    const start = (this.#starts.get(name) ?? 0) + 1;
    this.#starts.set(name, start);
    const lives = () => this.#starts.get(name) === start;
    return new LimitRebalancer({
      name,
      store,
      pool,
      now: Date.now,
      setTimer: (ms, run) => {
        const timer = setTimeout(() => {
          if (lives()) run();
        }, ms);
        return () => clearTimeout(timer);
      },
      send: async (to, asks) => {
        const answers = await this.#send(name, to, asks);
        return lives() ? answers : new Promise(() => {});
      },
    });
  }

  async #send(from: string, to: string, asks: ShareRequests): Promise<ShareAnswers> {
    this.messages += 1;
    await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    if (this.loses(from, to, false)) return new Promise(() => {});
    const member = this.members.find(({ name }) => name === to);
    if (member === undefined) throw new Error("there is no such shard");
    const answers = member.trader.handleRequest(from, asks);
    await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    if (this.loses(to, from, true)) throw new Error("the network is down");
    return answers;
  }

  configure(limit: number, layout: LimitLayout): void {
    for (const { trader } of this.members)
      trader.configure(layout, configuration([], { global: limit, queue: limit }));
  }

  /** So many slots are wanted there from now on. */
  demand(...wanted: number[]): void {
    for (const [index, { pool, trader }] of this.members.entries()) {
      pool.demand = wanted[index] ?? 0;
      pool.inUse = Math.min(pool.inUse, pool.demand);
      pool.serve();
      if (pool.demand > pool.inUse) trader.onLimitExhausted("global", false);
    }
  }

  /** Requests end, and others come: what may be used is. */
  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      await vi.advanceTimersByTimeAsync(100);
      for (const { pool, trader } of this.members) {
        pool.inUse = Math.max(0, pool.inUse - 1);
        pool.serve();
        if (pool.demand > pool.inUse) trader.onLimitExhausted("global", false);
      }
    }
  }

  get inUse(): number[] {
    return this.members.map(({ pool }) => pool.inUse);
  }

  get all(): number {
    return this.inUse.reduce((sum, one) => sum + one, 0);
  }
}

describe("shards that trade parts of a limit", () => {
  it("bring all of it to the only one that needs it, and send nothing when nobody does", async () => {
    const shards = new Shards(6, 60);
    await vi.advanceTimersByTimeAsync(200);
    // Each asks the others once, when it begins, whether it was given something by them.
    const atFirst = shards.messages;
    expect(atFirst).toBe(30);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(shards.messages).toBe(atFirst);
    shards.demand(0, 60);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(shards.inUse).toEqual([0, 60, 0, 0, 0, 0]);
    const { messages } = shards;
    expect(messages - atFirst).toBeLessThan(60);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(shards.messages).toBe(messages);
  });

  it("serve one that wants a few within one round trip", async () => {
    const shards = new Shards(6, 60);
    await vi.advanceTimersByTimeAsync(200);
    shards.demand(12);
    await vi.advanceTimersByTimeAsync(150);
    expect(shards.inUse[0]).toBe(12);
  });

  it("come to equal shares when all want more than there is, and never pass the limit", async () => {
    const shards = new Shards(4, 40);
    shards.demand(40);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(shards.inUse).toEqual([40, 0, 0, 0]);
    shards.demand(100, 100, 100, 100);
    for (let turn = 0; turn < 300; turn += 1) {
      await shards.turns(1);
      expect(shards.all).toBeLessThanOrEqual(40);
    }
    expect(Math.min(...shards.inUse)).toBeGreaterThanOrEqual(9);
  });

  it("use a limit smaller than their number in turn", async () => {
    const shards = new Shards(4, 2);
    const served = shards.members.map(() => 0);
    shards.demand(1, 1, 1, 1);
    for (let turn = 0; turn < 600; turn += 1) {
      await shards.turns(1);
      expect(shards.all).toBeLessThanOrEqual(2);
      for (const [index, used] of shards.inUse.entries()) served[index] = (served[index] ?? 0) + used;
    }
    expect(Math.min(...served)).toBeGreaterThan(20);
  });

  it("get along with messages that are lost and shards that lose their memory", async () => {
    const shards = new Shards(4, 41);
    let lot = 1;
    shards.loses = () => {
      lot = (lot * 48_271) % 2_147_483_647;
      return lot % 3 === 0;
    };
    shards.demand(0, 0, 50);
    for (let round = 0; round < 20; round += 1) {
      await vi.advanceTimersByTimeAsync(1_700);
      expect(shards.all).toBeLessThanOrEqual(41);
      const member = shards.members[round % 4];
      if (member === undefined) continue;
      member.pool.parts = { global: null, queue: null };
      member.trader = shards.trader(member.name, member.store, member.pool);
      const names = shards.members.map(({ name }) => name);
      member.trader.configure(
        { shards: names, founders: names },
        configuration([], { global: 41, queue: 41 }),
      );
    }
    shards.demand(0, 0, 50);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(shards.inUse).toEqual([0, 0, 41, 0]);
  });

  it("learn what was given to them although the answer was lost, and although they need no more", async () => {
    for (const restarted of [false, true]) {
      const shards = new Shards(2, 20);
      await vi.advanceTimersByTimeAsync(200);
      shards.loses = (from, to) => from === "shard-1" && to === "shard-0";
      shards.demand(14);
      await vi.advanceTimersByTimeAsync(200);
      shards.demand(0);
      await vi.advanceTimersByTimeAsync(5_000);
      const parts = () => shards.members.map(({ trader }) => trader.shares.global ?? 0);
      expect(parts()[0]).toBe(10);
      expect(parts()[1]).toBeLessThan(10);
      const [first] = shards.members;
      if (restarted && first !== undefined) {
        const founders = shards.members.map(({ name }) => name);
        first.trader = shards.trader(first.name, first.store, first.pool);
        first.trader.configure({ shards: founders, founders }, configuration([], { global: 20, queue: 20 }));
      }
      shards.loses = () => false;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(parts()[0]).toBe(20 - (parts()[1] ?? 0));
    }
  });

  it("are whole after some have left, and give newcomers their share before anybody waits there", async () => {
    const founders = ["shard-0", "shard-1"];
    const shards = new Shards(4, 40, { shards: founders, founders });
    const all = shards.members.map(({ name }) => name);
    shards.demand(0, 40);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(shards.inUse).toEqual([0, 40, 0, 0]);
    shards.demand(0, 4);
    shards.configure(40, { shards: all, founders });
    const late = shards.members[3]?.trader;
    expect([late?.shares.global, shards.members[0]?.trader.initialAnswers]).toEqual([0, null]);
    let begun = false;
    void late?.initialAnswers?.then(() => {
      begun = true;
    });
    await vi.advanceTimersByTimeAsync(90);
    expect(begun).toBe(false);
    await vi.advanceTimersByTimeAsync(500);
    expect([begun, late?.shares.global]).toEqual([true, 10]);
    await vi.advanceTimersByTimeAsync(20_000);
    for (const { trader } of shards.members.slice(2)) expect(trader.shares.global).toBe(10);
    shards.demand(0, 0, 0, 0);
    const layout = { shards: ["shard-0"], founders, former: all };
    shards.configure(40, layout);
    shards.demand(40);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(shards.inUse).toEqual([40, 0, 0, 0]);
    const { messages } = shards;
    shards.demand(50);
    await vi.advanceTimersByTimeAsync(60_000);
    // Those that have left have nothing, and will not: they are left alone.
    expect(shards.messages).toBeLessThanOrEqual(messages + 3);
  });

  it("have requests at a newcomer wait for two seconds at most, however slow the others are", async () => {
    const founders = ["shard-0"];
    const shards = new Shards(24, 40, { shards: founders, founders });
    shards.delayMs = 360;
    shards.loses = (_, to, isAnswer) => to === "shard-0" && !isAnswer;
    shards.configure(40, { shards: shards.members.map(({ name }) => name), founders });
    let begun = false;
    void shards.members[5]?.trader.initialAnswers?.then(() => {
      begun = true;
    });
    await vi.advanceTimersByTimeAsync(700);
    expect(begun).toBe(false);
    await vi.advanceTimersByTimeAsync(1_310);
    expect(begun).toBe(true);
  });

  it("get all from one that has left, also what it learns of only then", async () => {
    const all = ["shard-0", "shard-1"];
    const shards = new Shards(2, 20, { shards: all, founders: ["shard-0"] });
    shards.loses = (_, to, isAnswer) => isAnswer && to === "shard-1";
    await vi.advanceTimersByTimeAsync(500);
    expect(shards.members.map(({ trader }) => trader.shares.global)).toEqual([10, 0]);
    shards.configure(20, { shards: ["shard-0"], founders: ["shard-0"], former: all });
    shards.demand(20);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(shards.inUse).toEqual([10, 0]);
    shards.loses = () => false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(shards.inUse).toEqual([20, 0]);
  });

  it("have no parts while no limit is set, and do not take over an older configuration", () => {
    const shards = new Shards(2, 0);
    const [member] = shards.members;
    expect(member?.pool.parts).toEqual({ global: null, queue: null });
    const layout = { shards: ["shard-0", "shard-1"], founders: ["shard-0"] };
    const edit = (version: number, global: number) =>
      member?.trader.configure(layout, { ...configuration([], { global }), version });
    edit(2, 10);
    edit(1, 50);
    expect(member?.pool.parts).toEqual({ global: 10, queue: null });
    expect(member?.pool.configuration?.version).toBe(2);
  });
});

describe("a pool that has parts of the limits", () => {
  const shorts: string[] = [];
  const rig = (limits: { global?: number; queue?: number }) => {
    shorts.length = 0;
    const made = new Rig({ onLimitExhausted: (limit, turnedAway) => shorts.push(`${limit} ${turnedAway}`) });
    made.pool.configure(configuration(["a", "b", "c"], limits));
    return made;
  };
  const outcome = (pool: AccountPool, waitMs?: number) => {
    const got = pool.acquire(request(waitMs === undefined ? {} : { waitMs }));
    if (got instanceof Waiter) return got;
    return "granted" in got ? "granted" : got.refused;
  };

  it("grants as much as its part says, nothing of a part of 0, and more as soon as it has more", async () => {
    const { pool } = rig({ global: 3 });
    pool.applyLimitShares({ global: 0, queue: null });
    expect(outcome(pool, 0)).toBe("queue_timeout");
    expect(shorts).toEqual(["global true"]);
    const waiting = outcome(pool);
    expect(shorts).toEqual(["global true", "global false"]);
    expect(pool.status()).toMatchObject({ in_use: 0, waiting: 1, global_max_inflight: 3 });
    expect(pool.limitUsage().global).toEqual({ inUse: 0, heldBack: 0, wanted: 1, most: 3 });
    pool.applyLimitShares({ global: 1, queue: null });
    if (!(waiting instanceof Waiter)) throw new Error("it did not wait");
    expect(waiting.outcome).toHaveProperty("granted");
    expect(pool.limitUsage().global).toEqual({ inUse: 1, heldBack: 0, wanted: 0, most: 3 });
  });

  it("takes no slot from anybody when its part shrinks", () => {
    const { pool } = rig({ global: 3 });
    for (let i = 0; i < 3; i += 1) expect(outcome(pool)).toBe("granted");
    pool.applyLimitShares({ global: 1, queue: null });
    expect(pool.status().in_use).toBe(3);
    expect(outcome(pool, 0)).toBe("queue_timeout");
  });

  it("does not ask for a part that it has no account for", () => {
    const { pool } = rig({ global: 3 });
    pool.applyLimitShares({ global: 3, queue: null });
    for (let i = 0; i < 3; i += 1) expect(outcome(pool)).toBe("granted");
    outcome(pool);
    expect(pool.limitUsage().global).toEqual({ inUse: 3, heldBack: 0, wanted: 0, most: 3 });
  });

  it("refuses when its part of the queue is full, and has said before that it fills", () => {
    const { pool } = rig({ queue: 8 });
    pool.applyLimitShares({ global: null, queue: 2 });
    for (let i = 0; i < 3; i += 1) outcome(pool);
    expect(shorts).toEqual([]);
    expect(outcome(pool)).toBeInstanceOf(Waiter);
    expect(outcome(pool)).toBeInstanceOf(Waiter);
    expect(shorts).toEqual(["queue false"]);
    expect(outcome(pool)).toBe("queue_full");
    expect(shorts.at(-1)).toBe("queue true");
    pool.applyLimitShares({ global: null, queue: 4 });
    expect(outcome(pool)).toBeInstanceOf(Waiter);
    pool.applyLimitShares({ global: null, queue: null });
    expect(pool.status().max_queue_size).toBe(8);
  });
});
