import { beforeEach, describe, expect, test } from "vitest";
import { ConfigurationClient } from "../../../src/core/config/configuration-client.ts";
import type { ConfigChange, ConfigSnapshot } from "../../../src/core/config/snapshot.ts";
import {
  MemoryGateway,
  type MemoryGatewayOptions,
  pass,
  useMemoryGateway,
} from "../../support/memory-gateway.ts";
import { accountNamed, KEY } from "../../support/memory-platform.ts";
import { ScriptedUpstream } from "../../support/scripted-upstream.ts";
import { completionsScript, says } from "../../support/upstream-scripts.ts";

const make = useMemoryGateway();
const CHAT = "/v1/chat/completions";
const OTHER = "sk-other";

/** An isolate of a deployment, and how often it has asked for the configuration. */
class Isolate {
  readonly gateway: MemoryGateway;
  readonly asked = { object: 0, copy: 0 };

  constructor(deployment: Deployment) {
    const { main } = deployment;
    const configuration = new ConfigurationClient(
      {
        newerThan: async (known) => {
          this.asked.object += 1;
          if (deployment.objectIsLost) return deployment.copy;
          const newest = await main.platform.configuration.readFresh();
          return newest.version === known ? null : newest;
        },
        replace: () => Promise.reject(new Error("edits are made elsewhere")),
        readCopy: async () => {
          this.asked.copy += 1;
          return deployment.copy;
        },
      },
      Date.now,
    );
    this.gateway = new MemoryGateway({ ...main.platform, configuration }, main.upstream, main.lines);
  }

  /** The status of an answer, and its error's code. */
  async ask(key = KEY, model = "gpt-4o", path = CHAT): Promise<string> {
    const body = { model, messages: [{ role: "user", content: "Hi" }] };
    const headers = { authorization: `Bearer ${key}` };
    const response = await this.gateway.post(path, body, { headers });
    const answer: { error?: { code: string } } = await response.json();
    return `${response.status}${answer.error === undefined ? "" : ` ${answer.error.code}`}`;
  }
}

/** Isolates that share pool, configuration and provider. */
class Deployment {
  readonly main: MemoryGateway;
  /** What KV has. */
  copy: ConfigSnapshot | null;
  objectIsLost = false;

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
  test("answers its first request with one look at the copy, and later ones with none", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    expect(isolate.asked).toEqual({ copy: 1, object: 0 });
    await pass(3_600_000);
    expect(await isolate.ask()).toBe("200");
    await isolate.gateway.settle();
    expect(isolate.asked).toEqual({ copy: 1, object: 0 });
  });

  test("asks for the configuration once where there is no copy", async () => {
    deployment.copy = null;
    const isolate = new Isolate(deployment);
    expect([await isolate.ask(), await isolate.ask()]).toEqual(["200", "200"]);
    expect(isolate.asked).toEqual({ copy: 1, object: 1 });
  });

  test("fetches a newer configuration once, although nothing of it concerns the request", async () => {
    const isolate = new Isolate(deployment);
    await deployment.edit((config) => ({ ...config, model_aliases: { mine: "provider-v4-pro" } }));
    expect([await isolate.ask(), await isolate.ask()]).toEqual(["200", "200"]);
    expect(isolate.asked).toEqual({ copy: 1, object: 1 });
  });

  test("asks every few seconds, as ever, for requests that take no account", async () => {
    const isolate = new Isolate(deployment);
    const count = () => isolate.ask(KEY, "claude-sonnet-4-5", "/v1/messages/count_tokens");
    expect(await count()).toBe("200");
    expect(isolate.asked).toEqual({ copy: 0, object: 1 });
    await deployment.edit(without(KEY));
    await pass(6_000);
    expect(await count()).toMatch(/^401/);
    expect(isolate.asked).toEqual({ copy: 0, object: 2 });
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
  ] as const)(
    "%s learn of edits from the pool: nothing polls, a deleted key is dead",
    async (_, make, ask) => {
      deployment = await make();
      const isolate = new Isolate(deployment);
      expect((await ask(isolate)).status).toBe(200);
      await pass(3_600_000);
      expect((await ask(isolate)).status).toBe(200);
      expect(isolate.asked).toEqual({ copy: 1, object: 0 });
      const { sent } = deployment;
      await deployment.edit(without(KEY));
      expect((await ask(isolate)).status).toBe(401);
      expect(deployment.sent).toBe(sent);
      expect((await ask(isolate, OTHER)).status).toBe(200);
    },
  );

  test("a vector of the provider is refused to a key that may not have its model any more", async () => {
    deployment = await upstream();
    const isolate = new Isolate(deployment);
    expect((await embed(isolate)).status).toBe(200);
    const entry = { key: KEY, name: "", remark: "", models: ["provider-v4-pro"] };
    await deployment.edit((config) => ({ ...config, keys: [], api_keys: [entry] }));
    expect((await embed(isolate)).status).toBe(403);
    expect(deployment.sent).toBe(1);
  });

  test("no text goes to the provider any more once vectors are made here, also from an isolate that has not heard", async () => {
    deployment = await upstream();
    const isolate = new Isolate(deployment);
    expect((await embed(isolate)).status).toBe(200);
    await deployment.edit((config) => ({ ...config, embeddings: { provider: "builtin" } }));
    const refused = await embed(isolate);
    expect([refused.status, deployment.sent]).toEqual([503, 1]);
    expect(await refused.text()).toContain("send the request again");
    expect((await embed(isolate)).status).toBe(200);
    expect(deployment.sent).toBe(1);
    await deployment.main.expectIdle();
  });

  test("where vectors are made here, what was changed holds within five seconds, as ever", async () => {
    deployment = await deploy({ config: { embeddings: { provider: "builtin" } } });
    const isolate = new Isolate(deployment);
    expect((await embed(isolate)).status).toBe(200);
    const entry = { key: KEY, name: "", remark: "", models: ["provider-v4-pro"] };
    await deployment.edit((config) => ({ ...config, keys: [], api_keys: [entry] }));
    await pass(6_000);
    expect((await embed(isolate)).status).toBe(403);
    await deployment.edit((config) => ({ ...config, embeddings: { provider: "" } }));
    await pass(6_000);
    expect((await embed(isolate)).status).toBe(403);
  });
});

describe("a key that was deleted", () => {
  test("is refused by every isolate at its next request, warm or cold, and nothing is sent", async () => {
    const warm = [new Isolate(deployment), new Isolate(deployment)];
    for (const isolate of warm) expect(await isolate.ask()).toBe("200");
    const { sent } = deployment;
    await deployment.edit(without(KEY));
    const isolates = [...warm, new Isolate(deployment)];
    for (const isolate of isolates) expect(await isolate.ask()).toBe("401 invalid_api_key");
    expect(deployment.sent).toBe(sent);
    for (const isolate of isolates) expect(await isolate.ask(OTHER)).toBe("200");
    await deployment.main.expectIdle();
  });

  test("is refused although its request waited for an account by then", async () => {
    deployment = await deploy({
      config: { accounts: [accountNamed("one@test")], runtime: { account_max_inflight: 1 } },
      turns: [{ late: 10_000, reply: says("Busy.") }],
    });
    const isolate = new Isolate(deployment);
    const first = isolate.ask(OTHER);
    await pass(1_000);
    const waiting = isolate.ask();
    await pass(1_000);
    await deployment.edit(without(KEY));
    await pass(10_000);
    expect([await first, await waiting]).toEqual(["200", "401 invalid_api_key"]);
    expect(deployment.main.turns).toHaveLength(1);
  });

  test("learns nothing from what is wrong with its request", async () => {
    const isolate = new Isolate(deployment);
    await deployment.edit(without(KEY));
    expect(await isolate.ask(KEY, "no-such-model")).toBe("401 invalid_api_key");
    const another = new Isolate(deployment);
    const headers = { authorization: `Bearer ${KEY}` };
    const wrong = await another.gateway.post(CHAT, { model: "gpt-4o", messages: 1 }, { headers });
    expect(wrong.status).toBe(401);
  });

  test("is refused where nothing is asked of the provider, too", async () => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    await deployment.edit(without(KEY));
    await pass(6_000);
    const load = await isolate.gateway.post(
      "/api/generate",
      { model: "provider-v4-flash" },
      { headers: { authorization: `Bearer ${KEY}` } },
    );
    expect(load.status).toBe(401);
  });

  test("is refused, and everybody else, while nobody can say what the newest configuration is", async () => {
    const isolate = new Isolate(deployment);
    await deployment.edit(without(KEY));
    deployment.objectIsLost = true;
    expect(await isolate.ask()).toBe("503 internal_error");
    expect(await isolate.ask(OTHER)).toBe("503 internal_error");
    expect(deployment.sent).toBe(0);
    await deployment.main.expectIdle();
  });
});

describe("what has been changed elsewhere", () => {
  test.each<[string, object, string]>([
    ["that it is disabled", { disabled: true }, "401 invalid_api_key"],
    ["that it has expired", { expires: 1 }, "401 invalid_api_key"],
    ["its models", { models: ["provider-v4-pro"] }, "403 permission_denied"],
    ["its styles", { dialects: ["messages"] }, "403 permission_denied"],
    ["its networks", { networks: ["198.51.100.0/24"] }, "403 permission_denied"],
  ])("of a key holds at its next request: %s", async (_, change, told) => {
    const isolate = new Isolate(deployment);
    expect(await isolate.ask()).toBe("200");
    const { sent } = deployment;
    const entry = { key: KEY, name: "", remark: "", ...change };
    await deployment.edit((config) => ({ ...config, keys: [OTHER], api_keys: [entry] }));
    expect(await isolate.ask()).toBe(told);
    expect(deployment.sent).toBe(sent);
  });

  test("of a key that names a name for several models lets it in as before", async () => {
    const model_routes = { smart: ["provider-v4-flash", "provider-v4-pro"] };
    const entry = { key: "sk-smart", name: "", remark: "", models: ["smart"] };
    deployment = await deploy({ config: { model_routes, api_keys: [entry] } });
    const isolate = new Isolate(deployment);
    expect(await isolate.ask("sk-smart", "smart")).toBe("200");
    await deployment.edit(without(OTHER));
    expect(await isolate.ask("sk-smart", "smart")).toBe("200");
    await deployment.edit((config) => ({ ...config, api_keys: [{ ...entry, models: ["other"] }] }));
    expect(await isolate.ask("sk-smart", "smart")).toBe("403 permission_denied");
  });

  test("is known where it is new: a key is taken for no token of the provider", async () => {
    const isolate = new Isolate(deployment);
    await deployment.edit((config) => ({ ...config, keys: [...config.keys, "sk-new"] }));
    expect(await isolate.ask("sk-new")).toBe("200");
    expect(deployment.main.upstream.asked.map(({ token }) => token)).not.toContain("sk-new");
  });

  test("is known where it is new: an alias", async () => {
    const isolate = new Isolate(deployment);
    await deployment.edit((config) => ({ ...config, model_aliases: { mine: "provider-v4-pro" } }));
    expect(await isolate.ask(KEY, "mine")).toBe("200");
  });

  test("is known where it is new: the proxy of an account", async () => {
    const isolate = new Isolate(deployment);
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
    expect(deployment.main.upstream.asked.map((asked) => asked.proxy?.host)).toEqual(
      deployment.main.upstream.asked.map(() => "proxy.test"),
    );
  });
});
