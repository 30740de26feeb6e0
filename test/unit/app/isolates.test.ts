import { beforeEach, describe, expect, test } from "vitest";
import type { ConfigChange, ConfigSnapshot } from "../../../src/core/config/snapshot.ts";
import type { Platform } from "../../../src/core/ports/platform.ts";
import { needsNoAccount } from "../../../src/gateway/providers/drivers.ts";
import { buildPoolConfiguration } from "../../../src/pool/configuration.ts";
import { createInProcessPool } from "../../../src/pool/in-process-pool.ts";
import {
  type MemoryGateway,
  type MemoryGatewayOptions,
  pass,
  useMemoryGateway,
} from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";
import { GatewayIsolate, readFrom } from "../../support/pool-simulator/gateway-isolate.ts";
import { MemoryPoolStore } from "../../support/pool-simulator/memory-pool-store.ts";
import { ScriptedUpstream } from "../../support/scripted-upstream.ts";
import { completionsScript } from "../../support/upstream-scripts.ts";

const make = useMemoryGateway();
const OTHER = "sk-other";

/** An isolate of a deployment, which shares all but `own` with the others. */
class Isolate extends GatewayIsolate {
  constructor(deployment: Deployment, own: Partial<Platform> = {}) {
    const read = readFrom(deployment.main);
    super(
      deployment.main,
      async (known) => {
        if (deployment.objectDelayMs > 0)
          await new Promise((resolve) => setTimeout(resolve, deployment.objectDelayMs));
        return deployment.objectIsLost ? deployment.copy : read(known);
      },
      () => own,
    );
  }
}

/** Isolates that share pool, configuration and provider. */
class Deployment {
  readonly main: MemoryGateway;
  /** What KV has. */
  copy: ConfigSnapshot | null;
  objectIsLost = false;
  /** How long the configuration object takes to answer. */
  objectDelayMs = 0;

  constructor(main: MemoryGateway, copy: ConfigSnapshot | null) {
    this.main = main;
    this.copy = copy;
  }

  /** A change of which KV has not heard. */
  async edit(change: ConfigChange): Promise<void> {
    await this.main.platform.configuration.update(change);
  }

  /** Requests that the provider got besides sign-ins. */
  get sent(): number {
    return this.main.upstream.asked.filter(({ path }) => path !== "/api/login").length;
  }
}

async function deploy(options: MemoryGatewayOptions = {}): Promise<Deployment> {
  const { config, ...rest } = options;
  const main = await make({ ...rest, config: { keys: [KEY, OTHER], ...config } });
  return new Deployment(main, await main.platform.configuration.readFresh());
}

/** After this time every isolate acts on an edit, milliseconds. */
const SEEN_MS = 2_000;

const without =
  (key: string): ConfigChange =>
  (config) => ({
    ...config,
    callers: { ...config.callers, unknown_keys: "refuse" },
    keys: config.keys.filter((it) => it !== key),
  });

let deployment: Deployment;
beforeEach(async () => {
  deployment = await deploy();
});

describe("an isolate", () => {
  const count = (isolate: Isolate) =>
    isolate.ask(KEY, { model: "claude-sonnet-4-5", path: "/v1/messages/count_tokens" });

  test("reads the configuration once before its first answer, and not again under load that uses accounts", async () => {
    const isolate = new Isolate(deployment);
    for (let n = 0; n < 20; n += 1) {
      expect(await isolate.ask()).toBe("200");
      await pass(500);
    }
    expect(isolate.configurationReads).toBe(1);
  });

  test("reads it once before the first answer after an idle time", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    await pass(3_600_000);
    expect([await isolate.ask(), await isolate.ask()]).toEqual(["200", "200"]);
    expect(isolate.configurationReads).toBe(2);
  });

  test("reads a newer configuration once, as soon as a grant states its version", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    await deployment.edit(without(KEY));
    expect(await isolate.ask(OTHER)).toBe("200");
    expect([await isolate.ask(), isolate.configurationReads]).toEqual(["401 invalid_api_key", 3]);
  });

  test("reads it once a second under load that uses no account, and no request waits for that", async () => {
    const isolate = new Isolate(deployment);
    expect(await count(isolate)).toBe("200");
    deployment.objectDelayMs = 200;
    for (let n = 0; n < 40; n += 1) {
      await pass(250);
      expect(await count(isolate), "time stands still until it is answered").toBe("200");
    }
    expect(isolate.configurationReads).toBeGreaterThan(5);
    expect(isolate.configurationReads).toBeLessThan(12);
  });

  test("continues with its last configuration while the object is unavailable", async () => {
    const isolate = new Isolate(deployment);
    deployment.copy = null;
    expect(await count(isolate)).toBe("200");
    deployment.objectIsLost = true;
    await pass(60_000);
    expect([await count(isolate), await isolate.ask()]).toEqual(["200", "200"]);
  });
});

describe("embeddings and files", () => {
  /** Asks for a vector, or sends a file. */
  const embed = (isolate: Isolate, key = KEY) =>
    isolate.gateway.post(
      "/v1/embeddings",
      { model: "gpt-4o", input: "Hi" },
      { headers: { authorization: `Bearer ${key}` } },
    );
  const upload = (isolate: Isolate, key = KEY) => {
    const body = new FormData();
    body.set("purpose", "assistants");
    body.set("file", new File(["text"], "a.txt"));
    return isolate.gateway.request("/v1/files", {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${key}` },
    });
  };
  const vectors = () =>
    new ScriptedUpstream(
      completionsScript({
        other: ({ path }) =>
          path.endsWith("/embeddings")
            ? { json: { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1, total_tokens: 1 } } }
            : undefined,
      }),
    );
  const upstream = () =>
    deploy({
      upstream: vectors(),
      env: { PROVIDER_DRIVER: "openai" },
      config: { embeddings: { provider: "upstream" }, accounts: [{ token: "key-a" }] },
    });

  test.each([
    ["embeddings of the provider", upstream, embed],
    ["uploads", () => deploy(), upload],
  ] as const)("refuse a deleted key within two seconds: %s", async (_, make, ask) => {
    deployment = await make();
    const isolate = new Isolate(deployment);
    expect((await ask(isolate)).status).toBe(200);
    const { sent } = deployment;
    await deployment.edit(without(KEY));
    await pass(SEEN_MS);
    expect((await ask(isolate)).status).toBe(401);
    expect(deployment.sent).toBe(sent);
    expect((await ask(isolate, OTHER)).status).toBe(200);
  });

  test("refuse the provider's vectors to a key that has lost the model", async () => {
    deployment = await upstream();
    const isolate = new Isolate(deployment);
    expect((await embed(isolate)).status).toBe(200);
    const entry = { key: KEY, name: "", remark: "", models: ["provider-v4-pro"] };
    await deployment.edit((config) => ({ ...config, keys: [], api_keys: [entry] }));
    await pass(SEEN_MS);
    expect((await embed(isolate)).status).toBe(403);
    expect(deployment.sent).toBe(1);
  });

  test("send no text to the provider two seconds after local vectors are switched on", async () => {
    deployment = await upstream();
    const isolate = new Isolate(deployment);
    expect((await embed(isolate)).status).toBe(200);
    await deployment.edit((config) => ({ ...config, embeddings: { provider: "builtin" } }));
    await pass(SEEN_MS);
    expect((await embed(isolate)).status).toBe(200);
    expect(deployment.sent).toBe(1);
    // The isolate's own work behind its answers ends first.
    await isolate.gateway.settle();
    await deployment.main.expectIdle();
  });

  test("apply edits within two seconds with local vectors", async () => {
    deployment = await deploy({ config: { embeddings: { provider: "builtin" } } });
    const isolate = new Isolate(deployment);
    expect((await embed(isolate)).status).toBe(200);
    const entry = { key: KEY, name: "", remark: "", models: ["provider-v4-pro"] };
    await deployment.edit((config) => ({ ...config, keys: [], api_keys: [entry] }));
    await pass(SEEN_MS);
    expect((await embed(isolate)).status).toBe(403);
    await deployment.edit((config) => ({ ...config, embeddings: { provider: "" } }));
    await pass(SEEN_MS);
    expect((await embed(isolate)).status).toBe(403);
  });
});

describe("a key that was deleted", () => {
  test("is refused by every isolate within two seconds, and nothing is sent to the provider", async () => {
    const warm = [new Isolate(deployment), new Isolate(deployment)];
    for (const isolate of warm) expect(await isolate.ask()).toBe("200");
    const { sent } = deployment;
    await deployment.edit(without(KEY));
    expect(await new Isolate(deployment).ask(), "one that has just begun").toBe("401 invalid_api_key");
    await pass(SEEN_MS);
    const isolates = [...warm, new Isolate(deployment)];
    for (const isolate of isolates) expect(await isolate.ask()).toBe("401 invalid_api_key");
    expect(deployment.sent).toBe(sent);
    for (const isolate of isolates) expect(await isolate.ask(OTHER)).toBe("200");
    await deployment.main.expectIdle();
  });

  test("is refused by endpoints that ask no provider, too", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    await deployment.edit(without(KEY));
    await pass(SEEN_MS);
    const load = await isolate.gateway.post(
      "/api/generate",
      { model: "provider-v4-flash" },
      { headers: { authorization: `Bearer ${KEY}` } },
    );
    expect(load.status).toBe(401);
  });

  test("is refused, like all keys, while a known edit cannot be read", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    const { sent } = deployment;
    await deployment.edit(without(KEY));
    deployment.objectIsLost = true;
    expect(await isolate.ask()).toBe("503 internal_error");
    expect(await isolate.ask(OTHER)).toBe("503 internal_error");
    expect(deployment.sent).toBe(sent);
    await deployment.main.expectIdle();
  });
});

describe("a change in another isolate", () => {
  test.each<[string, object, string]>([
    ["that it is disabled", { disabled: true }, "401 invalid_api_key"],
    ["that it has expired", { expires: 1 }, "401 invalid_api_key"],
    ["its models", { models: ["provider-v4-pro"] }, "403 permission_denied"],
    ["its styles", { dialects: ["messages"] }, "403 permission_denied"],
    ["its networks", { networks: ["198.51.100.0/24"] }, "403 permission_denied"],
  ])("of a key applies within two seconds: %s", async (_, change, told) => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    const { sent } = deployment;
    const entry = { key: KEY, name: "", remark: "", ...change };
    await deployment.edit((config) => ({ ...config, keys: [OTHER], api_keys: [entry] }));
    await pass(SEEN_MS);
    expect(await isolate.ask()).toBe(told);
    expect(deployment.sent).toBe(sent);
  });

  test("reaches a key that may use a route of several models, and an unrelated change does not affect it", async () => {
    const model_routes = { smart: ["provider-v4-flash", "provider-v4-pro"] };
    const entry = { key: "sk-smart", name: "", remark: "", models: ["smart"] };
    deployment = await deploy({ config: { model_routes, api_keys: [entry] } });
    const isolate = new Isolate(deployment);
    expect(await isolate.ask("sk-smart", { model: "smart" })).toBe("200");
    await deployment.edit(without(OTHER));
    await pass(SEEN_MS);
    expect(await isolate.ask("sk-smart", { model: "smart" })).toBe("200");
    await deployment.edit((config) => ({ ...config, api_keys: [{ ...entry, models: ["other"] }] }));
    await pass(SEEN_MS);
    expect(await isolate.ask("sk-smart", { model: "smart" })).toBe("403 permission_denied");
  });

  test("is known at once: a new key is not used as a provider's token", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    await deployment.edit((config) => ({ ...config, keys: [...config.keys, "sk-new"] }));
    expect(await isolate.ask("sk-new")).toBe("200");
    expect(deployment.main.upstream.asked.map(({ token }) => token)).not.toContain("sk-new");
  });

  test("is known at once: a new alias", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    await deployment.edit((config) => ({ ...config, model_aliases: { mine: "provider-v4-pro" } }));
    expect(await isolate.ask(KEY, { model: "mine" })).toBe("200");
  });

  test("is known at once: the proxy of an account", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    const asked = deployment.main.upstream.asked.length;
    const proxy = {
      id: "p",
      name: "",
      type: "http",
      host: "proxy.test",
      port: 3128,
      username: "",
      password: "",
    } as const;
    await deployment.edit((config) => ({
      ...config,
      proxies: [proxy],
      accounts: config.accounts.map((account) => ({ ...account, proxy_id: "p" })),
    }));
    expect(await isolate.ask()).toBe("200");
    const later = deployment.main.upstream.asked.slice(asked);
    expect(later.length).toBeGreaterThan(0);
    for (const { proxy: used } of later) expect(used?.host).toBe("proxy.test");
  });
});

describe("an isolate whose grants state no version", () => {
  test("refuses a deleted key within two seconds of load, and accepts a new key at once", async () => {
    const { accounts } = deployment.main.platform;
    const unversioned = new Proxy(accounts, {
      get: (pool, member) =>
        member === "acquire"
          ? async (...request: Parameters<typeof pool.acquire>) => {
              const acquired = await pool.acquire(...request);
              return "lease" in acquired ? { lease: acquired.lease } : acquired;
            }
          : Reflect.get(pool, member).bind(pool),
    });
    const isolate = new Isolate(deployment, { accounts: unversioned });
    expect(await isolate.ask()).toBe("200");
    await deployment.edit(without(KEY));
    await deployment.edit((config) => ({ ...config, keys: [...config.keys, "sk-new"] }));
    expect(await isolate.ask("sk-new")).toBe("200");
    expect(await isolate.ask(), "looking up the new key has renewed the cache").toBe("401 invalid_api_key");
    await deployment.edit(without("sk-new"));
    for (let ms = 0; ms < SEEN_MS; ms += 250) {
      await isolate.ask(OTHER);
      await pass(250);
    }
    expect(await isolate.ask("sk-new")).toBe("401 invalid_api_key");
  });
});

describe("unknown keys", () => {
  test("cause a limited number of lookups, and a new key is still known within two seconds", async () => {
    deployment = await deploy({ config: { callers: { unknown_keys: "refuse" } } });
    const isolate = new Isolate(deployment);
    for (let n = 0; n < 1_000; n += 1) expect(await isolate.ask(`sk-guess-${n}`)).toBe("401 invalid_api_key");
    expect(isolate.configurationReads).toBeLessThan(150);
    await deployment.edit((config) => ({ ...config, keys: [...config.keys, "sk-new"] }));
    await pass(SEEN_MS);
    expect(await isolate.ask("sk-new")).toBe("200");
  });
});

describe("the token of an account", () => {
  const provider = (base_url: string, token: string) => ({
    id: "own",
    driver: "openai",
    base_url,
    models: { small: "small" },
    token,
  });
  const seen = () =>
    deployment.main.upstream.asked
      .filter(({ path }) => path.endsWith("/chat/completions"))
      .map(({ host, token }) => `${token} at ${host}`);

  test("goes only to the endpoint that it was configured for, also from isolates with an older configuration", async () => {
    deployment = await deploy({
      upstream: new ScriptedUpstream(completionsScript()),
      config: { providers: [provider("http://old.test/v1", "old-token")] },
    });
    const isolates = [new Isolate(deployment), new Isolate(deployment)];
    for (const isolate of isolates) expect(await isolate.ask(KEY, { model: "own/small" })).toBe("200");
    await deployment.edit((config) => ({
      ...config,
      providers: config.providers.map((own) => ({
        ...own,
        base_url: "http://new.test/v1",
        token: "new-token",
      })),
    }));
    for (const isolate of isolates) {
      expect(await isolate.ask(KEY, { model: "own/small" })).toBe("503 upstream_unavailable");
      expect(await isolate.ask(KEY, { model: "own/small" }), "the repeated request").toBe("200");
    }
    expect(seen()).toEqual([
      ...Array(2).fill("old-token at old.test"),
      ...Array(2).fill("new-token at new.test"),
    ]);
    await deployment.main.expectIdle();
  });
});

describe("an account that has recovered", () => {
  test("is used by every isolate as soon as an administrator has enabled it", async () => {
    const disable = (disabled: boolean): Promise<void> =>
      deployment.edit((config) => ({
        ...config,
        accounts: config.accounts.map((account) => ({ ...account, disabled })),
      }));
    const isolates = [new Isolate(deployment), new Isolate(deployment)];
    for (const isolate of isolates) expect(await isolate.ask()).toBe("200");
    await disable(true);
    for (const isolate of isolates) expect(await isolate.ask()).toMatch(/^429/);
    await disable(false);
    for (const isolate of isolates) expect(await isolate.ask()).toBe("200");
  });
});

describe("isolates of a deployment with two shards", () => {
  test("learn of an edit from any shard that grants, and of a deleted key within two seconds", async () => {
    const { main } = deployment;
    const shards = [createInProcessPool(new MemoryPoolStore()), createInProcessPool(new MemoryPoolStore())];
    const tellShards = async () => {
      const { config, version } = await main.platform.configuration.readFresh();
      for (const [n, shard] of shards.entries()) {
        const accounts = config.accounts.filter((_, at) => at % 2 === n);
        const options = { queueWaitMs: 1_000, needsNoAccount };
        await shard.configure(await buildPoolConfiguration({ ...config, accounts }, options, version));
      }
    };
    await tellShards();
    for (const accounts of shards) {
      const isolate = new Isolate(deployment, { accounts });
      expect(await isolate.ask()).toBe("200");
      await deployment.edit((config) => ({ ...config, history: { ...config.history } }));
      await tellShards();
      expect([await isolate.ask(), isolate.configurationReads]).toEqual(["200", 2]);
    }
    const isolates = shards.map((accounts) => new Isolate(deployment, { accounts }));
    for (const isolate of isolates) expect(await isolate.ask()).toBe("200");
    await deployment.edit(without(KEY));
    await tellShards();
    await pass(SEEN_MS);
    for (const isolate of isolates) expect(await isolate.ask()).toBe("401 invalid_api_key");
  });
});
