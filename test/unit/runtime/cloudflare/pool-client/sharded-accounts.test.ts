import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../../../../bench/simulation/clock.ts";
import type { AcquireRequest, AcquireResult, Lease } from "../../../../../src/core/ports/accounts.ts";
import type { PoolAccount } from "../../../../../src/core/ports/pool-configuration.ts";
import { AccountPool } from "../../../../../src/pool/pool.ts";
import { buildShardConfiguration } from "../../../../../src/pool/shards/layout.ts";
import { ShardMap } from "../../../../../src/pool/shards/shard-map.ts";
import { type Grant, Waiter } from "../../../../../src/pool/waiter.ts";
import type { ShardStub } from "../../../../../src/runtime/cloudflare/pool-client/pool-stub.ts";
import { ShardClient } from "../../../../../src/runtime/cloudflare/pool-client/shard-client.ts";
import { ShardedAccountPool } from "../../../../../src/runtime/cloudflare/pool-client/sharded-accounts.ts";
import { failure } from "../../../../support/failures.ts";
import { MemoryPoolStore } from "../../../../support/memory-pool-store.ts";
import { account, LIMITS } from "../../../pool/rig.ts";

const START = 1_800_000_000_000;
const NAMES = ["near", "far", "farther"];

/** A pool object that is called without a network; one that is silent answers when it speaks again, if ever. */
class Shard {
  readonly pool: AccountPool;
  isSilent = false;
  #speech = Promise.withResolvers<void>();
  asked = 0;
  /** Which requests fail. */
  isGone: (request: AcquireRequest) => boolean = () => false;
  readonly granted: string[] = [];
  /** What happens on the way of the message that a request has got its slot. */
  beforeBegun: () => Promise<void> = async () => undefined;

  constructor(clock: VirtualClock) {
    const { now, setTimer } = clock;
    this.pool = new AccountPool({ store: new MemoryPoolStore(), now, setTimer, wakeAt: () => undefined });
  }

  async #speaks(): Promise<void> {
    if (this.isSilent) await this.#speech.promise;
  }

  speakAgain(): void {
    this.isSilent = false;
    this.#speech.resolve();
    this.#speech = Promise.withResolvers();
  }

  #granted(granted: Grant) {
    const { pool } = this;
    const { lease: name, account: its } = granted;
    this.granted.push(name);
    const lease = {
      token: async (stale?: string) => pool.token(name, stale),
      signedIn: async () => undefined,
      signInFailed: async () => undefined,
      succeeded: async () => pool.succeeded(name),
      failed: async (reason: Parameters<AccountPool["failed"]>[1]) => pool.failed(name, reason),
      quota: async (windows: Parameters<AccountPool["recordQuota"]>[1]) => pool.recordQuota(name, windows),
      [Symbol.dispose]: () => undefined,
    };
    return { granted: { ...granted, account: its }, lease, [Symbol.dispose]: () => void pool.release(name) };
  }

  get stub(): ShardStub {
    const { pool } = this;
    return {
      acquire: async (request) => {
        this.asked += 1;
        await this.#speaks();
        if (this.isGone(request)) throw new Error("the object is gone");
        const outcome = pool.acquire(request);
        if (!(outcome instanceof Waiter))
          return "granted" in outcome ? this.#granted(outcome.granted) : outcome;
        const wait = async () => {
          const settled = await outcome.settled;
          await this.#speaks();
          return "granted" in settled ? this.#granted(settled.granted) : settled;
        };
        const leave = () => {
          if (outcome.outcome === null) outcome.cancel();
        };
        return { place: { [Symbol.dispose]: leave }, pending: { wait }, [Symbol.dispose]: leave };
      },
      beat: async (isolate, leases) => pool.beat(isolate, leases),
      resume: async () => null,
      report: async (report) => {
        await this.#speaks();
        return pool.report(report);
      },
      count: async (use) => {
        await this.#speaks();
        return pool.limitedRequests.count(use);
      },
      settleAll: async (settled) => {
        await this.#speaks();
        for (const [use, spent] of settled) pool.limitedRequests.settle(use, spent);
      },
      keyUses: async () => {
        await this.#speaks();
        return pool.limitedRequests.listSubjectUses();
      },
      status: async (most) => pool.status(most),
      health: async (ids) => pool.health(ids),
      setTestStatus: async (id, status) => {
        await this.#speaks();
        pool.setTestStatus(id, status);
      },
      tokensDueForRefresh: async () => pool.tokensDueForRefresh(),
      configure: async (configuration) => {
        pool.configure(configuration);
      },
      shardStatus: async (most) => {
        await this.#speaks();
        return pool.shardStatus(most);
      },
      isWell: async (provider) => {
        await this.#speaks();
        return pool.hasHealthyAccount(provider);
      },
      hold: async (use) => {
        await this.#speaks();
        return pool.limitedRequests.reserveRemote(use);
      },
      begun: async (use) => {
        await this.beforeBegun();
        await this.#speaks();
        return pool.limitedRequests.beginRemote(use);
      },
      holding: async (use) => {
        await this.#speaks();
        pool.limitedRequests.keepAlive(use);
      },
      unserved: async (use, isNew) => {
        await this.#speaks();
        pool.limitedRequests.releaseUnserved(use, isNew);
      },
    };
  }
}

/** Three pools, the first of which is near, with so many accounts of each. */
class World {
  readonly clock = new VirtualClock(START);
  readonly shards = NAMES.map(() => new Shard(this.clock));
  readonly pool: ShardedAccountPool;
  readonly accounts: readonly (readonly PoolAccount[])[];
  #order = 0;

  constructor(...counts: readonly number[]) {
    const clock = { now: this.clock.now, setTimer: this.clock.setTimer, waitUntil: () => undefined };
    const places = NAMES.map((name) => ({ name, region: name }));
    const map = new ShardMap(places);
    const of = counts.map((): PoolAccount[] => []);
    for (let n = 0; of.some(({ length }, shard) => length < (counts[shard] ?? 0)); n += 1) {
      const shard = map.of(`a${n}`);
      const its = of[shard];
      const more = { email: "", mobile: `+49${n}`, token: `t${n}`, password: "" };
      if (its !== undefined && its.length < (counts[shard] ?? 0)) its.push(account(`a${n}`, more));
    }
    this.accounts = of;
    this.pool = new ShardedAccountPool({
      shards: this.shards.map((shard, index) => ({
        name: NAMES[index] ?? "",
        region: NAMES[index] ?? "",
        client: new ShardClient(() => shard.stub, clock),
      })),
      clock,
      place: () => ({ continent: "", longitude: Number.NaN }),
      distance: (region) => NAMES.indexOf(region),
      turn: 0,
    });
  }

  static async of(...counts: readonly number[]): Promise<World> {
    const world = new World(...counts);
    world.limit({});
    return world;
  }

  /** Tells all pools of limits for all accounts together. */
  limit(limits: { readonly global?: number; readonly queue?: number }): void {
    const whole = { accounts: this.accounts.flat(), limits: { ...LIMITS, ...limits } };
    const layout = { generation: 1, shards: NAMES, earlier: [], former: [] };
    this.#order += 1;
    for (const [index, { pool }] of this.shards.entries())
      pool.configure(buildShardConfiguration(whole, layout, NAMES[index] ?? "", this.#order));
  }

  /** Lets a request wait, and keeps what comes of it. */
  wait(more: Partial<AcquireRequest> = {}): { outcome: AcquireResult | null; leave(): void } {
    const caller = new AbortController();
    const waiting = { outcome: null as AcquireResult | null, leave: () => caller.abort() };
    void this.pool.acquire({ requestId: "w", model: "m", ...more }, caller.signal).then((outcome) => {
      waiting.outcome = outcome;
    });
    return waiting;
  }

  /** Lets time pass; what happens in it goes on before it does. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    for (let at = this.clock.now(); at < end; at += 10) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.clock.runUntil(Math.min(end, at + 10));
    }
  }

  /** What comes of a request, once so much time has passed. */
  async acquire(more: Partial<AcquireRequest> = {}, ms = 0): Promise<AcquireResult | "waits"> {
    let acquired: AcquireResult | "waits" = "waits";
    const asking = this.pool.acquire({ requestId: "r", model: "m", ...more }).then((it) => {
      acquired = it;
    });
    await this.pass(ms);
    if (ms === 0) await asking;
    return acquired;
  }

  async lease(more: Partial<AcquireRequest> = {}): Promise<Lease> {
    const acquired = await this.acquire(more);
    if (acquired === "waits" || !("lease" in acquired))
      throw new Error(`no lease: ${JSON.stringify(acquired)}`);
    return acquired.lease;
  }

  idOf(shard: number, index = 0): string {
    return this.accounts[shard]?.[index]?.id ?? "";
  }
}

describe("several pools", () => {
  it("are asked from the nearest on, and only as far as need be", async () => {
    const world = await World.of(1, 1, 1);
    const first = await world.lease();
    expect(first.account.id).toBe(world.idOf(0));
    expect(world.shards.map(({ asked }) => asked)).toEqual([1, 0, 0]);
    expect((await world.lease()).account.id).toBe(world.idOf(1));
    expect((await world.lease()).account.id).toBe(world.idOf(2));
    expect(await world.acquire({ waitMs: 0 })).toMatchObject({ refused: "queue_timeout" });
    first.release();
    await world.pass(500);
    expect((await world.lease()).account.id).toBe(world.idOf(0));
  });

  it("have a request wait, which takes whatever slot is free first", async () => {
    const world = await World.of(1, 1, 0);
    const [, far] = [await world.lease(), await world.lease()];
    const waiting = world.pool.acquire({ requestId: "w", model: "m", waitMs: 60_000 });
    await world.pass(100);
    far.release();
    await world.pass(5_000);
    expect(await waiting).toMatchObject({ lease: { account: { id: world.idOf(1) } } });
    expect(await world.pool.getStatus()).toMatchObject({ in_use: 2, waiting: 0 });
  });

  it("have a request wait elsewhere when the one that it waits at cannot be reached any more", async () => {
    const world = await World.of(1, 1, 0);
    const [near] = world.shards;
    const [, far] = [await world.lease(), await world.lease()];
    if (near === undefined) throw new Error("there is no shard");
    near.isGone = (request) => request.waitMs !== 0;
    await world.pass(500);
    const waiting = world.pool.acquire({ requestId: "w", model: "m", waitMs: 60_000 });
    await world.pass(100);
    far.release();
    await world.pass(5_000);
    expect(await waiting).toMatchObject({ lease: { account: { id: world.idOf(1) } } });
  });

  it("pass a silent one over", async () => {
    const world = await World.of(1, 1, 0);
    const [near] = world.shards;
    if (near !== undefined) near.isSilent = true;
    expect(await world.acquire({}, 1_600)).toMatchObject({ lease: { account: { id: world.idOf(1) } } });
  });

  it("have a request go on for no longer than it may wait while they are silent, and take late slots back", async () => {
    const world = await World.of(1, 1, 1);
    for (const shard of world.shards) shard.isSilent = true;
    const [near] = world.shards;
    expect(await world.acquire({ waitMs: 4_000 }, 4_600)).toMatchObject({ refused: "queue_timeout" });
    for (const shard of world.shards) shard.speakAgain();
    await world.pass(100);
    expect(world.shards.map(({ granted }) => granted.length)).toEqual([1, 1, 1]);
    expect(await world.pool.getStatus()).toMatchObject({ in_use: 0, waiting: 0 });
    // One that may not wait is passed on all the same.
    if (near !== undefined) near.isSilent = true;
    await world.pass(4_000);
    expect(await world.acquire({ waitMs: 0 }, 1_600)).toMatchObject({ lease: { account: {} } });
  });

  it("have a request that waits know soon after its time that they have fallen silent", async () => {
    const world = await World.of(1, 1, 0);
    const held = [await world.lease(), await world.lease()];
    await world.pass(500);
    let told: AcquireResult | null = null;
    void world.pool.acquire({ requestId: "w", model: "m", waitMs: 5_000 }).then((it) => {
      told = it;
    });
    await world.pass(4_000);
    for (const shard of world.shards) shard.isSilent = true;
    await world.pass(5_200);
    expect(told).toEqual({ refused: "queue_timeout" });
    expect(world.shards.map(({ pool }) => pool.status().waiting)).toEqual([0, 0, 0]);
    for (const lease of held) lease.release();
  });

  it("do not have a request wait whose caller has left while they were silent", async () => {
    const world = await World.of(1, 0, 0);
    for (const shard of world.shards) shard.isSilent = true;
    const caller = new AbortController();
    let told: AcquireResult | null = null;
    void world.pool.acquire({ requestId: "w", model: "m" }, caller.signal).then((it) => {
      told = it;
    });
    await world.pass(4_000);
    caller.abort();
    await world.pass(700);
    expect(told).toEqual({ refused: "cancelled" });
  });

  it("tell what is known without a silent one, and fail only if all are silent", async () => {
    const world = await World.of(1, 1, 1);
    const [near, far, farther] = world.shards;
    if (near === undefined || far === undefined || farther === undefined) throw new Error("too few shards");
    const sick = await world.lease();
    far.isSilent = true;
    let isOtherWell: boolean | null = null;
    void sick.reportFailure(failure("account_suspended", "suspended")).then((it) => {
      isOtherWell = it;
    });
    await world.pass(100);
    expect(isOtherWell).toBe(true);
    const read = world.pool.getStatus();
    await world.pass(1_600);
    expect(await read).toMatchObject({ total: 2, partial: true, silent_shards: ["far"] });
    for (const shard of world.shards) shard.isSilent = true;
    const failing = expect(world.pool.getStatus()).rejects.toThrow("does not answer");
    await world.pass(1_600);
    await failing;
  });

  it("find a pinned account beside a silent one, and say when it may live there", async () => {
    const world = await World.of(1, 1, 1);
    const [near, far] = world.shards;
    const [there] = world.accounts[2] ?? [];
    if (near === undefined || far === undefined) throw new Error("too few shards");
    near.isSilent = true;
    far.isSilent = true;
    expect(await world.acquire({ target: there?.mobile ?? "" }, 8_000)).toMatchObject({
      lease: { account: { id: there?.id } },
    });
    for (const target of [world.idOf(0), world.accounts[1]?.[0]?.mobile ?? "", "nobody"]) {
      const told = expect(world.pool.acquire({ requestId: "r", model: "m", target })).rejects.toMatchObject({
        status: 503,
        code: "account_pool_unavailable",
        headers: { "retry-after": "5" },
      });
      await world.pass(8_000);
      await told;
    }
  });

  it("do not have a request wait at one that is gone", async () => {
    const world = await World.of(2, 0, 0);
    const [near] = world.shards;
    const held = [0, 1].map(() => near?.pool.acquire({ requestId: "h", model: "m" }));
    const waits = ["", world.idOf(0)].map((target) =>
      world.pool.acquire({ requestId: "r", model: "m", ...(target === "" ? {} : { target }) }),
    );
    const told = Promise.all(waits.map((waiting) => expect(waiting).rejects.toMatchObject({ status: 503 })));
    // That it takes long says nothing.
    await world.pass(8_000);
    expect(await world.pool.getStatus()).toMatchObject({ in_use: 2, waiting: 2 });
    if (near !== undefined) near.isSilent = true;
    for (const one of held) if (one !== undefined && "granted" in one) near?.pool.renew(one.granted.lease);
    await world.pass(11_000);
    await told;
    expect(near?.pool.status()).toMatchObject({ in_use: 2, waiting: 0 });
  });

  it("note the test of an account although another one is silent, and say when its own is", async () => {
    const world = await World.of(1, 1, 0);
    const [near, far] = world.shards;
    if (near === undefined || far === undefined) throw new Error("too few shards");
    far.isSilent = true;
    const noted = world.pool.setTestStatus(world.idOf(0), "ok");
    await world.pass(1_600);
    await noted;
    expect(near.pool.health()).toMatchObject([{ testStatus: "ok" }]);
    const failing = expect(world.pool.setTestStatus(world.idOf(1), "ok")).rejects.toMatchObject({
      status: 503,
    });
    await world.pass(1_600);
    await failing;
  });

  it("refuse a request of a key with limits for a while when the one that counts them is silent", async () => {
    const world = await World.of(0, 1, 0);
    const [home] = world.shards;
    if (home !== undefined) home.isSilent = true;
    const use = { id: "1", key: "k", limits: { requests_per_minute: 1 }, tokens: 10, cost: 0 };
    const failing = expect(world.pool.acquire({ requestId: "r", model: "m", use })).rejects.toMatchObject({
      status: 503,
    });
    await world.pass(5_000);
    await failing;
  });

  it("keep nobody waiting for long that counts, or reads, what keys use while the one that counts is silent", async () => {
    const world = await World.of(0, 1, 0);
    const [home] = world.shards;
    if (home === undefined) throw new Error("there is no shard");
    const limits = { requests_per_minute: 5, max_parallel: 5 };
    const use = (id: string) => ({ id, key: "k", limits, tokens: 10, cost: 0 });
    const held = await world.lease({ use: use("1") });
    held.release();
    home.isSilent = true;
    const silent = { status: 503, code: "account_pool_unavailable", headers: { "retry-after": "5" } };
    const told = Promise.all([
      expect(world.pool.settleUsage(use("1"), { tokens: 7, cost: 0 })).rejects.toMatchObject(silent),
      expect(world.pool.countRequest(use("2"))).rejects.toMatchObject(silent),
      expect(world.pool.listSubjectUsage()).rejects.toMatchObject(silent),
    ]);
    await world.pass(5_000);
    await told;
    // What it was told while it was silent is known when it is back.
    home.speakAgain();
    await world.pass(100);
    expect(await world.pool.listSubjectUsage()).toMatchObject([
      { key: "k", parallel: 0, day: { tokens: 17 } },
    ]);
  });

  it("give a slot back whose request cannot begin since the one that counts has fallen silent", async () => {
    const world = await World.of(0, 1, 0);
    const [home, other] = world.shards;
    if (home === undefined || other === undefined) throw new Error("too few shards");
    const use = { id: "1", key: "k", limits: { max_parallel: 1 }, tokens: 10, cost: 0 };
    home.beforeBegun = async () => {
      home.isSilent = true;
    };
    const failing = expect(world.pool.acquire({ requestId: "r", model: "m", use })).rejects.toMatchObject({
      status: 503,
    });
    await world.pass(5_000);
    await failing;
    expect(other.pool.status().in_use).toBe(0);
    home.speakAgain();
    await world.pass(5_000);
    const [used] = await world.pool.listSubjectUsage();
    expect([used?.parallel ?? 0, used?.day.tokens ?? 0]).toEqual([0, 0]);
  });

  it("end a request of a key with limits that the one that counts has not heard of for too long", async () => {
    const world = await World.of(0, 1, 0);
    const [home] = world.shards;
    if (home === undefined) throw new Error("there is no shard");
    const use = { id: "1", key: "k", limits: { max_parallel: 1 }, tokens: 10, cost: 0 };
    const lease = await world.lease({ use });
    home.isSilent = true;
    let told: readonly boolean[] = [true];
    for (let at = 0; at < 13_000 && told[0] === true; at += 500) {
      const renewed: boolean[] = [];
      void lease.renew().then((it) => renewed.push(it));
      await world.pass(500);
      told = renewed;
    }
    await world.pass(1_600);
    expect(told, "it is known after a moment").toEqual([false]);
  });

  it("leave a sick account alone while another pool has one that is well", async () => {
    const world = await World.of(1, 1, 0);
    const sick = await world.lease();
    expect(await sick.reportFailure(failure("account_suspended", "suspended"))).toBe(true);
    sick.release();
    const well = await world.lease();
    expect(well.account.id).toBe(world.idOf(1));
    // Busy is better than sick; and sick is better than none.
    expect(await world.acquire({ waitMs: 500 }, 1_000)).toMatchObject({ refused: "queue_timeout" });
    await well.reportFailure(failure("account_suspended", "suspended"));
    well.release();
    expect((await world.lease()).account.id).toBeTypeOf("string");
  });

  it("know an account by all its names, wherever it is", async () => {
    const world = await World.of(1, 1, 1);
    const [there] = world.accounts[2] ?? [];
    const byMobile = await world.lease({ target: there?.mobile ?? "" });
    expect(byMobile.account.id).toBe(there?.id);
    byMobile.release();
    expect((await world.lease({ target: there?.id.toUpperCase() ?? "" })).account.id).toBe(there?.id);
    expect(await world.acquire({ target: "nobody" }, 1_000)).toMatchObject({ refused: "target_not_found" });
  });

  it("say that there are no accounts only when none has any", async () => {
    const world = await World.of(0, 0, 1);
    const lease = await world.lease();
    expect(lease.account.id).toBe(world.idOf(2));
    expect(await world.acquire({ exclude: [lease.account.id] })).toMatchObject({ refused: "no_accounts" });
  });

  it("count what a key uses in one place, for as long as it is used", async () => {
    const world = await World.of(0, 2, 2);
    const limits = { max_parallel: 2, requests_per_minute: 3 };
    const use = (id: string) => ({ use: { id, key: "k", limits, tokens: 10, cost: 0 } });
    const leases = [await world.lease(use("1")), await world.lease(use("2"))];
    expect(await world.acquire(use("3"))).toMatchObject({
      refused: "limited",
      limit: { limit: "max_parallel" },
    });
    // Longer than anything lives that nobody hears of.
    await world.pass(30_000);
    expect(await world.acquire(use("3"))).toMatchObject({
      refused: "limited",
      limit: { limit: "max_parallel" },
    });
    for (const lease of leases) lease.release();
    const settled = ["1", "2"].map((id) => world.pool.settleUsage(use(id).use, { tokens: 7, cost: 0 }));
    await Promise.all(settled);
    expect(await world.pool.listSubjectUsage()).toMatchObject([
      { key: "k", parallel: 0, day: { tokens: 14 } },
    ]);
    (await world.lease(use("4"))).release();
    expect(await world.acquire(use("5"))).toMatchObject({
      refused: "limited",
      limit: { limit: "requests_per_minute" },
    });
    // One that dies without a word is over in the end.
    await world.pass(15_000);
    expect(await world.pool.listSubjectUsage()).toMatchObject([{ key: "k", parallel: 0 }]);
  });

  it("count nothing for a request that gets no slot", async () => {
    const world = await World.of(0, 1, 0);
    await world.lease();
    const use = { id: "1", key: "k", limits: { requests_per_minute: 1 }, tokens: 10, cost: 0 };
    expect(await world.acquire({ use, waitMs: 100 }, 200)).toMatchObject({ refused: "queue_timeout" });
    expect(await world.pool.listSubjectUsage()).toMatchObject([
      { minute: { requests: 0 }, day: { tokens: 0 } },
    ]);
  });

  it("do not let a request begin uncounted of which its home has heard nothing", async () => {
    const world = await World.of(0, 2, 0);
    const limits = { requests_per_minute: 1 };
    const use = (id: string) => ({ use: { id, key: "k", limits, tokens: 10, cost: 0 } });
    const [home] = world.shards;
    if (home === undefined) throw new Error("there is no shard");
    home.beforeBegun = async () => {
      home.beforeBegun = async () => undefined;
      home.pool.limitedRequests.releaseUnserved("1");
      (await world.lease(use("2"))).release();
    };
    expect(await world.acquire(use("1"))).toMatchObject({
      refused: "limited",
      limit: { limit: "requests_per_minute" },
    });
    home.beforeBegun = async () => home.pool.limitedRequests.releaseUnserved("3");
    await world.pass(61_000);
    await world.lease(use("3"));
    expect(await world.pool.listSubjectUsage()).toMatchObject([{ minute: { requests: 1 }, parallel: 1 }]);
    // Both slots are where they belong.
    expect(await world.pool.getStatus()).toMatchObject({ in_use: 1 });
  });

  it("give a request another slot when its own was lost while its home was slow", async () => {
    const world = await World.of(0, 1, 1);
    const [home, far] = world.shards;
    if (home === undefined || far === undefined) throw new Error("there is no shard");
    home.beforeBegun = async () => {
      home.beforeBegun = async () => undefined;
      await world.clock.after(1_400);
      // Somebody else has it by now.
      const [lost] = far.granted.splice(0);
      if (lost !== undefined) far.pool.release(lost);
      expect(far.pool.acquire({ requestId: "other", model: "m" })).toHaveProperty("granted");
    };
    const use = { id: "1", key: "k", limits: { max_parallel: 1 }, tokens: 10, cost: 0 };
    const acquired = await world.acquire({ use }, 8_000);
    expect(acquired).toMatchObject({ lease: { account: { id: world.idOf(2) } } });
  });

  it("have one status", async () => {
    const world = await World.of(2, 1, 1);
    const lease = await world.lease();
    expect(await world.pool.getStatus()).toMatchObject({
      total: 4,
      in_use: 1,
      available: 3,
      in_use_accounts: [lease.account.id],
      recommended_concurrency: 4,
      global_max_inflight: 4,
      leases: [{ account: lease.account.id }],
    });
    expect(await world.pool.getStatus()).toMatchObject({ partial: false, silent_shards: [] });
    expect((await world.pool.getStatus(2)).available_accounts).toHaveLength(2);
    expect((await world.pool.getHealth()).map(({ id }) => id).sort()).toEqual(
      world.accounts
        .flat()
        .map(({ id }) => id)
        .sort(),
    );
  });
});

describe("limits for all pools together, which the first one counts", () => {
  const status = async ({ pool }: World) => {
    const { in_use, waiting, leases, total, recommended_concurrency } = await pool.getStatus();
    return { in_use, waiting, leases: leases.length, total, recommended: recommended_concurrency };
  };

  it("let no more slots be in use than the global limit, in order of arrival, whatever shard has the account", async () => {
    const world = await World.of(1, 2, 2);
    world.limit({ global: 2 });
    const [first, second] = [await world.lease(), await world.lease()];
    expect(await world.acquire({ waitMs: 0 })).toMatchObject({ refused: "queue_timeout" });
    const third = world.wait({ requestId: "third" });
    await world.pass(100);
    const fourth = world.wait({ requestId: "fourth" });
    await world.pass(5_000);
    expect(await status(world)).toEqual({ in_use: 2, waiting: 2, leases: 2, total: 5, recommended: 5 });
    second.release();
    await world.pass(100);
    expect([third.outcome, fourth.outcome]).toEqual([
      expect.objectContaining({ lease: expect.anything() }),
      null,
    ]);
    first.release();
    await world.pass(100);
    expect(fourth.outcome).toHaveProperty("lease");
    expect(await status(world)).toMatchObject({ in_use: 2, waiting: 0, leases: 2 });
  });

  it("free the account of a request that leaves while it waits for the global limit", async () => {
    const world = await World.of(1, 1, 0);
    world.limit({ global: 1 });
    const lease = await world.lease();
    const waiting = world.wait();
    await world.pass(2_000);
    waiting.leave();
    await world.pass(100);
    expect(waiting.outcome).toEqual({ refused: "cancelled" });
    lease.release();
    expect(await status(world)).toMatchObject({ in_use: 0, waiting: 0, leases: 0 });
    expect(world.shards.map(({ pool }) => pool.status().available)).toEqual([1, 1, 0]);
  });

  it("let no more requests wait than the queue's limit, and evict those of the caller with the most", async () => {
    const world = await World.of(1, 1, 0);
    world.limit({ queue: 2 });
    const held = [await world.lease({ caller: "c" }), await world.lease({ caller: "c" })];
    const greedy = [world.wait({ caller: "a" }), world.wait({ caller: "a" })];
    await world.pass(500);
    expect(await world.acquire({ caller: "a" }, 500)).toEqual({
      refused: "queue_full",
      isFull: true,
    });
    const modest = world.wait({ caller: "b" });
    await world.pass(500);
    expect(greedy.map(({ outcome }) => outcome)).toEqual([null, { refused: "queue_full", isFull: true }]);
    expect(await status(world)).toMatchObject({ in_use: 2, waiting: 2 });
    for (const lease of held) lease.release();
    await world.pass(5_000);
    expect(
      [greedy[0]?.outcome, modest.outcome].map(
        (outcome) => outcome !== null && outcome !== undefined && "lease" in outcome,
      ),
    ).toEqual([true, true]);
    expect(await status(world)).toMatchObject({ in_use: 2, waiting: 0 });
  });

  it("count a request of an earlier version at the first shard, and a pinned one", async () => {
    const world = await World.of(1, 1, 0);
    world.limit({ global: 1 });
    const earlier = world.shards[0]?.pool.acquire({ requestId: "earlier", model: "m" });
    expect(earlier).toHaveProperty("granted");
    expect(await world.acquire({ target: world.idOf(1), waitMs: 0 })).toMatchObject({
      refused: "queue_timeout",
    });
    expect(await world.acquire({ target: "shared-limit:slots" }, 1_000)).toEqual({
      refused: "target_not_found",
    });
  });

  it("end when they are not set any more: what waits for them is served", async () => {
    const world = await World.of(1, 1, 0);
    world.limit({ global: 1, queue: 1 });
    const lease = await world.lease();
    const waiting = world.wait();
    await world.pass(500);
    world.limit({});
    await world.pass(1_000);
    expect(waiting.outcome).toHaveProperty("lease");
    lease.release();
    expect(await status(world)).toMatchObject({ in_use: 1, waiting: 0, total: 2 });
  });

  it("refuse with 503 what they cannot count because the first shard is silent", async () => {
    const world = await World.of(1, 1, 0);
    world.limit({ global: 2 });
    const [first] = world.shards;
    if (first !== undefined) first.isSilent = true;
    const failing = expect(world.pool.acquire({ requestId: "r", model: "m" })).rejects.toMatchObject({
      status: 503,
    });
    await world.pass(7_000);
    await failing;
    first?.speakAgain();
    await world.pass(2_000);
    expect(await status(world)).toMatchObject({ in_use: 0, waiting: 0 });
  });
});
