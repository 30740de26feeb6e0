import { describe, expect, it } from "vitest";
import { randomFrom, VirtualClock } from "../../../bench/simulation/clock.ts";
import type { PoolConfiguration, PoolLayout } from "../../../src/core/ports/pool-configuration.ts";
import type { OccupiedSlots } from "../../../src/pool/account-handover.ts";
import { AccountPool } from "../../../src/pool/pool.ts";
import { ShardMigration } from "../../../src/pool/shard-migration.ts";
import {
  buildShardConfiguration,
  listAllShards,
  nextLayout,
  settledLayout,
} from "../../../src/pool/shards/layout.ts";
import { Waiter } from "../../../src/pool/waiter.ts";
import { MemoryPoolStore } from "../../support/memory-pool-store.ts";
import { ObjectTimers } from "../../support/object-timers.ts";
import { account, LIMITS, request } from "./rig.ts";

const START = 1_800_000_000_000;
const ACCOUNTS = 12;
const SLOTS = 2;
const SEEDS = Number(process.env["SEEDS"] ?? 12);

class Lost extends Error {}

/** One lease, as somebody uses it. */
interface Use {
  readonly account: string;
  lease: string;
  readonly shard: Shard;
  over: boolean;
}

/** A pool object: storage that outlives it, and what it does by itself. */
class Shard {
  readonly name: string;
  readonly #world: World;
  readonly #store = new MemoryPoolStore();
  readonly #timers: ObjectTimers;
  start = 0;
  pool: AccountPool;
  #takeover: ShardMigration;
  #configured = false;

  constructor(world: World, name: string) {
    this.#world = world;
    this.#timers = new ObjectTimers(world.clock.setTimer);
    this.name = name;
    [this.pool, this.#takeover] = this.#begin();
  }

  #begin(): [AccountPool, ShardMigration] {
    const { clock } = this.#world;
    const setTimer = this.#timers.set;
    const pool = new AccountPool({ store: this.#store, now: clock.now, setTimer, wakeAt: () => undefined });
    const takeover = new ShardMigration({
      pool: pool.moves,
      setTimer,
      askOccupied: (shard, generation, first) =>
        this.#world.send(this, this.#world.shard(shard), (it) => it.heldFor(this.name, generation, first)),
      onNewerLayout: () => this.fetch(),
      onSettled: (generation) =>
        this.#world.send(this, null, () => this.#world.settled(this.name, generation)),
    });
    return [pool, takeover];
  }

  restart(): void {
    this.#timers.stop();
    this.start += 1;
    this.#configured = false;
    [this.pool, this.#takeover] = this.#begin();
  }

  async ready(): Promise<void> {
    if (!this.#configured) await this.fetch();
  }

  async fetch(): Promise<void> {
    const { start } = this;
    const part = await this.#world.send(this, null, () => this.#world.part(this.name));
    if (this.start === start) this.#take(part);
  }

  async configure(part: PoolConfiguration): Promise<void> {
    await this.ready();
    this.#take(part);
  }

  async heldFor(shard: string, generation: number, first: boolean) {
    await this.ready();
    if (this.pool.moves.generation < generation) await this.fetch();
    return this.pool.moves.occupiedSlotsFor(shard, first);
  }

  #take(part: PoolConfiguration): void {
    this.pool.configure(part);
    this.#configured = true;
    this.#takeover.onConfigured();
  }
}

/** Pools among which accounts move, a network that loses and reorders messages, and users who count. */
class World {
  readonly clock = new VirtualClock(START);
  readonly random: () => number;
  readonly #shards = new Map<string, Shard>();
  layout: PoolLayout | null = nextLayout(3, null);
  accounts = Array.from({ length: ACCOUNTS }, (_, n) => account(`a${n}`, { password: "", token: `t${n}` }));
  #order = 0;
  #settled = new Set<string>();
  readonly uses = new Set<Use>();
  grants = 0;
  isCalm = false;
  readonly wrong: string[] = [];

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  shard(name: string): Shard {
    let shard = this.#shards.get(name);
    if (shard === undefined) {
      shard = new Shard(this, name);
      this.#shards.set(name, shard);
    }
    return shard;
  }

  get shards(): Shard[] {
    return this.layout === null ? [] : listAllShards(this.layout).map((name) => this.shard(name));
  }

  /** A message and its answer, each of which may be late, or lost; and one of an object that has ended since fails. */
  async send<T>(from: Shard | null, to: Shard | null, work: (to: Shard) => T | Promise<T>): Promise<T> {
    const one = async () => {
      await this.clock.after(Math.floor((this.isCalm ? 20 : 400) * this.random() ** 2));
      if (!this.isCalm && this.random() < 0.1) throw new Lost();
    };
    const begun = from?.start;
    await one();
    const start = to?.start;
    const answer = await work(to ?? this.shard("nobody"));
    if (to?.start !== start) throw new Lost();
    await one();
    if (from?.start !== begun) throw new Lost();
    return answer;
  }

  part(name: string): PoolConfiguration {
    if (this.layout === null) throw new Error("there is one pool");
    this.#order += 1;
    const limits = { ...LIMITS, perAccount: SLOTS };
    return buildShardConfiguration({ accounts: this.accounts, limits }, this.layout, name, this.#order);
  }

  settled(name: string, generation: number): void {
    if (this.layout?.generation !== generation) return;
    this.#settled.add(name);
    if (!this.layout.shards.every((shard) => this.#settled.has(shard))) return;
    this.layout = settledLayout(this.layout);
    this.tell();
  }

  resize(count: number): void {
    const before = this.layout?.generation;
    this.layout = nextLayout(count, this.layout);
    if (this.layout?.generation !== before) this.#settled.clear();
    this.tell();
  }

  /** Somebody else may have been told more by the time that one hears of it. */
  tell(): void {
    for (const shard of this.shards) {
      const part = this.part(shard.name);
      this.send(null, shard, (it) => it.configure(part)).catch(() => undefined);
    }
  }

  /** Somebody asks a pool for a slot, and uses it for a while. */
  async acquire(shard: Shard): Promise<boolean> {
    await shard.ready().catch(() => undefined);
    const outcome = shard.pool.acquire(request({ waitMs: 0 }));
    if (outcome instanceof Waiter || !("granted" in outcome)) return false;
    const { lease, account: granted } = outcome.granted;
    const use: Use = { account: granted.id, lease, shard, over: false };
    this.grants += 1;
    this.uses.add(use);
    const inUse = [...this.uses].filter((other) => other.account === use.account).length;
    if (inUse > SLOTS) this.wrong.push(`${use.account} is used ${inUse} times`);
    this.clock.setTimer(this.random() < 0.2 ? 9_000 * this.random() : 500 * this.random(), () =>
      this.end(use),
    );
    return true;
  }

  end(use: Use): void {
    if (use.over) return;
    use.over = true;
    this.uses.delete(use);
    use.shard.pool.release(use.lease);
  }

  /** Whoever has a slot of it takes it over soon, or ends. */
  restart(shard: Shard): void {
    shard.restart();
    for (const use of this.uses) {
      if (use.shard !== shard) continue;
      this.clock.setTimer(1_100 * this.random(), () => {
        if (use.over) return;
        const holder = { requestId: "r", model: "m", dialect: "", caller: "" };
        const name = this.random() < 0.3 ? null : shard.pool.resumeLease(use.lease, use.account, holder);
        if (name === null) this.end(use);
        else use.lease = name;
      });
    }
  }

  async step(): Promise<void> {
    const { shards, random } = this;
    const any = () => shards[Math.floor(random() * shards.length)];
    const chance = random();
    const shard = any();
    if (shard === undefined) return;
    if (chance < 0.9) await this.acquire(shard);
    else if (chance < 0.93) this.restart(shard);
    else if (chance < 0.96) this.tell();
    else if (chance < 0.975) this.resize(1 + Math.floor(5 * random()));
    else {
      const [first, ...others] = this.accounts;
      // One is taken away, or comes back.
      this.accounts = first !== undefined && random() < 0.5 ? others : allAccounts();
      this.tell();
    }
  }
}

const allAccounts = () =>
  Array.from({ length: ACCOUNTS }, (_, n) => account(`a${n}`, { password: "", token: `t${n}` }));

/** A pool that has just been added to another one, and what comes of its asking. */
class Added {
  readonly clock = new VirtualClock(START);
  readonly pool: AccountPool;
  readonly takeover: ShardMigration;
  readonly #answers: PromiseWithResolvers<OccupiedSlots>[] = [];

  constructor(count: number) {
    const layout = nextLayout(count, null);
    const { now, setTimer } = this.clock;
    this.pool = new AccountPool({ store: new MemoryPoolStore(), now, setTimer, wakeAt: () => undefined });
    const whole = { accounts: allAccounts(), limits: { ...LIMITS, perAccount: SLOTS } };
    this.pool.configure(
      layout === null ? whole : buildShardConfiguration(whole, layout, `shard-${count - 1}`, 1),
    );
    this.takeover = new ShardMigration({
      pool: this.pool.moves,
      setTimer,
      askOccupied: () => {
        const answer = Promise.withResolvers<OccupiedSlots>();
        this.#answers.push(answer);
        return answer.promise;
      },
      onNewerLayout: async () => undefined,
      onSettled: async () => undefined,
    });
    this.takeover.onConfigured();
  }

  /** The other pool says what it still holds. */
  async hears(held: OccupiedSlots["held"]): Promise<void> {
    this.#answers.shift()?.resolve({ generation: 1, held });
    await this.clock.runUntil(this.clock.now() + 1);
  }
}

describe("the status of a pool that accounts move to", () => {
  const state = async (work: Promise<unknown> | null) => {
    if (work === null) return "nothing to wait for";
    const later = new Promise((resolve) => setImmediate(resolve, "unknown"));
    return Promise.race([work.then(() => "known"), later]);
  };

  it("waits until it is known what is held elsewhere: until then no free slot is known of", async () => {
    const added = new Added(2);
    const [first] = added.pool.health();
    if (first === undefined) throw new Error("it has no accounts");
    const { allAnswered } = added.takeover;
    expect([await state(allAnswered), added.pool.status().available]).toEqual(["unknown", 0]);
    await added.hears({ [first.id]: SLOTS });
    expect([await state(allAnswered), await state(added.takeover.allAnswered)]).toEqual([
      "known",
      "nothing to wait for",
    ]);
    const { total, available, available_accounts } = added.pool.status();
    expect(available).toBe(total - 1);
    expect(available_accounts).not.toContain(first.id);
  });

  it("goes on waiting while the other one is silent, and knows by its late answer", async () => {
    const added = new Added(3);
    const { allAnswered } = added.takeover;
    await added.clock.runUntil(START + 4_000);
    expect(await state(allAnswered)).toBe("unknown");
    await added.hears({});
    expect(await state(allAnswered)).toBe("known");
  });

  it("waits for nothing where there is one pool, or all is settled", async () => {
    expect(new Added(1).takeover.allAnswered).toBeNull();
    const added = new Added(2);
    const layout = nextLayout(2, null);
    if (layout === null) throw new Error("there is one pool");
    const { allAnswered } = added.takeover;
    const whole = { accounts: allAccounts(), limits: LIMITS };
    added.pool.configure(buildShardConfiguration(whole, settledLayout(layout), "shard-1", 2));
    added.takeover.onConfigured();
    expect([await state(allAnswered), added.takeover.allAnswered]).toEqual(["known", null]);
  });
});

describe("accounts that move between pools", () => {
  it("are granted although what was known of them cannot be told", async () => {
    const clock = new VirtualClock(START);
    const layout = nextLayout(2, null);
    if (layout === null) throw new Error("there is one pool");
    const store = new MemoryPoolStore();
    const { now, setTimer } = clock;
    const pool = new AccountPool({ store, now, setTimer, wakeAt: () => undefined });
    const whole = { accounts: allAccounts(), limits: LIMITS };
    pool.configure(buildShardConfiguration(whole, layout, "shard-1", 1));
    const settled: number[] = [];
    const takeover = new ShardMigration({
      pool: pool.moves,
      setTimer,
      askOccupied: async (_shard, generation, andKnown) => {
        if (andKnown) throw new Error("the answer is too large");
        return { generation, held: {} };
      },
      onNewerLayout: async () => undefined,
      onSettled: async (generation) => void settled.push(generation),
    });
    takeover.onConfigured();
    expect(pool.acquire(request({ waitMs: 0 }))).toMatchObject({ refused: "queue_timeout" });
    await clock.runUntil(START + 5_000);
    expect(settled).toEqual([1]);
    expect(pool.acquire(request({ waitMs: 0 }))).toMatchObject({ granted: {} });
  });

  it.each(Array.from({ length: SEEDS }, (_, n) => n + 1))(
    "are never used more often than they may, whatever happens to messages and pools; none is lost (seed %i)",
    async (seed) => {
      const world = new World(seed);
      world.tell();
      for (let n = 0; n < 400; n += 1) {
        void world.step();
        await world.clock.runUntil(world.clock.now() + Math.floor(60 * world.random()));
      }
      expect(world.wrong).toEqual([]);
      expect(world.grants).toBeGreaterThan(50);

      // All is over: every slot can be had, at the pool that it belongs to.
      world.isCalm = true;
      world.accounts = allAccounts();
      world.tell();
      await world.clock.runUntil(world.clock.now() + 30_000);
      expect([world.layout?.earlier, world.uses.size]).toEqual([[], 0]);
      let had = 0;
      for (const shard of world.shards) while (await world.acquire(shard)) had += 1;
      expect([had, world.wrong]).toEqual([ACCOUNTS * SLOTS, []]);
    },
  );
});
