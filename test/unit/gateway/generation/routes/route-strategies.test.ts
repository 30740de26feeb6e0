import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_ENV, callAdmin } from "../../../../support/memory-admin.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../../support/scripted-upstream.ts";
import { completionsScript } from "../../../../support/upstream-scripts.ts";

/** Routes whose models are ordered for each conversation. */

const createGateway = useMemoryGateway();
const speaks = completionsScript();

const provider = (id: string, context: number) => ({
  id,
  driver: "openai",
  base_url: `http://${id}.test/v1`,
  token: `sk-${id}`,
  models: { m: { context }, wide: {} },
});
const PRICES = { "two/m": { input: 9, output: 9 }, "one/m": { input: 1, output: 1 } };

describe("the models of a route", () => {
  let gateway: MemoryGateway;
  let conversations = 0;

  beforeEach(async () => {
    gateway = await createGateway({
      env: ADMIN_ENV,
      config: { providers: [provider("one", 4_000), provider("two", 200)] },
      upstream: new ScriptedUpstream((asked) =>
        asked.host === "one.test" ? { late: 300, reply: speaks(asked) } : speaks(asked),
      ),
    });
  });

  const setRoute = async (strategy: string, models: readonly string[], prices: object = {}) => {
    const settings = { prices, model_routes: { best: { strategy, models } } };
    expect((await callAdmin(gateway, "PUT", "/settings", settings)).status).toBe(200);
  };

  /** The provider that answers a new conversation. */
  async function askNew(text = "hi"): Promise<string | null> {
    conversations += 1;
    const messages = [{ role: "user", content: `${conversations}: ${text}` }];
    const asked = gateway.post("/v1/chat/completions", { model: "best", messages, stream: true });
    await pass(500);
    const response = await asked;
    expect(response.status, await response.text()).toBe(200);
    await gateway.settle();
    return response.headers.get("x-gateway-provider");
  }

  test.each([
    ["cheapest", "are asked by their price", PRICES, "one"],
    ["cheapest", "without a price come last", { "two/m": PRICES["two/m"] }, "two"],
    ["cheapest", "stay in their order without prices", {}, "one"],
  ])("of the strategy %s %s", async (strategy, _, prices, expected) => {
    await setRoute(strategy, ["one/m", "two/m"], prices);
    expect(await askNew()).toBe(expected);
  });

  test("are asked by context: the smallest that is large enough", async () => {
    await setRoute("context", ["one/m", "two/m"]);
    expect(await askNew()).toBe("two");
    expect(await askNew("many words ".repeat(300))).toBe("one");
  });

  test("are asked by the time until their first token, after each was measured", async () => {
    await setRoute("fastest", ["one/wide", "two/wide"]);
    const asked: (string | null)[] = [];
    for (let turn = 0; turn < 4; turn += 1) asked.push(await askNew());
    expect(asked).toEqual(["one", "two", "two", "two"]);
    const { body } = await order("fastest", ["one/wide", "two/wide"]);
    expect(body).toMatchObject({ targets: [{ model: "two/wide" }, { model: "one/wide" }] });
    const [two, one] = Array.isArray(body["targets"]) ? body["targets"] : [];
    expect(one.first_token_ms - two.first_token_ms).toBeGreaterThanOrEqual(300);
  });

  const order = (strategy: string, models: readonly string[] | string) =>
    callAdmin(
      gateway,
      "GET",
      `/route-order?${new URLSearchParams({ strategy, models: typeof models === "string" ? models : JSON.stringify(models) })}`,
    );

  test("are shown to administrators in order, with the reasons", async () => {
    await setRoute("order", ["one/m"], PRICES);
    expect(await order("cheapest", ["two/m", "one/m", "one/wide"])).toMatchObject({
      status: 200,
      body: {
        prompt_tokens: 1_000,
        completion_tokens: 500,
        targets: [
          { model: "one/m", provider: "one", health: "healthy", cost: 0.0015, context: 4_000 },
          { model: "two/m", provider: "two", cost: 0.0135, context: 200 },
          { model: "one/wide", cost: null, context: null, first_token_ms: null },
        ],
      },
    });
    expect((await order("order", ["two/m", "one/m"])).body).toMatchObject({
      targets: [{ model: "two/m" }, { model: "one/m" }],
    });
    expect((await order("order", ["nobody/none"])).body).toMatchObject({ targets: [] });
    expect((await order("order", "no list")).status).toBe(400);
    expect(gateway.upstream.asked).toEqual([]);
  });
});
