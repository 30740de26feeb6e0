import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatBackend, startChatBackend } from "../support/chat-backend.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Routes whose models are ordered for each conversation. */

const api = useAdmin();
const { admin, chat } = api;
const backends: ChatBackend[] = [];

/** The provider that answers a new conversation. A conversation that has begun stays with its model. */
let conversations = 0;
async function askNew(model: string, text = "hi", extra: object = {}): Promise<string | null> {
  conversations += 1;
  const response = await chat(`${conversations}: ${text}`, { model, ...extra });
  expect(response.status, await response.text()).toBe(200);
  return response.headers.get("x-gateway-provider");
}

const setRoute = async (strategy: string, models: readonly string[]) => {
  const { status, body } = await admin("PUT", "/admin/settings", {
    model_routes: { best: { strategy, models } },
  });
  expect(status, JSON.stringify(body)).toBe(200);
};

beforeAll(async () => {
  for (const [id, delayMs] of [
    ["one", 300],
    ["two", 0],
  ] as const) {
    const backend = await startChatBackend({ models: ["m", "wide"], says: `From ${id}.`, delayMs });
    backends.push(backend);
    const models = { m: { context: id === "one" ? 4_000 : 200 }, wide: {} };
    const provider = { id, driver: "openai", base_url: backend.url, models };
    expect((await admin("POST", "/admin/providers", provider)).status).toBe(200);
  }
});
afterAll(() => Promise.all(backends.map((backend) => backend.close())));
beforeEach(() => admin("PUT", "/admin/settings", { model_routes: {}, prices: {} }));

describe("the models of a route", () => {
  it("are asked in the order of their price, and those without one last", async () => {
    await setRoute("cheapest", ["one/m", "two/m"]);
    await admin("PUT", "/admin/settings", { prices: { "two/m": { input: 9, output: 9 } } });
    expect(await askNew("best")).toBe("two");
    const prices = { "two/m": { input: 9, output: 9 }, "one/m": { input: 1, output: 1 } };
    await admin("PUT", "/admin/settings", { prices });
    expect(await askNew("best")).toBe("one");
    const models = encodeURIComponent(JSON.stringify(["two/m", "one/m", "one/wide"]));
    const { status, body } = await admin("GET", `/admin/route-order?strategy=cheapest&models=${models}`);
    expect([status, body]).toMatchObject([
      200,
      {
        prompt_tokens: 1_000,
        completion_tokens: 500,
        targets: [
          { model: "one/m", provider: "one", health: "healthy", cost: 0.0015, context: 4_000 },
          { model: "two/m", provider: "two", cost: 0.0135 },
          { model: "one/wide", cost: null, context: null },
        ],
      },
    ]);
    // A route without a strategy knows no prices.
    await admin("PUT", "/admin/settings", { model_routes: { best: ["two/m", "one/m"] } });
    expect(await askNew("best")).toBe("two");
  });

  it("are asked by their context: the smallest that has room", async () => {
    await setRoute("context", ["one/m", "two/m"]);
    expect(await askNew("best")).toBe("two");
    expect(await askNew("best", "many words ".repeat(300))).toBe("one");
  });

  it("are asked by the time until their first token, once each was measured", async () => {
    await setRoute("fastest", ["one/wide", "two/wide"]);
    const asked: (string | null)[] = [];
    for (let turn = 0; turn < 4; turn += 1) asked.push(await askNew("best", "hi", { stream: true }));
    expect(asked).toEqual(["one", "two", "two", "two"]);
  });
});

describe("a conversation", () => {
  it("stays with its model, also when another one becomes cheaper", async () => {
    await setRoute("cheapest", ["one/m", "two/m"]);
    const turn = async () =>
      (await chat("always the same", { model: "best" })).headers.get("x-gateway-provider");
    await admin("PUT", "/admin/settings", { prices: { "one/m": { input: 1, output: 1 } } });
    expect(await turn()).toBe("one");
    await admin("PUT", "/admin/settings", { prices: { "two/m": { input: 1, output: 1 } } });
    expect(await turn()).toBe("one");
    expect(await askNew("best")).toBe("two");
  });
});

describe("the strategy of a route", () => {
  it("is edited with its models, and kept by backups", async () => {
    const route = { name: "cheap", strategy: "cheapest", models: ["one/m", "two/m"] };
    expect((await admin("POST", "/admin/routes", route)).body).toEqual(route);
    await admin("PUT", "/admin/routes/cheap", { models: ["two/m"] });
    expect((await admin("GET", "/admin/routes/cheap")).body).toEqual({ ...route, models: ["two/m"] });
    const exported = Object((await admin("GET", "/admin/config/export")).body["config"]);
    const stored = { strategy: "cheapest", models: ["two/m"] };
    expect(exported.model_routes).toEqual({ cheap: stored });
    await admin("DELETE", "/admin/routes/cheap");
    await admin("POST", "/admin/config/import?mode=merge", { model_routes: { cheap: stored } });
    expect((await admin("GET", "/admin/settings")).body["model_routes"]).toEqual({ cheap: stored });
    // Without a strategy, a route is stored as before.
    await admin("PUT", "/admin/routes/cheap", { strategy: "order" });
    expect((await admin("GET", "/admin/settings")).body["model_routes"]).toEqual({ cheap: ["two/m"] });
  });

  it.each([
    ["weights that it does not use", { strategy: "cheapest", models: [{ model: "one/m", weight: 2 }] }],
    ["a model that is none", { strategy: "cheapest", models: ["nobody/m"] }],
    ["another name", { strategy: "luckiest", models: ["one/m"] }],
    ["no model", { strategy: "fastest", models: [] }],
    ["another field", { strategy: "fastest", models: ["one/m"], seed: 1 }],
  ])("is refused with %s", async (_, route) => {
    expect((await admin("PUT", "/admin/settings", { model_routes: { best: route } })).status).toBe(400);
    expect((await admin("POST", "/admin/routes", { name: "best", ...route })).status).toBe(400);
  });
});
