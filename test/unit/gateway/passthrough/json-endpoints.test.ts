import { describe, expect, test } from "vitest";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";

/** Endpoints that need no translation: JSON goes in; JSON, events or bytes come out as the provider wrote them. */

const createGateway = useMemoryGateway();

const VENDOR = {
  id: "vendor",
  driver: "openai",
  base_url: "http://vendor.test/v1",
  token: "sk-of-the-account",
  models: { mine: "real-name" },
};
const OTHER = { ...VENDOR, id: "other", base_url: "http://other.test/v1", models: { too: "other-name" } };

function behind(reply: (asked: UpstreamRequest) => Reply, config: object = {}) {
  return createGateway({
    upstream: new ScriptedUpstream(reply),
    config: { providers: [VENDOR, OTHER], ...config },
  });
}

const send = (gateway: MemoryGateway, path: string, text: string, headers: Record<string, string> = {}) =>
  gateway.post(path, null, { body: text, headers });

const requestOf = (more: object = {}) => JSON.stringify({ model: "vendor/mine", input: "Hello", ...more });

const ok = (body: string, type = "application/json", headers = {}): Reply => ({
  type,
  body: [body],
  headers,
});

const ENDPOINTS = [
  ["/v1/moderations", "/v1/moderations"],
  ["/v1/rerank", "/v1/rerank"],
  ["/rerank", "/v1/rerank"],
  ["/v1/images/generations", "/v1/images/generations"],
  ["/v1/audio/speech", "/v1/audio/speech"],
] as const;

describe.each(ENDPOINTS)("POST %s", (path, upstreamPath) => {
  test("sends the body unchanged except for the model's name, and returns the answer unchanged", async () => {
    const gateway = await behind(() => ok('{"x" : [1.0], "model":"real-name"}'));
    const text =
      '{ "z": 1.0, "model" : "vendor/mine", "input": "Hello", "new": {"model": "vendor/mine"}, "a":[] }';
    const response = await send(gateway, path, text);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"x" : [1.0], "model":"real-name"}');
    const [asked] = gateway.upstream.asked;
    expect(asked?.path).toBe(upstreamPath);
    expect(asked?.body).toBe(text.replace('"vendor/mine"', '"real-name"'));
    expect(asked?.token).toBe("sk-of-the-account");
  });
});

describe("the cost of an answer that passes through", () => {
  const priced = { prices: { "vendor/mine": { input: 2, output: 10 } } };
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 100_000 };

  test.each([
    ["short JSON", "application/json", [JSON.stringify({ data: [], usage })], "3"],
    ["JSON in pieces", "application/json", ['{"usage":', JSON.stringify(usage), "}"], "3"],
    ["long JSON", "application/json", [JSON.stringify({ data: "x".repeat(70_000), usage })], null],
    ["a stream", "text/event-stream", [`data: ${JSON.stringify({ usage })}\n\n`], null],
  ])("of %s is in a header if it is known in time", async (_, type, body, cost) => {
    const gateway = await behind(() => ({ type, body }), priced);
    const response = await send(gateway, "/v1/images/generations", requestOf());
    expect([response.status, response.headers.get("x-gateway-cost")]).toEqual([200, cost]);
    expect(await response.text()).toBe(body.join(""));
    await gateway.settle();
    expect((await gateway.history())[0]).toMatchObject({
      prompt_tokens: 1_000_000,
      completion_tokens: 100_000,
    });
  });

  test("that breaks off before its headers were sent is an error if nothing else can answer", async () => {
    const gateway = await behind(() => ({ type: "application/json", body: ['{"data":', "reset"] }), priced);
    const response = await send(gateway, "/v1/images/generations", requestOf());
    expect(response.status).toBe(503);
    expect(gateway.upstream.asked).toHaveLength(1);
  });

  const TWO_ACCOUNTS = [
    { token: "sk-1", provider: "vendor" },
    { token: "sk-2", provider: "vendor" },
  ];
  const ROUTE = { any: [{ model: "vendor/mine" }, { model: "other/too" }] };

  test.each([
    ["another account", "vendor/mine", { providers: [VENDOR], accounts: TWO_ACCOUNTS }],
    ["the next model of its route", "any", { model_routes: ROUTE }],
  ])("that breaks off before its headers were sent is made by %s", async (_, model, config) => {
    let answers = 0;
    const text = JSON.stringify({ data: [], usage });
    const gateway = await behind(
      () => (++answers === 1 ? { type: "application/json", body: ['{"data":[1', "reset"] } : ok(text)),
      { ...priced, ...config },
    );
    const response = await send(gateway, "/v1/images/generations", requestOf({ model }));
    expect([response.status, await response.text()]).toEqual([200, text]);
    expect(gateway.upstream.asked).toHaveLength(2);
    await gateway.settle();
    expect((await gateway.history())[0]).toMatchObject({
      status: "success",
      content: text,
      prompt_tokens: 1_000_000,
      completion_tokens: 100_000,
    });
  });

  test("that stops before its headers were sent ends with the time of the caller", async () => {
    const gateway = await behind(() => ({ type: "application/json", body: ['{"data":', "silence"] }), priced);
    const sent = send(gateway, "/v1/images/generations", requestOf(), { "x-gateway-timeout": "1000" });
    await pass(1_001);
    const response = await sent;
    expect([response.status, await response.json()]).toMatchObject([
      504,
      { error: { code: "request_timeout" } },
    ]);
    await gateway.expectIdle();
  });
});

describe("an endpoint without translation", () => {
  test("forwards the headers of the protocol in both directions, and no others", async () => {
    const gateway = await behind(() =>
      ok("{}", "application/json; charset=x", {
        "openai-processing-ms": "3",
        "openai-organization": "org",
        "set-cookie": "a=b",
        "x-request-id": "up-1",
      }),
    );
    const response = await send(gateway, "/v1/moderations", requestOf(), {
      "openai-beta": "b",
      "openai-organization": "mine",
      cookie: "c=d",
      "x-stainless-lang": "js",
    });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json; charset=x",
      "openai-processing-ms": "3",
      "x-gateway-upstream-request-id": "up-1",
      "x-gateway-path": "native",
      "x-gateway-provider": "vendor",
    });
    expect(response.headers.has("set-cookie")).toBe(false);
    expect(response.headers.has("openai-organization")).toBe(false);
    const { headers } = gateway.upstream.asked[0] ?? {};
    expect(headers?.get("openai-beta")).toBe("b");
    expect(headers?.get("x-stainless-lang")).toBe("js");
    expect(headers?.get("content-type")).toBe("application/json");
    expect(headers?.has("openai-organization")).toBe(false);
    expect(headers?.has("cookie")).toBe(false);
    await response.text();
  });

  test("passes on binary data", async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
    const gateway = await behind(() => ({ type: "audio/mpeg", body: [bytes.slice(0, 9), bytes.slice(9)] }));
    const response = await send(gateway, "/v1/audio/speech", requestOf({ voice: "alloy" }));
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    const [record] = await gateway.history();
    expect(record).toMatchObject({
      content: "[audio/mpeg, 100000 bytes]",
      path: "native",
      status: "success",
    });
  });

  test("sends no model if the API has a default, and requires it elsewhere", async () => {
    const gateway = await behind(() => ok("{}"));
    const vendorIsDefault = await createGateway({
      upstream: new ScriptedUpstream(() => ok("{}")),
      env: { PROVIDER_DRIVER: "openai", PROVIDER_TOKEN: "sk-x" },
      config: { accounts: [{ token: "sk-x" }] },
    });
    const text = '{"input":"Hello"}';
    await (await send(vendorIsDefault, "/v1/moderations", text)).text();
    expect(vendorIsDefault.upstream.asked[0]?.body).toBe(text);
    const refused = await send(gateway, "/v1/audio/speech", text);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { param: "model" } });
  });

  test("sends unknown names to a default provider that has these endpoints", async () => {
    const gateway = await createGateway({
      upstream: new ScriptedUpstream(() => ok("{}")),
      env: { PROVIDER_DRIVER: "openai", PROVIDER_TOKEN: "sk-x", PROVIDER_MODELS: '{"tts-1":"kokoro"}' },
      config: { accounts: [{ token: "sk-x" }], providers: [VENDOR] },
    });
    for (const [name, sent] of [
      ["tts-1-hd", "tts-1-hd"],
      ["tts-1", "kokoro"],
    ]) {
      await (await send(gateway, "/v1/audio/speech", JSON.stringify({ model: name, input: "x" }))).text();
      expect(gateway.upstream.asked.at(-1)?.json()).toMatchObject({ model: sent });
    }
    const before = gateway.upstream.asked.length;
    const disabled = await behind(() => ok("{}"), { providers: [{ ...VENDOR, enabled: false }] });
    const refused = await send(disabled, "/v1/audio/speech", requestOf());
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(gateway.upstream.asked.length).toBe(before);
    expect(disabled.upstream.asked).toEqual([]);
  });

  test.each([
    ["no object", "[1]", 400],
    ["no JSON", "{", 400],
    ["two models", '{"model":"vendor/mine","input":"x","\\u006dodel":"other/too"}', 400],
    ["a model that is no text", '{"model":7,"input":"x"}', 400],
  ])("refuses %s", async (_, text, status) => {
    const gateway = await behind(() => ok("{}"));
    const response = await send(gateway, "/v1/audio/speech", text);
    expect(response.status).toBe(status);
    await response.text();
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("is a 501 if the provider's protocol does not have it", async () => {
    const gateway = await behind(() => ok("{}"), {
      providers: [{ ...VENDOR, driver: "anthropic" }],
    });
    const response = await send(gateway, "/v1/rerank", requestOf());
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({
      error: { code: "unsupported", message: 'the provider "vendor" has no endpoint /rerank' },
    });
  });

  test.each([404, 405, 501])(
    "is a 501 if the backend lacks the path (%i), unless another model of the route answers",
    async (status) => {
      const script = ({ host }: UpstreamRequest): Reply =>
        host === "vendor.test" ? { status, json: { detail: "Not Found" } } : ok('{"ok":1}');
      const gateway = await behind(script, {
        model_routes: { any: [{ model: "vendor/mine" }, { model: "other/too" }] },
      });
      const refused = await send(gateway, "/v1/rerank", requestOf());
      expect(refused.status).toBe(501);
      expect(await refused.json()).toMatchObject({ error: { code: "unsupported" } });
      const routed = await send(gateway, "/v1/rerank", requestOf({ model: "any" }));
      expect(await routed.text()).toBe('{"ok":1}');
      expect(routed.headers.get("x-gateway-provider")).toBe("other");
    },
  );

  test("keeps status, message, code, type and param of a refusal", async () => {
    const errors = [
      {
        status: 400,
        error: { message: "Bad  voice\n!", type: "invalid_request_error", code: "bad_voice", param: "voice" },
      },
      {
        status: 404,
        error: {
          message: "The model `real-name` does not exist",
          type: "invalid_request_error",
          code: "model_not_found",
          param: null,
        },
      },
      { status: 422, error: { message: "No.", type: "invalid_request_error", code: "no", param: null } },
    ];
    for (const { status, error } of errors) {
      const gateway = await behind(() => ({ status, json: { error } }));
      const response = await send(gateway, "/v1/audio/speech", requestOf());
      expect(response.status).toBe(status);
      expect(await response.json()).toEqual({ error });
    }
  });

  test("replaces a refused account before the first byte", async () => {
    const gateway = await behind(
      ({ token }) =>
        token === "sk-1" ? { status: 429, json: { error: { message: "slow" } } } : ok('{"ok":1}'),
      {
        providers: [VENDOR],
        accounts: [
          { token: "sk-1", provider: "vendor" },
          { token: "sk-2", provider: "vendor" },
        ],
      },
    );
    for (let turn = 0; turn < 2; turn += 1) {
      const response = await send(gateway, "/v1/moderations", requestOf());
      expect(await response.text()).toBe('{"ok":1}');
      await pass(10);
    }
    expect(gateway.upstream.asked.filter(({ token }) => token === "sk-1")).toHaveLength(1);
  });

  test("uses the next model of the route if an answer breaks before its first byte", async () => {
    const gateway = await behind(
      ({ host }) =>
        host === "vendor.test" ? { body: ["reset"], type: "audio/mpeg" } : ok("sound", "audio/mpeg"),
      {
        model_routes: { voice: [{ model: "vendor/mine" }, { model: "other/too" }] },
      },
    );
    const response = await send(gateway, "/v1/audio/speech", requestOf({ model: "voice" }));
    expect(await response.text()).toBe("sound");
  });

  test("breaks the answer to the caller, too, if it breaks later", async () => {
    const gateway = await behind(() => ({ type: "audio/mpeg", body: ["so", "reset"] }));
    const response = await send(gateway, "/v1/audio/speech", requestOf());
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    const [record] = await gateway.history();
    expect(record).toMatchObject({ status: "error" });
    expect(gateway.lines.at(-1)).toMatchObject({ error: "upstream_error", operation: "audio" });
  });

  test("ends broken events with an error event", async () => {
    const gateway = await behind(() => ({ body: ['data: {"type":"a"}\n\n', "reset"] }));
    const response = await send(gateway, "/v1/images/generations", requestOf({ stream: true }));
    const text = await response.text();
    expect(text).toMatch(/^data: {"type":"a"}\n\ndata: {"error":{.*"upstream_error".*}}\n\n$/);
  });

  test("hides the account's token in an error event for any split", async () => {
    const event =
      'event: error\ndata: {"type":"error","error":{"message":"Incorrect API key: sk-of-the-account"}}\n\n';
    const gateway = await behind(() => ({ body: ['data: {"type":"a"}\n\n', ...event] }));
    const response = await send(gateway, "/v1/images/generations", requestOf({ stream: true }));
    expect(await response.text()).toBe(
      `data: {"type":"a"}\n\n${event.replace("sk-of-the-account", "[masked]")}`,
    );
  });

  test("passes on a long event without a line break in pieces", async () => {
    const line = `data: {"b64_json":"${"x".repeat(300_000)}"}`;
    const gateway = await behind(() => ({ body: [line.slice(0, 200_000), "silence"] }));
    const response = await send(gateway, "/v1/images/generations", requestOf({ stream: true }));
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(value?.length).toBeGreaterThan(10_000);
  });

  test("gives up a silent provider after the idle limit", async () => {
    const gateway = await behind(() => ({ type: "audio/mpeg", body: ["so", "silence"] }));
    const response = await send(gateway, "/v1/audio/speech", requestOf());
    const read = response.text().catch((error: unknown) => error);
    await pass(130_000);
    expect(await read).toBeInstanceOf(Error);
    expect(gateway.upstream.asked[0]?.outcome).toBe("cancelled");
    await gateway.expectIdle();
  });

  test("cancels the request to the provider if the client leaves", async () => {
    const gateway = await behind(() => ({ type: "audio/mpeg", body: ["so", "silence"] }));
    const leaving = new AbortController();
    const response = await gateway.post("/v1/audio/speech", null, {
      body: requestOf(),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    await gateway.expectIdle();
    expect(gateway.upstream.asked[0]?.outcome).toBe("cancelled");
    expect(gateway.lines.at(-1)).toMatchObject({ error: "request_cancelled" });
  });

  test("waits for a slow reader", async () => {
    let taken = 0;
    function* pieces() {
      for (; taken < 100; taken += 1) yield new Uint8Array(16 * 1024);
    }
    const gateway = await behind(() => ({ type: "audio/mpeg", body: pieces() }));
    const response = await send(gateway, "/v1/audio/speech", requestOf());
    await pass(1_000);
    expect(taken).toBeLessThan(10);
    expect((await response.arrayBuffer()).byteLength).toBe(100 * 16 * 1024);
  });
});

describe("the record of such a request", () => {
  test.each([
    [
      "tokens",
      '{"data":[],"usage":{"input_tokens":7,"output_tokens":3,"input_tokens_details":{"text_tokens":7}}}',
      { prompt_tokens: 7, completion_tokens: 3 },
    ],
    ["a total", '{"usage":{"total_tokens":9},"results":[]}', { prompt_tokens: 9 }],
    ["search units", '{"results":[],"meta":{"billed_units":{"search_units":2}}}', { search_units: 2 }],
    ["seconds", '{"text":"x","usage":{"type":"duration","seconds":12.5}}', { audio_seconds: 12.5 }],
    [
      "tokens behind a large image",
      `{"data":[{"b64_json":"${"x".repeat(300_000)}"}],"usage":{"input_tokens":7,"output_tokens":3}}`,
      { prompt_tokens: 7, completion_tokens: 3 },
    ],
    ["nothing", '{"results":[]}', { prompt_tokens: 1 }],
    [
      "absurd counts",
      '{"usage":{"input_tokens":99999999999,"output_tokens":1}}',
      { prompt_tokens: 1, usage_refused: true },
    ],
    [
      "parts that are more than the whole",
      '{"usage":{"input_tokens":7,"output_tokens":3,"input_tokens_details":{"cached_tokens":1e15}}}',
      { prompt_tokens: 7, cached_tokens: 7 },
    ],
    [
      "absurd seconds",
      '{"text":"x","usage":{"type":"duration","seconds":1e308}}',
      { prompt_tokens: 1, usage_refused: true },
    ],
    [
      "a text that looks like usage",
      JSON.stringify({ text: '"usage":{"input_tokens":99}' }),
      { prompt_tokens: 1 },
    ],
  ])("%s", async (_, answer, expected) => {
    const gateway = await behind(() => ok(answer));
    await (await send(gateway, "/v1/images/generations", requestOf({ prompt: "Hello" }))).text();
    await gateway.settle();
    expect(gateway.lines.at(-1)).toMatchObject({
      operation: "images",
      dialect: "chat-completions",
      model: "vendor/mine",
      provider: "vendor",
      ...expected,
    });
  });

  test("has the usage of a stream's last event", async () => {
    const events = [
      'data: {"type":"image_generation.partial_image","usage":{"input_tokens":1,"output_tokens":1}}\n\n',
      'data: {"type":"image_generation.completed","usage":{"input_tokens":5,"output_tokens":6}}\n\n',
    ];
    const gateway = await behind(() => ({ body: events }));
    const response = await send(
      gateway,
      "/v1/images/generations",
      requestOf({ stream: true, prompt: "A cat" }),
    );
    expect(await response.text()).toBe(events.join(""));
    const [record] = await gateway.history();
    expect(record).toMatchObject({ prompt_tokens: 5, completion_tokens: 6, stream: true });
    expect(JSON.stringify(record?.messages)).toContain("A cat");
  });

  test("counts towards limits of requests and tokens", async () => {
    const gateway = await behind(() => ok('{"usage":{"total_tokens":50}}'), {
      keys: [],
      api_keys: [{ id: "k", key: KEY, limits: { requests_per_minute: 2, tokens_per_minute: 1_000 } }],
    });
    const remaining: (string | null)[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const response = await send(gateway, "/v1/rerank", requestOf());
      await response.text();
      await gateway.settle();
      remaining.push(response.headers.get("x-ratelimit-remaining-tokens"));
      if (turn === 2) expect(response.status).toBe(429);
    }
    expect(Number(remaining[0]) - Number(remaining[1])).toBe(50);
  });

  test.each([
    [{ models: ["other/*"] }, 403],
    [{ dialects: ["messages"] }, 403],
    [{ models: ["vendor/*"], dialects: ["chat-completions"] }, 200],
  ])("respects the scope %j of a key: %i", async (scope, status) => {
    const gateway = await behind(() => ok("{}"), { keys: [], api_keys: [{ id: "k", key: KEY, ...scope }] });
    const response = await send(gateway, "/v1/rerank", requestOf());
    expect(response.status).toBe(status);
    await response.text();
    expect(gateway.upstream.asked).toHaveLength(status === 200 ? 1 : 0);
    if (status === 403) return;
    const unnamed = await send(gateway, "/v1/rerank", '{"query":"x","documents":[]}');
    expect(unnamed.status).toBe(403);
    await unnamed.text();
  });
});

test.each(["Model", "MODEL", "Stream", "\u017ftream"])(
  "a body that names its model or stream in another case is refused: %s",
  async (name) => {
    const gateway = await behind(() => ok("{}"));
    expect((await send(gateway, "/v1/moderations", requestOf({ [name]: "other" }))).status).toBe(400);
    expect(gateway.upstream.asked).toEqual([]);
  },
);

test.each(["models", "Models", "fallbacks", "route"])(
  "a key for some models cannot name further ones in a body: %s",
  async (name) => {
    const gateway = await behind(() => ok("{}"), { api_keys: [{ key: "sk-few", models: ["vendor/mine"] }] });
    const few = { authorization: "Bearer sk-few" };
    const text = requestOf({ [name]: ["big"] });
    expect((await send(gateway, "/v1/moderations", text, few)).status).toBe(403);
    expect(gateway.upstream.asked).toEqual([]);
    expect((await send(gateway, "/v1/moderations", requestOf(), few)).status).toBe(200);
    expect((await send(gateway, "/v1/moderations", text)).status).toBe(200);
  },
);
