import { describe, expect, it } from "vitest";
import { MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";

/** Which requests to a provider of the caller's own protocol are equal. */

const make = useMemoryGateway();

const ANSWER = {
  id: "c1",
  model: "real-name",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 3 },
};
const provider = {
  id: "vendor",
  driver: "openai",
  base_url: "http://vendor.test/v1",
  token: "sk-of-the-account",
  models: { mine: "real-name" },
};

async function createClient() {
  const gateway = await make({
    upstream: new ScriptedUpstream(() => ({ json: ANSWER })),
    config: { cache: { ttl_seconds: 600 }, providers: [provider] },
  });
  /** The results of two requests with members as JSON texts, one after the other. */
  return async (...requests: string[]) => {
    const results: (string | null)[] = [];
    for (const members of requests) {
      const body = `{"model":"vendor/mine","messages":[{"role":"user","content":"hello: \\"}"}],${members}}`;
      const response = await gateway.post("/v1/chat/completions", null, { body });
      await response.text();
      await gateway.settle();
      const result = response.headers.get("x-gateway-cache");
      // Only a new answer has a path.
      const path = result === "hit" ? null : "native";
      expect([members, response.status, response.headers.get("x-gateway-path")]).toEqual([
        members,
        200,
        path,
      ]);
      results.push(result);
    }
    return results;
  };
}

describe("requests that the provider gets as text", () => {
  it.each([
    ["an integer beyond what is exact", '"seed":9007199254740992', '"seed":9007199254740993'],
    ["a fraction with too many digits", '"top_p":0.5', '"top_p":0.500000000000000000001'],
    ["a number too large", '"seed":1e400', '"seed":1e500'],
    ["a number too small", '"top_p":0', '"top_p":1e-400'],
    ["a repeated member", '"temperature":0.5', '"temperature":0.1,"temperature":0.5'],
    ["a repeated member within", '"metadata":{"a":"1"},"x":{"b":1}', '"x":{"b":2,"b":1}'],
    ["a repeated member that parsers join", '"x":{"a":1}', '"x":{"b":2},"x":{"a":1}'],
  ])("differ in %s", async (_, first, second) => {
    const ask = await createClient();
    expect(await ask(first, second, second)).toEqual(["miss", "miss", "miss"]);
  });

  it.each([
    ["many digits as programs write them", '"top_p":0.30000000000000004'],
    ["names with escapes", '"x":{"a\\u0062:":[1,{"b":"{\\"c\\":1}"}],"y":-1.50e-2,"z":""}'],
    ["large exact integers", '"seed":-9007199254740991'],
  ])("are equal with %s", async (_, members) => {
    const ask = await createClient();
    expect(await ask(members, members)).toEqual(["miss", "hit"]);
  });
});

describe("a request for several answers", () => {
  it.each(['"n":2', '"n":3,"seed":1', '"best_of":2'])("never comes from the cache: %s", async (members) => {
    const ask = await createClient();
    expect(await ask(members, members)).toEqual(["miss", "miss"]);
  });

  it("may ask for one", async () => {
    const ask = await createClient();
    expect(await ask('"n":1', '"n":1')).toEqual(["miss", "hit"]);
  });
});

it.each([
  ["PROVIDER_DROP_PARAMS", "seed"],
  ["PROVIDER_TOOL_CALLS", "markup"],
  ["PROVIDER_NATIVE", "false"],
])("a change of %s starts a new cache", async (name, value) => {
  const { responseCache } = (await make()).platform;
  const ask = async (env: Record<string, string>) => {
    const { platform, upstream, lines } = await make({ env, config: { cache: { ttl_seconds: 600 } } });
    const gateway = new MemoryGateway({ ...platform, responseCache }, upstream, lines);
    const messages = [{ role: "user", content: "hello" }];
    const response = await gateway.post("/v1/chat/completions", { model: "provider-v4-flash", messages });
    await response.text();
    await gateway.settle();
    return response.headers.get("x-gateway-cache");
  };
  expect([await ask({}), await ask({}), await ask({ [name]: value })]).toEqual(["miss", "hit", "miss"]);
});
