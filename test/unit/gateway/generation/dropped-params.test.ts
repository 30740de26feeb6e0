import { describe, expect, test } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";

/** Members that a provider refuses by name, or never gets (`drop_params`): the provider's requests, the header and the record. */

const createGateway = useMemoryGateway();

const ANSWER = JSON.stringify({
  id: "c1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
});

const TOOL = {
  type: "function",
  function: { name: "look", parameters: { type: "object", properties: {} }, strict: true },
};

const REQUEST = {
  model: "vendor/mine",
  messages: [{ role: "user", content: "Hello?" }],
  seed: 1,
  temperature: 0.5,
  tools: [TOOL],
};

interface Vendor {
  readonly native: boolean;
  readonly drop_params?: string[];
}

function behind({ native, ...more }: Vendor, refusedName = "") {
  const upstream = new ScriptedUpstream((asked: UpstreamRequest) =>
    refusedName !== "" && asked.body.includes(`"${refusedName}"`)
      ? {
          status: 400,
          json: { error: { message: `Unsupported parameter: '${refusedName}' is not supported` } },
        }
      : { type: "application/json", body: [ANSWER] },
  );
  const vendor = { id: "vendor", driver: "openai", base_url: "http://vendor.test/v1", token: "sk", native };
  return createGateway({
    upstream,
    config: { providers: [{ ...vendor, models: { mine: "real" }, ...more }] },
  });
}

const ask = (gateway: Awaited<ReturnType<typeof behind>>) => gateway.post("/v1/chat/completions", REQUEST);

describe.each([true, false])("a request to a provider with native: %s", (native) => {
  test("is repeated without a member that the provider refuses; the header and the record name it", async () => {
    const gateway = await behind({ native }, "seed");
    for (const requests of [2, 3]) {
      const response = await ask(gateway);
      expect(await response.text()).toContain("Hi");
      expect(response.headers.get("x-gateway-dropped-params")).toBe("seed");
      expect(gateway.upstream.asked).toHaveLength(requests);
    }
    expect(gateway.upstream.asked.at(-1)?.json()).toMatchObject({ temperature: 0.5 });
    expect(await gateway.history()).toMatchObject([
      { dropped_params: ["seed"] },
      { dropped_params: ["seed"] },
    ]);
  });

  test("is sent without the members in drop_params, also deeper ones", async () => {
    const drop_params = ["temperature", "tools.function.strict", "logit_bias"];
    const gateway = await behind({ native, drop_params });
    const response = await ask(gateway);
    expect(await response.text()).toContain("Hi");
    expect(response.headers.get("x-gateway-dropped-params")).toBe("temperature,tools.function.strict");
    const { strict: _, ...plain } = TOOL.function;
    const [asked] = gateway.upstream.asked;
    expect(asked?.json()).toMatchObject({ seed: 1, tools: [{ type: "function", function: plain }] });
    expect(asked?.body).not.toMatch(/strict|temperature/);
    expect(await gateway.history()).toMatchObject([{ dropped_params: drop_params.slice(0, 2) }]);
  });

  test("names no member if the provider accepts everything", async () => {
    const gateway = await behind({ native });
    const response = await ask(gateway);
    await response.text();
    expect(response.headers.get("x-gateway-dropped-params")).toBeNull();
    expect((await gateway.history())[0]).not.toHaveProperty("dropped_params");
  });
});

describe.each([true, false])("a request to a Gemini provider with native: %s", (native) => {
  const answer = JSON.stringify({
    candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  });

  test.each([
    ["Penalty is not enabled for models/real", ["presencePenalty"]],
    ["Penalty is not enabled for models/real", ["frequencyPenalty"]],
    ["Penalty is not enabled for models/real", ["presencePenalty", "frequencyPenalty"]],
    ["frequency_penalty is not supported by this model", ["frequencyPenalty"]],
  ])("is repeated without the penalties that the provider refuses: %s, %j", async (message, refused) => {
    const upstream = new ScriptedUpstream(({ body }) =>
      refused.some((name) => body.includes(name))
        ? { status: 400, json: { error: { code: 400, status: "INVALID_ARGUMENT", message } } }
        : { type: "application/json", body: [answer] },
    );
    const vendor = {
      id: "vendor",
      driver: "gemini",
      base_url: "http://vendor.test/v1beta",
      token: "sk",
      native,
    };
    const gateway = await createGateway({
      upstream,
      config: { providers: [{ ...vendor, models: { mine: "real" } }] },
    });
    const generationConfig = { temperature: 0.5, ...Object.fromEntries(refused.map((name) => [name, 0.2])) };
    const contents = [{ role: "user", parts: [{ text: "Hello?" }] }];
    const names = refused.map((name) => `generationConfig.${name}`);
    for (let count = 0; count < 3; count += 1) {
      const before = upstream.asked.length;
      const response = await gateway.post("/v1beta/models/vendor/mine:generateContent", {
        contents,
        generationConfig,
      });
      expect(await response.text()).toContain("Hi");
      const dropped = response.headers.get("x-gateway-dropped-params") ?? "";
      expect(dropped.split(",").sort()).toEqual([...names].sort());
      // What the provider refuses is known after at most two requests.
      if (count === 2) expect(upstream.asked).toHaveLength(before + 1);
    }
    expect(upstream.asked.at(-1)?.json()).toMatchObject({ generationConfig: { temperature: 0.5 } });
  });
});

test("does not name a field that only the gateway added", async () => {
  const gateway = await behind({ native: false }, "stream_options");
  const response = await gateway.post("/v1/chat/completions", { ...REQUEST, stream: true });
  expect(await response.text()).toContain("Hi");
  expect(gateway.upstream.asked).toHaveLength(2);
  expect(response.headers.get("x-gateway-dropped-params")).toBeNull();
});

test("drop_params apply to requests that need no translation", async () => {
  const gateway = await behind({ native: true, drop_params: ["user"] });
  await (await gateway.post("/v1/moderations", { model: "vendor/mine", input: "Hello?", user: "me" })).text();
  expect(gateway.upstream.asked[0]?.json()).toEqual({ model: "real", input: "Hello?" });
});

test("drop_params remove a member from the caller's text however often it is stated", async () => {
  const gateway = await behind({ native: true, drop_params: ["user", "tools.function.strict"] });
  const twice = `{"user":"a","tools":${JSON.stringify([TOOL])},`;
  const body = JSON.stringify({ ...REQUEST, user: "b" }).replace("{", twice);
  const response = await gateway.post("/v1/chat/completions", null, { body });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-gateway-dropped-params")).toBe("user,tools.function.strict");
  expect(gateway.upstream.asked[0]?.body).not.toMatch(/"user":"[ab]"|"strict"/);
});
