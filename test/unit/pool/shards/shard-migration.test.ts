import { describe, expect, it } from "vitest";
import type { PoolConfiguration, PoolLayout } from "../../../../src/core/ports/pool-configuration.ts";
import type { AccountPool } from "../../../../src/pool/pool.ts";
import { Waiter } from "../../../../src/pool/queue/waiter.ts";
import type { OccupiedSlots } from "../../../../src/pool/shards/account-handover.ts";
import {
  buildShardConfiguration,
  listAllShards,
  nextLayout,
  settledLayout,
} from "../../../../src/pool/shards/layout.ts";
import { ShardMigration } from "../../../../src/pool/shards/shard-migration.ts";
import { createRandom, SimulatedClock } from "../../../support/pool-simulator/clock.ts";
import { account, LIMITS, request } from "../../../support/pool-simulator/fixtures.ts";
import { MessageLost, Network } from "../../../support/pool-simulator/network.ts";
import { PoolObject } from "../../../support/pool-simulator/pool-object.ts";
import { SlotUsage } from "../../../support/pool-simulator/slot-usage.ts";

const START = 1_800_000_000_000;
const ACCOUNTS = 12;
const SLOTS = 2;
const SEEDS = Number(process.env["SEEDS"] ?? 12);

/** A lease, as its holder uses it. */
interface Use {
  readonly account: string;
  lease: string;
  readonly shard: Shard;
  over: boolean;
}

/** A pool object that exchanges accounts with others, as in `durable-objects/account-pool.ts`. */
class Shard {
  readonly name: string;
  readonly object: PoolObject;
  readonly #deployment: Deployment;
  #migration: ShardMigration;
  #isConfigured = false;

  constructor(deployment: Deployment, name: string) {
    this.#deployment = deployment;
    this.name = name;
    this.object = new PoolObject(deployment.clock);
    this.#migration = this.#createMigration();
  }

  get pool(): AccountPool {
    return this.object.pool;
  }

  #createMigration(): ShardMigration {
    const deployment = this.#deployment;
    return new ShardMigration({
      pool: this.pool.moves,
      setTimer: this.object.setTimer,
      askOccupied: (shard, generation, withStored) =>
        deployment.callShard(this, deployment.shard(shard), (it) =>
          it.countOccupiedSlotsFor(this.name, generation, withStored),
        ),
      onNewerLayout: () => this.fetch(),
      onSettled: (generation) =>
        deployment.callConfiguration(this, () => deployment.settled(this.name, generation)),
    });
  }

  restart(): void {
    this.object.restart();
    this.#isConfigured = false;
    this.#migration = this.#createMigration();
  }

  async ready(): Promise<void> {
    if (!this.#isConfigured) await this.fetch();
  }

  async fetch(): Promise<void> {
    const { restarts } = this.object;
    const part = await this.#deployment.callConfiguration(this, () => this.#deployment.part(this.name));
    if (this.object.restarts === restarts) this.#apply(part);
  }

  async configure(part: PoolConfiguration): Promise<void> {
    await this.ready();
    this.#apply(part);
  }

  async countOccupiedSlotsFor(shard: string, generation: number, withStored: boolean) {
    await this.ready();
    if (this.pool.moves.generation < generation) await this.fetch();
    return this.pool.moves.occupiedSlotsFor(shard, withStored);
  }

  #apply(part: PoolConfiguration): void {
    this.pool.configure(part);
    this.#isConfigured = true;
    this.#migration.onConfigured();
  }
}

/** Shards among which accounts move, a network that loses and reorders messages, and requests that use slots. */
class Deployment {
  readonly clock = new SimulatedClock(START);
  readonly random: () => number;
  readonly network: Network;
  readonly usage = new SlotUsage<Use>(SLOTS);
  readonly uses = new Set<Use>();
  layout: PoolLayout | null = nextLayout(3, null);
  accounts = allAccounts();
  grants = 0;
  isNetworkReliable = false;
  readonly #shards = new Map<string, Shard>();
  readonly #settled = new Set<string>();
  #order = 0;

  constructor(seed: number) {
    const random = createRandom(seed);
    this.random = random;
    this.network = new Network({
      clock: this.clock,
      latency: () => Math.floor((this.isNetworkReliable ? 20 : 400) * random() ** 2),
      isLost: () => !this.isNetworkReliable && random() < 0.1,
    });
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

  /** Calls a shard. The answer is lost if the calling shard restarts meanwhile. */
  async callShard<T>(from: Shard | null, to: Shard, work: (to: Shard) => T | Promise<T>): Promise<T> {
    const restarts = from?.object.restarts;
    const answer = await this.network.call(to.object, { method: "shardStatus" }, () => work(to));
    if (from?.object.restarts !== restarts) throw new MessageLost();
    return answer;
  }

  /** Calls the configuration object, which never restarts. */
  async callConfiguration<T>(from: Shard, work: () => T): Promise<T> {
    const { restarts } = from.object;
    await this.network.travel();
    const answer = work();
    await this.network.travel();
    if (from.object.restarts !== restarts) throw new MessageLost();
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

  /** Sends each shard its part of the configuration. A newer one may overtake it. */
  tell(): void {
    for (const shard of this.shards) {
      const part = this.part(shard.name);
      this.callShard(null, shard, (it) => it.configure(part)).catch(() => undefined);
    }
  }

  /** A request: it acquires a slot of a shard, and uses it for a while. */
  async acquire(shard: Shard): Promise<boolean> {
    await shard.ready().catch(() => undefined);
    const outcome = shard.pool.acquire(request({ waitMs: 0 }));
    if (outcome instanceof Waiter || !("granted" in outcome)) return false;
    const { lease, account: granted } = outcome.granted;
    const use: Use = { account: granted.id, lease, shard, over: false };
    this.grants += 1;
    this.uses.add(use);
    this.usage.begin(use.account, use);
    this.clock.setTimer(this.random() < 0.2 ? 9_000 * this.random() : 500 * this.random(), () =>
      this.end(use),
    );
    return true;
  }

  end(use: Use): void {
    if (use.over) return;
    use.over = true;
    this.uses.delete(use);
    this.usage.end(use.account, use);
    use.shard.pool.release(use.lease);
  }

  /** A shard restarts. Holders of its leases resume them soon, or end. */
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

/** A shard that has just been added to others. The test answers its questions. */
class AddedShard {
  readonly clock = new SimulatedClock(START);
  readonly object = new PoolObject(this.clock);
  readonly migration: ShardMigration;
  readonly #answers: PromiseWithResolvers<OccupiedSlots>[] = [];

  constructor(count: number) {
    const layout = nextLayout(count, null);
    const whole = { accounts: allAccounts(), limits: { ...LIMITS, perAccount: SLOTS } };
    this.pool.configure(
      layout === null ? whole : buildShardConfiguration(whole, layout, `shard-${count - 1}`, 1),
    );
    this.migration = new ShardMigration({
      pool: this.pool.moves,
      setTimer: this.clock.setTimer,
      askOccupied: () => {
        const answer = Promise.withResolvers<OccupiedSlots>();
        this.#answers.push(answer);
        return answer.promise;
      },
      onNewerLayout: async () => undefined,
      onSettled: async () => undefined,
    });
    this.migration.onConfigured();
  }

  get pool(): AccountPool {
    return this.object.pool;
  }

  /** The other shard answers which slots it still holds. */
  async receive(held: OccupiedSlots["held"]): Promise<void> {
    this.#answers.shift()?.resolve({ generation: 1, held });
    await this.clock.pass(1);
  }
}

describe("the status of a pool that accounts move to", () => {
  const state = async (work: Promise<unknown> | null) => {
    if (work === null) return "nothing to wait for";
    const later = new Promise((resolve) => setImmediate(resolve, "unknown"));
    return Promise.race([work.then(() => "known"), later]);
  };

  it("shows no free slot until the other pool has reported held slots", async () => {
    const added = new AddedShard(2);
    const [first] = added.pool.health();
    if (first === undefined) throw new Error("it has no accounts");
    const { allAnswered } = added.migration;
    expect([await state(allAnswered), added.pool.status().available]).toEqual(["unknown", 0]);
    await added.receive({ [first.id]: SLOTS });
    expect([await state(allAnswered), await state(added.migration.allAnswered)]).toEqual([
      "known",
      "nothing to wait for",
    ]);
    const { total, available, available_accounts } = added.pool.status();
    expect(available).toBe(total - 1);
    expect(available_accounts).not.toContain(first.id);
  });

  it("waits while the other pool is silent, and uses its late answer", async () => {
    const added = new AddedShard(3);
    const { allAnswered } = added.migration;
    await added.clock.pass(4_000);
    expect(await state(allAnswered)).toBe("unknown");
    await added.receive({});
    expect(await state(allAnswered)).toBe("known");
  });

  it("does not wait with one pool, or after the move", async () => {
    expect(new AddedShard(1).migration.allAnswered).toBeNull();
    const added = new AddedShard(2);
    const layout = nextLayout(2, null);
    if (layout === null) throw new Error("there is one pool");
    const { allAnswered } = added.migration;
    const whole = { accounts: allAccounts(), limits: LIMITS };
    added.pool.configure(buildShardConfiguration(whole, settledLayout(layout), "shard-1", 2));
    added.migration.onConfigured();
    expect([await state(allAnswered), added.migration.allAnswered]).toEqual(["known", null]);
  });
});

describe("accounts that move between pools", () => {
  it("are granted even if their state cannot be transferred", async () => {
    const clock = new SimulatedClock(START);
    const layout = nextLayout(2, null);
    if (layout === null) throw new Error("there is one pool");
    const { pool } = new PoolObject(clock);
    const whole = { accounts: allAccounts(), limits: LIMITS };
    pool.configure(buildShardConfiguration(whole, layout, "shard-1", 1));
    const settled: number[] = [];
    const migration = new ShardMigration({
      pool: pool.moves,
      setTimer: clock.setTimer,
      askOccupied: async (_shard, generation, andKnown) => {
        if (andKnown) throw new Error("the answer is too large");
        return { generation, held: {} };
      },
      onNewerLayout: async () => undefined,
      onSettled: async (generation) => void settled.push(generation),
    });
    migration.onConfigured();
    expect(pool.acquire(request({ waitMs: 0 }))).toMatchObject({ refused: "queue_timeout" });
    await clock.pass(5_000);
    expect(settled).toEqual([1]);
    expect(pool.acquire(request({ waitMs: 0 }))).toMatchObject({ granted: {} });
  });

  it.each(Array.from({ length: SEEDS }, (_, n) => n + 1))(
    "never exceed their limits and are never lost, for any events of messages and pools (seed %i)",
    async (seed) => {
      const deployment = new Deployment(seed);
      deployment.tell();
      for (let n = 0; n < 400; n += 1) {
        void deployment.step();
        await deployment.clock.pass(Math.floor(60 * deployment.random()));
      }
      expect(deployment.usage.doubleGrants).toBe(0);
      expect(deployment.grants).toBeGreaterThan(50);

      // All is over: every slot can be had, at the pool that it belongs to.
      deployment.isNetworkReliable = true;
      deployment.accounts = allAccounts();
      deployment.tell();
      await deployment.clock.pass(30_000);
      expect([deployment.layout?.earlier, deployment.uses.size]).toEqual([[], 0]);
      let had = 0;
      for (const shard of deployment.shards) while (await deployment.acquire(shard)) had += 1;
      expect([had, deployment.usage.doubleGrants]).toEqual([ACCOUNTS * SLOTS, 0]);
    },
  );
});
