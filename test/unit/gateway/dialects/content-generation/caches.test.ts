import { beforeEach, describe, expect, test } from "vitest";
import { type MemoryGateway, useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { KEY } from "../../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../../support/scripted-upstream.ts";

/** Prompts that a Gemini provider caches under names: they live at one of its accounts. */

const OTHER_KEY = "sk-other";
const LIMITED_KEY = "sk-limited";
const EXPIRE_TIME = "2999-01-01T00:00:00Z";

const createGateway = useMemoryGateway();

/** The names of the vendor's caches, with the key that created each. */
let names: Map<string, string>;
let gateway: MemoryGateway;
const keyOf = ({ headers }: UpstreamRequest) => headers.get("x-goog-api-key") ?? "";

/** Answers like the vendor: a cache is known only with the key that created it. */
function answer(asked: UpstreamRequest): Reply {
  const { method, path } = asked;
  const denied: Reply = { status: 403, json: { error: { code: 403, message: "no permission" } } };
  const shown = { model: "models/real-name", expireTime: EXPIRE_TIME, unknown: [1.5] };
  const [, name = ""] = /\/(cachedContents\/[^/?]+)/.exec(path) ?? [];
  if (path.includes(":generateContent")) {
    if (names.get(String(asked.json()["cachedContent"])) !== keyOf(asked)) return denied;
    const content = { role: "model", parts: [{ text: "Hi" }] };
    return { json: { candidates: [{ content, finishReason: "STOP" }] } };
  }
  if (method === "POST") {
    const created = `cachedContents/made-${names.size}`;
    names.set(created, keyOf(asked));
    return { json: { name: created, ...shown } };
  }
  if (names.get(name) !== keyOf(asked)) return denied;
  if (method !== "DELETE") return { json: { name, ...shown, method } };
  names.delete(name);
  return { json: {} };
}

beforeEach(async () => {
  names = new Map();
  gateway = await createGateway({
    upstream: new ScriptedUpstream(answer),
    config: {
      keys: [KEY, OTHER_KEY],
      api_keys: [{ id: "limited", key: LIMITED_KEY, models: ["plain/*"] }],
      callers: { unknown_keys: "refuse" },
      accounts: ["one", "two"].map((name) => ({ token: `sk-account-${name}`, name, provider: "cont" })),
      providers: [
        {
          id: "cont",
          driver: "gemini",
          base_url: "http://vendor.test",
          models: { m: "real-name" },
          strategy: "round_robin",
        },
        { id: "plain", driver: "openai", base_url: "http://plain.test/v1", token: "sk-p", models: { m: {} } },
      ],
      model_routes: { routed: ["plain/m", "cont/m"] },
    },
  });
});

async function ask(
  method: string,
  path: string,
  body?: object,
  key = KEY,
): Promise<[number, Record<string, unknown>]> {
  const response = await gateway.request(`/v1beta/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return [response.status, JSON.parse(await response.text())];
}

const CONTENTS = [{ role: "user", parts: [{ text: "long" }] }];
const create = (model: string, more: object = {}, key = KEY) =>
  ask("POST", "cachedContents", { model, contents: CONTENTS, ...more }, key);

async function created(model = "models/cont/m"): Promise<string> {
  const [status, { name }] = await create(model);
  expect([status, typeof name]).toEqual([200, "string"]);
  return String(name);
}

describe("cached contents", () => {
  test("are created, used, changed and deleted at one account", async () => {
    const [, cache] = await create("models/cont/m", { ttl: "60s" });
    expect(cache).toMatchObject({ model: "models/cont/m", expireTime: EXPIRE_TIME, unknown: [1.5] });
    expect(gateway.upstream.asked[0]?.json()).toMatchObject({ model: "models/real-name", ttl: "60s" });
    const all = [String(cache["name"]), await created()];
    expect(new Set(names.values()).size).toBe(2);
    for (const cachedContent of all)
      for (let turn = 0; turn < 3; turn += 1) {
        const [status] = await ask("POST", "models/cont/m:generateContent", {
          contents: CONTENTS,
          cachedContent,
        });
        expect(status).toBe(200);
      }
    for (const name of all) {
      expect(await ask("GET", name)).toMatchObject([200, { name, model: "models/cont/m" }]);
      expect(await ask("PATCH", `${name}?updateMask=ttl`, { ttl: "9s" })).toMatchObject([
        200,
        { method: "PATCH", model: "models/cont/m" },
      ]);
      expect(await ask("DELETE", name)).toEqual([200, {}]);
      expect((await ask("GET", name))[0]).toBe(404);
    }
    expect(names.size).toBe(0);
  });

  test("are listed in pages, the newest first, in their last known state", async () => {
    const all = [await created(), await created(), await created()].toReversed();
    const [, first] = await ask("GET", "cachedContents?pageSize=2");
    expect(first).toMatchObject({ cachedContents: all.slice(0, 2).map((name) => ({ name })) });
    const [, second] = await ask("GET", `cachedContents?pageSize=2&pageToken=${first["nextPageToken"]}`);
    expect(second).toMatchObject({ cachedContents: [{ name: all[2], model: "models/cont/m" }] });
    expect(second).not.toHaveProperty("nextPageToken");
  });

  test("of a route are created at its first model whose provider supports them", async () => {
    const [, cache] = await create("models/routed");
    expect(cache).toMatchObject({ model: "models/routed" });
    expect(gateway.upstream.asked.map(({ host }) => host)).toEqual(["vendor.test"]);
  });

  test("of one caller are unknown to others, and the provider is not asked", async () => {
    const name = await created();
    const calls = gateway.upstream.asked.length;
    for (const [method, body] of [["GET"], ["DELETE"], ["PATCH", {}]] as const)
      expect((await ask(method, name, body, OTHER_KEY))[0]).toBe(404);
    expect(await ask("GET", "cachedContents", undefined, OTHER_KEY)).toEqual([200, {}]);
    expect(gateway.upstream.asked).toHaveLength(calls);
  });

  test.each([
    ["without a model", {}, KEY, 400],
    ["of an unknown model", { model: "models/none/such" }, KEY, 400],
    ["of a provider without caches", { model: "models/plain/m" }, KEY, 501],
    ["of a model that the key must not use", { model: "models/cont/m" }, LIMITED_KEY, 403],
    ["with a file of the gateway", { model: "cont/m", x: `/v1beta/files/file-${"0".repeat(32)}` }, KEY, 400],
  ])("are refused %s", async (_, body, key, status) => {
    expect(await ask("POST", "cachedContents", body, key)).toMatchObject([
      status,
      { error: { code: status } },
    ]);
    expect(names.size).toBe(0);
  });

  test("whose account was deleted are unknown", async () => {
    const name = await created();
    await gateway.platform.configuration.update((config) => ({ ...config, accounts: [] }));
    expect((await ask("GET", name))[0]).toBe(404);
  });
});
