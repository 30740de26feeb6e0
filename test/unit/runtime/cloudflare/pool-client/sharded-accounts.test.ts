import { describe, expect, it, vi } from "vitest";
import type { AcquireRequest, AcquireResult, Lease } from "../../../../../src/core/ports/accounts.ts";
import type { PoolAccount } from "../../../../../src/core/ports/pool-configuration.ts";
import { buildShardConfiguration } from "../../../../../src/pool/shards/layout.ts";
import { ShardMap } from "../../../../../src/pool/shards/shard-map.ts";
import { ShardClient } from "../../../../../src/runtime/cloudflare/pool-client/shard-client.ts";
import { ShardedAccountPool } from "../../../../../src/runtime/cloudflare/pool-client/sharded-accounts.ts";
import { failure } from "../../../../support/failures.ts";
import { SimulatedClock } from "../../../../support/pool-simulator/clock.ts";
import { account, LIMITS } from "../../../../support/pool-simulator/fixtures.ts";
import { Network } from "../../../../support/pool-simulator/network.ts";
import { PoolObject } from "../../../../support/pool-simulator/pool-object.ts";
import { createPoolStub } from "../../../../support/pool-simulator/pool-stub.ts";

const START = 1_800_000_000_000;
const NAMES = ["near", "far", "farther"];

/** Runs `work` when the next message arrives that a request has got its slot, before the shard acts on it. */
function onceBegun(shard: PoolObject, work: () => void | Promise<void>): void {
  shard.onCall = async ({ method }) => {
    if (method !== "startUse") return;
    shard.onCall = () => undefined;
    await work();
  };
}

/** Three shards, the first of which is the nearest, with so many accounts of each. */
class Deployment {
  readonly clock = new SimulatedClock(START);
  readonly shards = NAMES.map(() => new PoolObject(this.clock));
  readonly pool: ShardedAccountPool;
  readonly accounts: readonly (readonly PoolAccount[])[];
  #order = 0;

  constructor(...counts: readonly number[]) {
    const clock = { now: this.clock.now, setTimer: this.clock.setTimer, waitUntil: () => undefined };
    const network = new Network({ clock });
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
        client: new ShardClient(() => createPoolStub(shard, network), clock),
      })),
      clock,
      place: () => ({ continent: "", longitude: Number.NaN }),
      distance: (region) => NAMES.indexOf(region),
      turn: 0,
    });
  }

  static async of(...counts: readonly number[]): Promise<Deployment> {
    const deployment = new Deployment(...counts);
    deployment.limit({});
    return deployment;
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

  async pass(ms: number): Promise<void> {
    await this.clock.pass(ms);
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

describe("the client of several pools", () => {
  it("asks pools from the nearest on, and only as far as necessary", async () => {
    const deployment = await Deployment.of(1, 1, 1);
    const calls = deployment.shards.map((shard) => vi.spyOn(shard, "onCall"));
    const first = await deployment.lease();
    expect(first.account.id).toBe(deployment.idOf(0));
    expect(calls.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
    expect((await deployment.lease()).account.id).toBe(deployment.idOf(1));
    expect((await deployment.lease()).account.id).toBe(deployment.idOf(2));
    expect(await deployment.acquire({ waitMs: 0 })).toMatchObject({ refused: "queue_timeout" });
    first.release();
    await deployment.pass(500);
    expect((await deployment.lease()).account.id).toBe(deployment.idOf(0));
  });

  it("lets a request wait, and gives it the first free slot of any pool", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    const [, far] = [await deployment.lease(), await deployment.lease()];
    const waiting = deployment.pool.acquire({ requestId: "w", model: "m", waitMs: 60_000 });
    await deployment.pass(100);
    far.release();
    await deployment.pass(5_000);
    expect(await waiting).toMatchObject({ lease: { account: { id: deployment.idOf(1) } } });
    expect(await deployment.pool.getStatus()).toMatchObject({ in_use: 2, waiting: 0 });
  });

  it("lets a request wait at another pool if its own becomes unreachable", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    const [near] = deployment.shards;
    const [, far] = [await deployment.lease(), await deployment.lease()];
    if (near === undefined) throw new Error("there is no shard");
    near.onCall = ({ request }) => {
      if (request !== undefined && request.waitMs !== 0) throw new Error("the object is gone");
    };
    await deployment.pass(500);
    const waiting = deployment.pool.acquire({ requestId: "w", model: "m", waitMs: 60_000 });
    await deployment.pass(100);
    far.release();
    await deployment.pass(5_000);
    expect(await waiting).toMatchObject({ lease: { account: { id: deployment.idOf(1) } } });
  });

  it("skips a silent pool", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    const [near] = deployment.shards;
    if (near !== undefined) near.isSilent = true;
    expect(await deployment.acquire({}, 1_600)).toMatchObject({
      lease: { account: { id: deployment.idOf(1) } },
    });
  });

  it("refuses a request after its maximum wait if all pools are silent, and releases late slots", async () => {
    const deployment = await Deployment.of(1, 1, 1);
    for (const shard of deployment.shards) shard.isSilent = true;
    const [near] = deployment.shards;
    expect(await deployment.acquire({ waitMs: 4_000 }, 4_600)).toMatchObject({ refused: "queue_timeout" });
    const releases = deployment.shards.map(({ pool }) => vi.spyOn(pool, "release"));
    for (const shard of deployment.shards) shard.answerAgain();
    await deployment.pass(100);
    expect(releases.map(({ mock }) => mock.results.map(({ value }) => value))).toEqual([
      [true],
      [true],
      [true],
    ]);
    expect(await deployment.pool.getStatus()).toMatchObject({ in_use: 0, waiting: 0 });
    // One that may not wait is passed on all the same.
    if (near !== undefined) near.isSilent = true;
    await deployment.pass(4_000);
    expect(await deployment.acquire({ waitMs: 0 }, 1_600)).toMatchObject({ lease: { account: {} } });
  });

  it("refuses a waiting request soon after its maximum wait if all pools have fallen silent", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    const held = [await deployment.lease(), await deployment.lease()];
    await deployment.pass(500);
    let outcome: AcquireResult | null = null;
    void deployment.pool.acquire({ requestId: "w", model: "m", waitMs: 5_000 }).then((it) => {
      outcome = it;
    });
    await deployment.pass(4_000);
    for (const shard of deployment.shards) shard.isSilent = true;
    await deployment.pass(5_200);
    expect(outcome).toEqual({ refused: "queue_timeout" });
    expect(deployment.shards.map(({ pool }) => pool.status().waiting)).toEqual([0, 0, 0]);
    for (const lease of held) lease.release();
  });

  it("refuses a request whose caller has left while all pools were silent", async () => {
    const deployment = await Deployment.of(1, 0, 0);
    for (const shard of deployment.shards) shard.isSilent = true;
    const caller = new AbortController();
    let outcome: AcquireResult | null = null;
    void deployment.pool.acquire({ requestId: "w", model: "m" }, caller.signal).then((it) => {
      outcome = it;
    });
    await deployment.pass(4_000);
    caller.abort();
    await deployment.pass(700);
    expect(outcome).toEqual({ refused: "cancelled" });
  });

  it("answers without a silent pool, and fails only if all are silent", async () => {
    const deployment = await Deployment.of(1, 1, 1);
    const [near, far, farther] = deployment.shards;
    if (near === undefined || far === undefined || farther === undefined) throw new Error("too few shards");
    const sick = await deployment.lease();
    far.isSilent = true;
    let isOtherWell: boolean | null = null;
    void sick.reportFailure(failure("account_suspended", "suspended")).then((it) => {
      isOtherWell = it;
    });
    await deployment.pass(100);
    expect(isOtherWell).toBe(true);
    const read = deployment.pool.getStatus();
    await deployment.pass(1_600);
    expect(await read).toMatchObject({ total: 2, partial: true, silent_shards: ["far"] });
    for (const shard of deployment.shards) shard.isSilent = true;
    const failing = expect(deployment.pool.getStatus()).rejects.toThrow("does not answer");
    await deployment.pass(1_600);
    await failing;
  });

  it("finds a pinned account beside silent pools, and answers 503 if the account may be in one of them", async () => {
    const deployment = await Deployment.of(1, 1, 1);
    const [near, far] = deployment.shards;
    const [there] = deployment.accounts[2] ?? [];
    if (near === undefined || far === undefined) throw new Error("too few shards");
    near.isSilent = true;
    far.isSilent = true;
    expect(await deployment.acquire({ target: there?.mobile ?? "" }, 8_000)).toMatchObject({
      lease: { account: { id: there?.id } },
    });
    for (const target of [deployment.idOf(0), deployment.accounts[1]?.[0]?.mobile ?? "", "nobody"]) {
      const failures = expect(
        deployment.pool.acquire({ requestId: "r", model: "m", target }),
      ).rejects.toMatchObject({
        status: 503,
        code: "account_pool_unavailable",
        headers: { "retry-after": "5" },
      });
      await deployment.pass(8_000);
      await failures;
    }
  });

  it("does not let a request wait at a silent pool", async () => {
    const deployment = await Deployment.of(2, 0, 0);
    const [near] = deployment.shards;
    const held = [0, 1].map(() => near?.pool.acquire({ requestId: "h", model: "m" }));
    const waits = ["", deployment.idOf(0)].map((target) =>
      deployment.pool.acquire({ requestId: "r", model: "m", ...(target === "" ? {} : { target }) }),
    );
    const failures = Promise.all(
      waits.map((waiting) => expect(waiting).rejects.toMatchObject({ status: 503 })),
    );
    // That it takes long says nothing.
    await deployment.pass(8_000);
    expect(await deployment.pool.getStatus()).toMatchObject({ in_use: 2, waiting: 2 });
    if (near !== undefined) near.isSilent = true;
    for (const one of held) if (one !== undefined && "granted" in one) near?.pool.renew(one.granted.lease);
    await deployment.pass(11_000);
    await failures;
    expect(near?.pool.status()).toMatchObject({ in_use: 2, waiting: 0 });
  });

  it("stores the test of an account while another pool is silent, and fails if the account's own is", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    const [near, far] = deployment.shards;
    if (near === undefined || far === undefined) throw new Error("too few shards");
    far.isSilent = true;
    const noted = deployment.pool.setTestStatus(deployment.idOf(0), "ok");
    await deployment.pass(1_600);
    await noted;
    expect(near.pool.health()).toMatchObject([{ testStatus: "ok" }]);
    const failing = expect(deployment.pool.setTestStatus(deployment.idOf(1), "ok")).rejects.toMatchObject({
      status: 503,
    });
    await deployment.pass(1_600);
    await failing;
  });

  it("refuses a request of a limited key with 503 if the pool that counts it is silent", async () => {
    const deployment = await Deployment.of(0, 1, 0);
    const [home] = deployment.shards;
    if (home !== undefined) home.isSilent = true;
    const use = { id: "1", key: "k", limits: { requests_per_minute: 1 }, tokens: 10, cost: 0 };
    const failing = expect(
      deployment.pool.acquire({ requestId: "r", model: "m", use }),
    ).rejects.toMatchObject({
      status: 503,
    });
    await deployment.pass(5_000);
    await failing;
  });

  it("answers 503 within seconds if the pool that counts usage is silent, and the usage counts once it answers again", async () => {
    const deployment = await Deployment.of(0, 1, 0);
    const [home] = deployment.shards;
    if (home === undefined) throw new Error("there is no shard");
    const limits = { requests_per_minute: 5, max_parallel: 5 };
    const use = (id: string) => ({ id, key: "k", limits, tokens: 10, cost: 0 });
    const held = await deployment.lease({ use: use("1") });
    held.release();
    home.isSilent = true;
    const silent = { status: 503, code: "account_pool_unavailable", headers: { "retry-after": "5" } };
    const failures = Promise.all([
      expect(deployment.pool.settleUsage(use("1"), { tokens: 7, cost: 0 })).rejects.toMatchObject(silent),
      expect(deployment.pool.countRequest(use("2"))).rejects.toMatchObject(silent),
      expect(deployment.pool.listSubjectUsage()).rejects.toMatchObject(silent),
    ]);
    await deployment.pass(5_000);
    await failures;
    // After its silence the shard has the messages that it got meanwhile.
    home.answerAgain();
    await deployment.pass(100);
    expect(await deployment.pool.listSubjectUsage()).toMatchObject([
      { key: "k", parallel: 0, day: { tokens: 17 } },
    ]);
  });

  it("releases the slot of a request that cannot begin because the pool that counts it has fallen silent", async () => {
    const deployment = await Deployment.of(0, 1, 0);
    const [home, other] = deployment.shards;
    if (home === undefined || other === undefined) throw new Error("too few shards");
    const use = { id: "1", key: "k", limits: { max_parallel: 1 }, tokens: 10, cost: 0 };
    onceBegun(home, () => {
      home.isSilent = true;
    });
    const failing = expect(
      deployment.pool.acquire({ requestId: "r", model: "m", use }),
    ).rejects.toMatchObject({
      status: 503,
    });
    await deployment.pass(5_000);
    await failing;
    expect(other.pool.status().in_use).toBe(0);
    home.answerAgain();
    await deployment.pass(5_000);
    const [used] = await deployment.pool.listSubjectUsage();
    expect([used?.parallel ?? 0, used?.day.tokens ?? 0]).toEqual([0, 0]);
  });

  it("ends a request of a limited key if the pool that counts it is silent for too long", async () => {
    const deployment = await Deployment.of(0, 1, 0);
    const [home] = deployment.shards;
    if (home === undefined) throw new Error("there is no shard");
    const use = { id: "1", key: "k", limits: { max_parallel: 1 }, tokens: 10, cost: 0 };
    const lease = await deployment.lease({ use });
    home.isSilent = true;
    let held: readonly boolean[] = [true];
    for (let at = 0; at < 13_000 && held[0] === true; at += 500) {
      const renewed: boolean[] = [];
      void lease.renew().then((it) => renewed.push(it));
      await deployment.pass(500);
      held = renewed;
    }
    await deployment.pass(1_600);
    expect(held, "it is known after a moment").toEqual([false]);
  });

  it("does not use a failing account while another pool has a healthy one", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    const sick = await deployment.lease();
    expect(await sick.reportFailure(failure("account_suspended", "suspended"))).toBe(true);
    sick.release();
    const well = await deployment.lease();
    expect(well.account.id).toBe(deployment.idOf(1));
    // Busy is better than sick; and sick is better than none.
    expect(await deployment.acquire({ waitMs: 500 }, 1_000)).toMatchObject({ refused: "queue_timeout" });
    await well.reportFailure(failure("account_suspended", "suspended"));
    well.release();
    expect((await deployment.lease()).account.id).toBeTypeOf("string");
  });

  it("finds an account by each of its names in any pool", async () => {
    const deployment = await Deployment.of(1, 1, 1);
    const [there] = deployment.accounts[2] ?? [];
    const byMobile = await deployment.lease({ target: there?.mobile ?? "" });
    expect(byMobile.account.id).toBe(there?.id);
    byMobile.release();
    expect((await deployment.lease({ target: there?.id.toUpperCase() ?? "" })).account.id).toBe(there?.id);
    expect(await deployment.acquire({ target: "nobody" }, 1_000)).toMatchObject({
      refused: "target_not_found",
    });
  });

  it("reports a lack of accounts only if no pool has any", async () => {
    const deployment = await Deployment.of(0, 0, 1);
    const lease = await deployment.lease();
    expect(lease.account.id).toBe(deployment.idOf(2));
    expect(await deployment.acquire({ exclude: [lease.account.id] })).toMatchObject({
      refused: "no_accounts",
    });
  });

  it("counts the usage of a key at one pool, as long as its requests run", async () => {
    const deployment = await Deployment.of(0, 2, 2);
    const limits = { max_parallel: 2, requests_per_minute: 3 };
    const use = (id: string) => ({ use: { id, key: "k", limits, tokens: 10, cost: 0 } });
    const leases = [await deployment.lease(use("1")), await deployment.lease(use("2"))];
    expect(await deployment.acquire(use("3"))).toMatchObject({
      refused: "limited",
      limit: { limit: "max_parallel" },
    });
    // Longer than a lease lives without a heartbeat.
    await deployment.pass(30_000);
    expect(await deployment.acquire(use("3"))).toMatchObject({
      refused: "limited",
      limit: { limit: "max_parallel" },
    });
    for (const lease of leases) lease.release();
    const settled = ["1", "2"].map((id) => deployment.pool.settleUsage(use(id).use, { tokens: 7, cost: 0 }));
    await Promise.all(settled);
    expect(await deployment.pool.listSubjectUsage()).toMatchObject([
      { key: "k", parallel: 0, day: { tokens: 14 } },
    ]);
    (await deployment.lease(use("4"))).release();
    expect(await deployment.acquire(use("5"))).toMatchObject({
      refused: "limited",
      limit: { limit: "requests_per_minute" },
    });
    // One that dies without a word is over in the end.
    await deployment.pass(15_000);
    expect(await deployment.pool.listSubjectUsage()).toMatchObject([{ key: "k", parallel: 0 }]);
  });

  it("counts nothing for a request that gets no slot", async () => {
    const deployment = await Deployment.of(0, 1, 0);
    await deployment.lease();
    const use = { id: "1", key: "k", limits: { requests_per_minute: 1 }, tokens: 10, cost: 0 };
    expect(await deployment.acquire({ use, waitMs: 100 }, 200)).toMatchObject({ refused: "queue_timeout" });
    expect(await deployment.pool.listSubjectUsage()).toMatchObject([
      { minute: { requests: 0 }, day: { tokens: 0 } },
    ]);
  });

  it("does not start a request uncounted if the pool that counts it has lost it", async () => {
    const deployment = await Deployment.of(0, 2, 0);
    const limits = { requests_per_minute: 1 };
    const use = (id: string) => ({ use: { id, key: "k", limits, tokens: 10, cost: 0 } });
    const [home] = deployment.shards;
    if (home === undefined) throw new Error("there is no shard");
    onceBegun(home, async () => {
      home.pool.limitedRequests.releaseUnserved("1");
      (await deployment.lease(use("2"))).release();
    });
    expect(await deployment.acquire(use("1"))).toMatchObject({
      refused: "limited",
      limit: { limit: "requests_per_minute" },
    });
    onceBegun(home, () => home.pool.limitedRequests.releaseUnserved("3"));
    await deployment.pass(61_000);
    await deployment.lease(use("3"));
    expect(await deployment.pool.listSubjectUsage()).toMatchObject([
      { minute: { requests: 1 }, parallel: 1 },
    ]);
    // Both slots are where they belong.
    expect(await deployment.pool.getStatus()).toMatchObject({ in_use: 1 });
  });

  it("gives a request another slot if its own was lost while it was being counted", async () => {
    const deployment = await Deployment.of(0, 1, 1);
    const [home, far] = deployment.shards;
    if (home === undefined || far === undefined) throw new Error("there is no shard");
    const granted = vi.spyOn(far.pool, "acquire");
    onceBegun(home, async () => {
      await deployment.clock.after(1_400);
      // Another request has it by now.
      const [outcome] = granted.mock.results;
      if (outcome?.type !== "return" || !("granted" in outcome.value)) throw new Error("no slot was granted");
      far.pool.release(outcome.value.granted.lease);
      expect(far.pool.acquire({ requestId: "other", model: "m" })).toHaveProperty("granted");
    });
    const use = { id: "1", key: "k", limits: { max_parallel: 1 }, tokens: 10, cost: 0 };
    const acquired = await deployment.acquire({ use }, 8_000);
    expect(acquired).toMatchObject({ lease: { account: { id: deployment.idOf(2) } } });
  });

  it("combines the status of all pools", async () => {
    const deployment = await Deployment.of(2, 1, 1);
    const lease = await deployment.lease();
    expect(await deployment.pool.getStatus()).toMatchObject({
      total: 4,
      in_use: 1,
      available: 3,
      in_use_accounts: [lease.account.id],
      recommended_concurrency: 4,
      global_max_inflight: 4,
      leases: [{ account: lease.account.id }],
    });
    expect(await deployment.pool.getStatus()).toMatchObject({ partial: false, silent_shards: [] });
    expect((await deployment.pool.getStatus(2)).available_accounts).toHaveLength(2);
    expect((await deployment.pool.getHealth()).map(({ id }) => id).sort()).toEqual(
      deployment.accounts
        .flat()
        .map(({ id }) => id)
        .sort(),
    );
  });
});

describe("the client of several pools with common limits", () => {
  const status = async ({ pool }: Deployment) => {
    const { in_use, waiting, leases, total, recommended_concurrency } = await pool.getStatus();
    return { in_use, waiting, leases: leases.length, total, recommended: recommended_concurrency };
  };

  it("never uses more slots than the global limit, in any pool, and serves in order of arrival", async () => {
    const deployment = await Deployment.of(1, 2, 2);
    deployment.limit({ global: 2 });
    const [first, second] = [await deployment.lease(), await deployment.lease()];
    expect(await deployment.acquire({ waitMs: 0 })).toMatchObject({ refused: "queue_timeout" });
    const third = deployment.wait({ requestId: "third" });
    await deployment.pass(100);
    const fourth = deployment.wait({ requestId: "fourth" });
    await deployment.pass(5_000);
    expect(await status(deployment)).toEqual({ in_use: 2, waiting: 2, leases: 2, total: 5, recommended: 5 });
    second.release();
    await deployment.pass(100);
    expect([third.outcome, fourth.outcome]).toEqual([
      expect.objectContaining({ lease: expect.anything() }),
      null,
    ]);
    first.release();
    await deployment.pass(100);
    expect(fourth.outcome).toHaveProperty("lease");
    expect(await status(deployment)).toMatchObject({ in_use: 2, waiting: 0, leases: 2 });
  });

  it("frees the account of a request that leaves while it waits", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    deployment.limit({ global: 1 });
    const lease = await deployment.lease();
    const waiting = deployment.wait();
    await deployment.pass(2_000);
    waiting.leave();
    await deployment.pass(100);
    expect(waiting.outcome).toEqual({ refused: "cancelled" });
    lease.release();
    expect(await status(deployment)).toMatchObject({ in_use: 0, waiting: 0, leases: 0 });
    expect(deployment.shards.map(({ pool }) => pool.status().available)).toEqual([1, 1, 0]);
  });

  it("lets no more requests wait than the queue's limit, and evicts those of the caller with the most", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    deployment.limit({ queue: 2 });
    const held = [await deployment.lease({ caller: "c" }), await deployment.lease({ caller: "c" })];
    const greedy = [deployment.wait({ caller: "a" }), deployment.wait({ caller: "a" })];
    await deployment.pass(500);
    expect(await deployment.acquire({ caller: "a" }, 500)).toEqual({
      refused: "queue_full",
      isFull: true,
    });
    const modest = deployment.wait({ caller: "b" });
    await deployment.pass(500);
    expect(greedy.map(({ outcome }) => outcome)).toEqual([null, { refused: "queue_full", isFull: true }]);
    expect(await status(deployment)).toMatchObject({ in_use: 2, waiting: 2 });
    for (const lease of held) lease.release();
    await deployment.pass(5_000);
    expect(
      [greedy[0]?.outcome, modest.outcome].map(
        (outcome) => outcome !== null && outcome !== undefined && "lease" in outcome,
      ),
    ).toEqual([true, true]);
    expect(await status(deployment)).toMatchObject({ in_use: 2, waiting: 0 });
  });

  it("counts requests of an earlier version at the first pool, and pinned ones", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    deployment.limit({ global: 1 });
    const earlier = deployment.shards[0]?.pool.acquire({ requestId: "earlier", model: "m" });
    expect(earlier).toHaveProperty("granted");
    expect(await deployment.acquire({ target: deployment.idOf(1), waitMs: 0 })).toMatchObject({
      refused: "queue_timeout",
    });
    expect(await deployment.acquire({ target: "shared-limit:slots" }, 1_000)).toEqual({
      refused: "target_not_found",
    });
  });

  it("serves waiting requests when the limits are removed", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    deployment.limit({ global: 1, queue: 1 });
    const lease = await deployment.lease();
    const waiting = deployment.wait();
    await deployment.pass(500);
    deployment.limit({});
    await deployment.pass(1_000);
    expect(waiting.outcome).toHaveProperty("lease");
    lease.release();
    expect(await status(deployment)).toMatchObject({ in_use: 1, waiting: 0, total: 2 });
  });

  it("refuses requests with 503 if the first pool is silent", async () => {
    const deployment = await Deployment.of(1, 1, 0);
    deployment.limit({ global: 2 });
    const [first] = deployment.shards;
    if (first !== undefined) first.isSilent = true;
    const failing = expect(deployment.pool.acquire({ requestId: "r", model: "m" })).rejects.toMatchObject({
      status: 503,
    });
    await deployment.pass(7_000);
    await failing;
    first?.answerAgain();
    await deployment.pass(2_000);
    expect(await status(deployment)).toMatchObject({ in_use: 0, waiting: 0 });
  });
});
