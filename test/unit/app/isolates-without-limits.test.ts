import { describe, expect, test } from "vitest";
import type { Config } from "../../../src/core/config/schema.ts";
import type { ConfigChange } from "../../../src/core/config/snapshot.ts";
import type { AcquireRequest, AcquireResult } from "../../../src/core/ports/accounts.ts";
import { WALL_CLOCK } from "../../../src/core/ports/clock.ts";
import { needsNoAccount } from "../../../src/gateway/providers/drivers.ts";
import { buildPoolConfiguration } from "../../../src/pool/configuration.ts";
import { InProcessAccountPool } from "../../../src/pool/in-process-pool.ts";
import type { AccountPool } from "../../../src/pool/pool.ts";
import type { ShardlessReport } from "../../../src/runtime/cloudflare/pool-client/isolate-reporter.ts";
import { LocalAccounts } from "../../../src/runtime/cloudflare/pool-client/local-accounts.ts";
import { eventBlocks } from "../../support/fault-body.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";
import { GatewayIsolate, readFrom } from "../../support/pool-simulator/gateway-isolate.ts";
import { PoolObject } from "../../support/pool-simulator/pool-object.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../support/scripted-upstream.ts";
import { completionsScript } from "../../support/upstream-scripts.ts";

const make = useMemoryGateway();
const OTHER = "sk-other";

/** The pool objects of a deployment, each with some of the accounts, and how often they are asked for slots. */
class PoolObjects extends InProcessAccountPool {
  readonly #rules: readonly AccountPool[];
  readonly #shards: readonly InProcessAccountPool[];
  slots = 0;
  reports = 0;
  areLost = false;

  constructor(rules: readonly AccountPool[]) {
    const [first] = rules;
    if (first === undefined) throw new Error("there is no pool");
    super(first);
    this.#rules = rules;
    this.#shards = rules.map((rule) => new InProcessAccountPool(rule));
  }

  override async acquire(request: AcquireRequest): Promise<AcquireResult> {
    this.slots += 1;
    let refused: AcquireResult = { refused: "no_accounts" };
    for (const shard of this.#shards) {
      const acquired = await shard.acquire(request);
      if ("lease" in acquired) return acquired;
      refused = acquired;
    }
    return refused;
  }

  async sendReport(report: ShardlessReport) {
    this.reports += 1;
    if (this.areLost) throw new Error("the pool objects do not answer");
    // Copied, as RPC does.
    return this.#rules.map((rules, shard) => rules.report(structuredClone({ ...report, shard })));
  }

  override async getHealth(ids?: readonly string[]) {
    return this.#rules.flatMap((rules) => rules.health(ids));
  }

  async tell(config: Config, version: number): Promise<void> {
    const options = { queueWaitMs: 1_000, needsNoAccount };
    const { accounts, ...configuration } = await buildPoolConfiguration(config, options, version);
    for (const [n, rules] of this.#rules.entries()) {
      const own = accounts.filter((_, at) => at % this.#rules.length === n);
      rules.configure({ ...configuration, accounts: own });
    }
  }
}

const newRules = () => new PoolObject(WALL_CLOCK).pool;

interface Options {
  readonly shards?: number;
  readonly provider?: object;
  readonly config?: object;
  /** The reply to a request with this token; undefined: a healthy answer. */
  readonly reply?: (asked: UpstreamRequest) => Reply | undefined;
  readonly turns?: readonly Reply[];
}

const PROVIDER = { id: "free", driver: "openai", base_url: "http://old.test/v1", max_concurrent: 0 as const };
const TOKENS = ["a", "b", "c", "d"];

/** A deployment whose provider has four accounts without a limit. */
class Deployment {
  readonly main: MemoryGateway;
  readonly pools: PoolObjects;
  readonly isolates: Isolate[] = [];

  private constructor(main: MemoryGateway, pools: PoolObjects) {
    this.main = main;
    this.pools = pools;
  }

  static async start({
    shards = 1,
    provider = {},
    config = {},
    reply,
    turns = [],
  }: Options = {}): Promise<Deployment> {
    const upstream = new ScriptedUpstream(completionsScript({ turns, other: (asked) => reply?.(asked) }));
    const main = await make({
      upstream,
      config: {
        keys: [KEY, OTHER],
        providers: [{ ...PROVIDER, ...provider }],
        accounts: TOKENS.map((token) => ({ token, name: token, provider: "free" })),
        ...config,
      },
    });
    const deployment = new Deployment(main, new PoolObjects(Array.from({ length: shards }, newRules)));
    await deployment.#tell();
    return deployment;
  }

  async #tell(): Promise<void> {
    const { config, version } = await this.main.platform.configuration.readFresh();
    await this.pools.tell(config, version);
  }

  async edit(change: ConfigChange): Promise<void> {
    await this.main.platform.configuration.update(change);
    await this.#tell();
  }

  /** An isolate that knows the accounts' health. */
  async isolate(): Promise<Isolate> {
    const isolate = new Isolate(this);
    this.isolates.push(isolate);
    expect(await isolate.ask()).toBe("200");
    await pass(10);
    this.pools.slots = 0;
    return isolate;
  }

  /** The tokens that the provider has seen, oldest first. */
  get tokens(): string[] {
    return this.main.upstream.asked.map(({ token }) => token);
  }

  async expectIdle(): Promise<void> {
    for (const { gateway } of this.isolates) await gateway.settle();
    expect(await this.pools.getStatus()).toMatchObject({ in_use: 0, waiting: 0, leases: [] });
  }
}

/** An isolate that selects accounts itself where it may. */
class Isolate extends GatewayIsolate {
  override readonly model = "free/engine";

  constructor({ main, pools }: Deployment) {
    super(main, readFrom(main), (configuration, waitUntil) => ({
      accounts: new LocalAccounts({
        pool: pools,
        configuration,
        deployment: { queueWaitMs: 1_000, needsNoAccount },
        clock: { ...WALL_CLOCK, waitUntil },
      }),
    }));
  }
}

const SLOW: Reply = { late: 3_000, reply: { body: eventBlocks("chat-completions", {}) } };
const TURNS = { provider: { strategy: "round_robin" } };

describe("an isolate selects accounts without a limit itself", () => {
  test("so that under steady load no answer waits for a pool object, and it reports once a second", async () => {
    const deployment = await Deployment.start();
    const isolate = await deployment.isolate();
    const { reports } = deployment.pools;
    const { configurationReads } = isolate;
    for (let n = 0; n < 40; n += 1) {
      expect(await isolate.ask()).toBe("200");
      await pass(250);
    }
    expect(deployment.pools.slots).toBe(0);
    expect(deployment.pools.reports - reports).toBeLessThanOrEqual(11);
    expect(
      isolate.configurationReads - configurationReads,
      "the report also tells the version of the configuration",
    ).toBeLessThan(3);
    await deployment.expectIdle();
  });

  test("by the provider's strategy and weights, or the account that the caller pins", async () => {
    const deployment = await Deployment.start(TURNS);
    const isolate = await deployment.isolate();
    const before = deployment.tokens.length;
    for (let n = 0; n < 8; n += 1) await isolate.ask();
    expect(deployment.tokens.slice(before).toSorted()).toEqual([...TOKENS, ...TOKENS].toSorted());
  });

  test("without a change of account within a conversation, also between isolates", async () => {
    const deployment = await Deployment.start();
    const isolates = [await deployment.isolate(), await deployment.isolate()];
    const before = deployment.tokens.length;
    for (const isolate of [...isolates, ...isolates]) await isolate.ask(KEY, { text: "One conversation" });
    expect(new Set(deployment.tokens.slice(before)).size).toBe(1);
  });

  test("while status, health and history count its requests", async () => {
    const deployment = await Deployment.start({ turns: [SLOW] });
    const isolate = new Isolate(deployment);
    deployment.isolates.push(isolate);
    const first = isolate.ask();
    await pass(4_000);
    await first;
    deployment.pools.slots = 0;
    const asking = [isolate.ask(), isolate.ask()];
    await pass(2_000);
    expect(deployment.pools.slots).toBe(0);
    const { in_use, leases } = await deployment.pools.getStatus();
    expect(in_use).toBe(2);
    expect(leases[0]).toMatchObject({
      model: "free/engine",
      dialect: "chat-completions",
      key: expect.any(String),
    });
    await pass(2_000);
    await Promise.all(asking);
    await pass(2_000);
    const health = await deployment.pools.getHealth();
    expect(health.reduce((sum, { activity }) => sum + activity.hour.requests, 0)).toBe(3);
    expect(await isolate.gateway.history()).toHaveLength(3);
    await deployment.expectIdle();
  });
});

describe("an account whose API key is refused", () => {
  test("counts no success, although a slot was taken to get its token", async () => {
    const refused: Reply = { status: 401, json: { error: { message: "revoked" } } };
    const deployment = await Deployment.start({
      ...TURNS,
      reply: ({ token }) => (token === "a" ? refused : undefined),
    });
    const isolate = await deployment.isolate();
    for (let n = 0; n < 8; n += 1) expect(await isolate.ask()).toBe("200");
    await pass(2_000);
    expect(deployment.tokens).toContain("a");
    const health = await deployment.pools.getHealth();
    const activities = health.map(({ activity }) => activity);
    const failed = activities.filter(({ lastFault }) => lastFault !== null);
    expect(failed).toMatchObject([{ lastSuccess: 0, hour: { requests: 1, succeeded: 0 } }]);
    expect(activities.reduce((sum, { hour }) => sum + hour.succeeded, 0)).toBe(9);
  });
});

describe("an isolate that has just started, or was idle", () => {
  test("reads the accounts' health once, before it selects one", async () => {
    const deployment = await Deployment.start();
    const isolate = new Isolate(deployment);
    deployment.isolates.push(isolate);
    expect(await isolate.ask()).toBe("200");
    expect([deployment.pools.slots, deployment.pools.reports]).toEqual([0, 1]);
    await pass(60_000);
    const { reports } = deployment.pools;
    expect([await isolate.ask(), await isolate.ask()]).toEqual(["200", "200"]);
    expect([deployment.pools.slots, deployment.pools.reports - reports]).toEqual([0, 1]);
    await deployment.expectIdle();
  });
});

describe("the pool objects decide", () => {
  test.each<[string, Options]>([
    ["everything with a global limit", { config: { runtime: { global_max_inflight: 5 } } }],
    ["a provider whose accounts have a limit", { provider: { account_max_inflight: 4 } }],
    [
      "requests of a key with limits",
      { config: { keys: [], api_keys: [{ key: KEY, limits: { requests_per_minute: 100 } }] } },
    ],
  ])("%s", async (_, options) => {
    const deployment = await Deployment.start(options);
    const isolate = await deployment.isolate();
    for (let n = 0; n < 4; n += 1) expect(await isolate.ask()).toBe("200");
    expect(deployment.pools.slots).toBe(4);
    await deployment.expectIdle();
  });
});

describe("an edit in another isolate", () => {
  test("ends a deleted key within two seconds, also under load that takes no slot", async () => {
    const deployment = await Deployment.start();
    const isolate = await deployment.isolate();
    await deployment.edit((config) => ({
      ...config,
      callers: { ...config.callers, unknown_keys: "refuse" },
      keys: config.keys.filter((key) => key !== KEY),
    }));
    for (let ms = 0; ms < 2_000; ms += 250) {
      expect(await isolate.ask(OTHER)).toBe("200");
      await pass(250);
    }
    const sent = deployment.tokens.length;
    expect(await isolate.ask()).toBe("401 invalid_api_key");
    expect(deployment.tokens.length).toBe(sent);
  });

  test("sends only the new token to a changed endpoint, and only the old token to the old one", async () => {
    const deployment = await Deployment.start({ config: { accounts: [] }, provider: { token: "old" } });
    const isolates = [await deployment.isolate(), await deployment.isolate()];
    await deployment.edit((config) => ({
      ...config,
      providers: config.providers.map((entry) => ({
        ...entry,
        base_url: "http://new.test/v1",
        token: "new",
      })),
    }));
    for (let n = 0; n < 12; n += 1) {
      for (const isolate of isolates) expect(await isolate.ask()).toBe("200");
      await pass(250);
    }
    const pairs = new Set(deployment.main.upstream.asked.map(({ host, token }) => `${token} at ${host}`));
    expect([...pairs]).toEqual(["old at old.test", "new at new.test"]);
  });

  test("applies a limit as soon as the isolate knows it", async () => {
    const deployment = await Deployment.start();
    const isolate = await deployment.isolate();
    await deployment.edit((config) => ({
      ...config,
      providers: config.providers.map(({ max_concurrent: _, ...entry }) => entry),
    }));
    await pass(2_000);
    for (let n = 0; n < 3; n += 1) await isolate.ask();
    expect(deployment.pools.slots).toBe(3);
  });
});

describe.each([1, 2])("with %i pool objects", (shards) => {
  const TOO_MANY: Reply = {
    status: 429,
    json: { error: { message: "slow down" } },
    headers: { "retry-after": "60" },
  };

  test("an account that fails in one isolate is avoided by all, and used by all when it works again", async () => {
    let isLimited = true;
    const deployment = await Deployment.start({
      ...TURNS,
      shards,
      reply: ({ token }) => (token === "a" && isLimited ? TOO_MANY : undefined),
    });
    const isolates = [await deployment.isolate(), await deployment.isolate()];
    const countFailing = async (requests: number) => {
      const before = deployment.tokens.length;
      for (let n = 0; n < requests; n += 1) {
        for (const isolate of isolates) expect(await isolate.ask()).toBe("200");
        await pass(250);
      }
      return deployment.tokens.slice(before).filter((token) => token === "a").length;
    };
    await countFailing(12);
    expect(await countFailing(20), "it rests everywhere").toBe(0);
    isLimited = false;
    await pass(60_000);
    await countFailing(8);
    deployment.pools.slots = 0;
    expect(await countFailing(20)).toBe(10);
    expect(deployment.pools.slots).toBe(0);
    await deployment.expectIdle();
  });

  test("a burst of failures counts as one and does not lengthen the cooldown", async () => {
    const deployment = await Deployment.start({
      shards,
      config: { accounts: [{ token: "a", name: "a", provider: "free" }] },
      reply: ({ path }) =>
        path.includes("chat") ? { late: 500, reply: { status: 403, json: {} } } : undefined,
    });
    const isolate = new Isolate(deployment);
    deployment.isolates.push(isolate);
    const cold = isolate.ask();
    await pass(600);
    await cold;
    await pass(20_000);
    const asking = Array.from({ length: 30 }, () => isolate.ask());
    await pass(2_000);
    await Promise.all(asking);
    const [health] = await deployment.pools.getHealth();
    expect(health?.cooldown?.failures).toBeLessThanOrEqual(3);
    await deployment.expectIdle();
  });
});

describe("pool objects that do not answer", () => {
  test("do not stop an isolate while its knowledge of the accounts is valid", async () => {
    const deployment = await Deployment.start();
    const isolate = await deployment.isolate();
    deployment.pools.areLost = true;
    for (let n = 0; n < 8; n += 1) {
      expect(await isolate.ask()).toBe("200");
      await pass(1_000);
    }
    expect(deployment.pools.slots).toBe(0);
    deployment.pools.areLost = false;
    await pass(2_000);
    await deployment.expectIdle();
    const health = await deployment.pools.getHealth();
    expect(health.reduce((sum, { activity }) => sum + activity.hour.requests, 0)).toBe(9);
  });
});

describe("accounts that sign in", () => {
  test("sign in once for all isolates, which then keep the token", async () => {
    let signIns = 0;
    const deployment = await Deployment.start({
      config: {
        accounts: [
          {
            email: "one@test",
            provider: "free",
            auth: {
              type: "oauth2",
              token_url: "http://old.test/token",
              client_id: "c",
              client_secret: "s",
              refresh_token: "r",
            },
          },
        ],
      },
      reply: ({ path }) => {
        if (path !== "/token") return undefined;
        signIns += 1;
        return { json: { access_token: `access-${signIns}`, token_type: "Bearer", expires_in: 600 } };
      },
    });
    const isolates = [await deployment.isolate(), await deployment.isolate()];
    for (let n = 0; n < 5; n += 1) {
      for (const isolate of isolates) expect(await isolate.ask()).toBe("200");
      await pass(1_000);
    }
    expect(signIns).toBe(1);
    expect(deployment.pools.slots, "each isolate has asked for the token with its first request").toBe(0);
    for (let n = 0; n < 12; n += 1) {
      await pass(60_000);
      for (const isolate of isolates) expect(await isolate.ask()).toBe("200");
    }
    expect(signIns).toBe(2);
    await deployment.expectIdle();
  });
});
