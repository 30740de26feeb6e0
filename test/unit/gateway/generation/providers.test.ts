import { describe, expect, test } from "vitest";
import type * as z from "zod";
import type { providerSchema } from "../../../../src/core/config/schemas/provider-schema.ts";
import { eventBlocks } from "../../../support/fault-body.ts";
import { type MemoryGateway, pass, passThrough, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import type { Reply, Script, UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { validateContentGenerationStream } from "../../../support/stream-validators/content-generation.ts";
import { validateMessagesStream } from "../../../support/stream-validators/messages.ts";
import { validateResponsesStream } from "../../../support/stream-validators/responses.ts";
import { completionsScript, inOnePiece, sessionsScript } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

/** A provider of the sessions protocol, and beside it one that speaks chat completions at `backend.test`. */
function twoProviders(): ScriptedUpstream {
  const own = sessionsScript();
  const backend = completionsScript({
    turns: (asked) =>
      inOnePiece("chat-completions", asked, { body: eventBlocks("chat-completions", { text: "Hi." }) }),
  });
  const script: Script = (asked) => (asked.host === "backend.test" ? backend(asked) : own(asked));
  return new ScriptedUpstream(script);
}

const BACKEND = {
  id: "backend",
  driver: "openai",
  base_url: "http://backend.test/v1/",
  token: "sk-backend-token",
  models: { small: "qwen3:8b" },
  headers: { "x-team": "blue" },
};

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "Hello?" }] });

describe("a provider beside the default one", () => {
  test("answers for its models with its own key and headers, streamed or whole", async () => {
    const gateway = await createGateway({ upstream: twoProviders(), config: { providers: [BACKEND] } });
    for (const stream of [false, true]) {
      const response = await gateway.post("/v1/chat/completions", { ...ask("backend/llama3:70b"), stream });
      expect(await response.text()).toContain("Hi.");
    }
    const asked = gateway.upstream.asked.filter(({ host }) => host === "backend.test");
    expect(asked.map((request) => [request.path, request.token, request.headers.get("x-team")])).toEqual(
      Array(2).fill(["/v1/chat/completions", "sk-backend-token", "blue"]),
    );
    expect(asked[0]?.json()["model"]).toBe("llama3:70b");
    await gateway.post("/v1/chat/completions", ask("Backend/small"));
    expect(gateway.turns.at(-1)?.json()["model"]).toBe("qwen3:8b");
    expect(gateway.lines.map(({ provider, account }) => [provider, account])).toEqual(
      Array(3).fill(["backend", "provider:backend"]),
    );
  });

  test("cannot read a file of the default provider: the request is a 400, and a route skips the provider", async () => {
    const gateway = await createGateway({
      upstream: twoProviders(),
      config: {
        providers: [BACKEND],
        model_routes: {
          both: ["backend/small", "provider-v4-flash"],
          other: ["backend/small", "backend/large"],
        },
      },
    });
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new File(["text"], "a.txt", { type: "text/plain" }));
    const uploaded = await gateway.request("/v1/files", {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}` },
      body: form,
    });
    const { id: file_id } = Object(await uploaded.json());
    const send = (model: string) =>
      gateway.post("/v1/chat/completions", {
        model,
        messages: [{ role: "user", content: [{ type: "file", file: { file_id } }] }],
      });
    for (const model of ["backend/small", "other"]) {
      const refused = await send(model);
      expect([refused.status, await refused.json()]).toEqual([
        400,
        {
          error: expect.objectContaining({
            param: "messages",
            message: expect.stringMatching(new RegExp(`${file_id}.*provider "default".*"${model}"`)),
          }),
        },
      ]);
    }
    expect(gateway.upstream.asked.some(({ host }) => host === "backend.test")).toBe(false);
    for (const model of ["both", "provider-v4-flash"]) {
      expect(await (await send(model)).text()).toContain("Hello from upstream.");
    }
  });

  test("is listed as down, with its last error, after five failures of its only token", async () => {
    const own = sessionsScript();
    const broken: Reply = { status: 500, json: { error: { message: "broken" } } };
    const upstream = new ScriptedUpstream((asked) => (asked.host === "backend.test" ? broken : own(asked)));
    const gateway = await createGateway({
      upstream,
      env: { ADMIN_KEY: "admin" },
      config: { providers: [BACKEND] },
    });
    const list = async () => {
      const answer = await gateway.request("/admin/providers", {
        headers: { authorization: "Bearer admin" },
      });
      return Object(await answer.json()).items;
    };
    const healthy = { health: "healthy", last_error: null };
    expect(await list()).toMatchObject([healthy, healthy]);
    for (let request = 0; request < 5; request += 1) {
      await gateway.post("/v1/chat/completions", ask("backend/small"));
      await gateway.settle();
    }
    expect(await list()).toMatchObject([
      healthy,
      { id: "backend", health: "down", last_error: { reason: expect.any(String), at: expect.any(Number) } },
    ]);
  });

  test("does not change the default provider", async () => {
    const gateway = await createGateway({ upstream: twoProviders(), config: { providers: [BACKEND] } });
    const response = await gateway.post("/v1/chat/completions", ask("gpt-4o"));
    expect(await response.text()).toContain("Hello from upstream.");
    expect(new Set(gateway.upstream.asked.map(({ host }) => host))).toEqual(new Set(["upstream.test"]));
    expect(gateway.lines[0]).not.toHaveProperty("provider");
  });

  test("is not available while it is disabled, also through an alias", async () => {
    const config = { providers: [BACKEND], model_aliases: { mine: "backend/small" } };
    const gateway = await createGateway({ upstream: twoProviders(), config });
    expect((await gateway.post("/v1/chat/completions", ask("mine"))).status).toBe(200);
    expect(gateway.turns.at(-1)?.json()["model"]).toBe("qwen3:8b");
    const off = { ...config, providers: [{ ...BACKEND, enabled: false }] };
    const without = await createGateway({ upstream: twoProviders(), config: off });
    for (const model of ["mine", "backend/small"]) {
      const response = await without.post("/v1/chat/completions", ask(model));
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining("model_not_found"),
      ]);
    }
  });

  test("never receives the token that a caller sends for the default provider", async () => {
    const gateway = await createGateway({ upstream: twoProviders(), config: { providers: [BACKEND] } });
    const headers = { authorization: `Bearer ${passThrough().credential}` };
    const response = await gateway.post("/v1/chat/completions", ask("backend/small"), { headers });
    expect(response.status).toBe(403);
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("has its own timeouts", async () => {
    const upstream = new ScriptedUpstream(() => "hang");
    const provider = { ...BACKEND, first_byte_timeout_ms: 40 };
    const gateway = await createGateway({ upstream, config: { providers: [provider] } });
    const started = Date.now();
    const answer = gateway.post("/v1/chat/completions", { ...ask("backend/small"), stream: true });
    await gateway.settle();
    expect((await answer).status).toBe(503);
    const ended = gateway.lines[0]?.["duration_ms"];
    expect(Date.now() - started).toBeGreaterThanOrEqual(40);
    expect(ended).toBeLessThan(1_000);
  });
});

describe("a provider's own headers", () => {
  const SECRET = "tenant-key-0123456789";

  test.each([
    ["before anything was said", [], false],
    ["before anything was said, streamed", [], true],
    ["within the answer", ["half of it"], true],
  ])("are not shown by an error with status 200: %s", async (_, said, stream) => {
    const error = { message: `the key ${SECRET} is none`, type: "server_error", code: SECRET, param: SECRET };
    const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
    const events = [...said.map(chunk), { error }].map((event) => `data: ${JSON.stringify(event)}\n\n`);
    const backend = completionsScript({
      turns: () =>
        stream ? { body: events } : { type: "application/json", body: [JSON.stringify({ error })] },
    });
    const gateway = await createGateway({
      upstream: new ScriptedUpstream(backend),
      config: { providers: [{ ...BACKEND, headers: { "x-tenant": `Key ${SECRET}` } }] },
    });
    const response = await gateway.post("/v1/chat/completions", { ...ask("backend/small"), stream });
    const text = await response.text();
    expect(text).toContain("the key [masked] is none");
    await gateway.settle();
    const pool = await gateway.platform.accounts.getStatus();
    const health = await gateway.platform.accounts.getHealth();
    const history = await gateway.history();
    for (const shown of [text, gateway.lines, pool, health, history]) {
      expect(JSON.stringify(shown)).not.toContain(SECRET);
    }
  });
});

/** Backends by host, of the chat-completions protocol, each with what it answers; `dead.test` is not there. */
function backends(answers: Readonly<Record<string, (asked: UpstreamRequest) => Reply>>): ScriptedUpstream {
  const own = sessionsScript();
  const scripts = Object.fromEntries(
    Object.entries(answers).map(([host, turns]) => [
      host,
      completionsScript({ turns: (asked) => inOnePiece("chat-completions", asked, turns(asked)) }),
    ]),
  );
  return new ScriptedUpstream((asked) => (scripts[asked.host] ?? own)(asked));
}

const said = (text: string): Reply => ({ body: eventBlocks("chat-completions", { text }) });
const refusing = (status: number, code: string): Reply => ({
  status,
  json: { error: { code, message: `It says ${code}.`, type: "error" } },
});
const provider = (id: string) => ({ id, driver: "openai", base_url: `http://${id}.test/v1` });
const THREE = {
  providers: [provider("one"), provider("two"), provider("three")],
  model_routes: { best: ["one/a", "two/b", { model: "three/c" }] },
};

/** The only slot of a provider. */
async function slotOf({ platform }: MemoryGateway, id: string) {
  const acquired = await platform.accounts.acquire({ requestId: "held", model: "m", provider: id });
  if (!("lease" in acquired)) throw new Error("no slot was granted");
  return acquired;
}

const hostsOf = (upstream: ScriptedUpstream) => upstream.asked.map(({ host }) => host);

describe("a name that leads to several models", () => {
  const dead = () => "unreachable" as const;
  const without = () => refusing(404, "model_not_found");

  test.each([true, false])(
    "is answered by the first available one, which the answer names; stream: %s",
    async (stream) => {
      const upstream = backends({ "one.test": dead, "two.test": without, "three.test": () => said("Here.") });
      const gateway = await createGateway({ upstream, config: THREE });
      const response = await gateway.post("/v1/chat/completions", { ...ask("best"), stream });
      const text = await response.text();
      expect(text).toContain("Here.");
      expect(text).toContain('"model":"three/c"');
      expect(response.headers.get("x-gateway-provider")).toBe("three");
      expect(response.headers.get("x-gateway-attempts")).toBe("3");
      const [record] = await gateway.history();
      expect(record).toMatchObject({
        requested_model: "best",
        model: "three/c",
        provider: "three",
        account: "provider:three",
        attempts: 3,
        tried: [
          { provider: "one", model: "one/a", reason: "unreachable" },
          { provider: "two", model: "two/b", reason: "model_unavailable" },
        ],
      });
      expect(hostsOf(upstream)).toEqual(["one.test", "two.test", "three.test"]);
      expect(gateway.lines[0]).toMatchObject({ provider: "three", requested_model: "best", attempts: 3 });
    },
  );

  test.each([
    ["a refusal", () => refusing(429, "rate_limit_exceeded"), 200],
    ["an error of its own", () => refusing(500, "server_error"), 200],
    ["a key that it does not take", () => refusing(401, "invalid_api_key"), 200],
    ["a conversation that is too long for it", () => refusing(400, "context_length_exceeded"), 200],
    ["silence", () => "hang" as const, 200],
    ["a request that is wrong anywhere", () => refusing(400, "invalid_value"), 400],
  ])("continues with the next model after %s", async (_, reply, status) => {
    const upstream = backends({ "one.test": reply, "two.test": () => said("Here.") });
    const providers = [
      { ...provider("one"), first_byte_timeout_ms: 1_000, answer_timeout_ms: 1_000 },
      provider("two"),
    ];
    const gateway = await createGateway({
      upstream,
      config: { providers, model_routes: { best: ["one/a", "two/b"] } },
    });
    const answer = gateway.post("/v1/chat/completions", ask("best"));
    await gateway.settle();
    expect((await answer).status).toBe(status);
    expect(new Set(hostsOf(upstream)).has("two.test")).toBe(status === 200);
  });

  test("has the restrictions of the only model that the caller may use", async () => {
    const providers = [{ ...provider("claude"), driver: "anthropic" }, provider("two")];
    const config = {
      providers,
      model_routes: { best: ["claude/opus", "two/b"] },
      api_keys: [{ key: "sk-opus", models: ["claude/opus"] }],
    };
    const gateway = await createGateway({ upstream: backends({}), config });
    const headers = { authorization: "Bearer sk-opus" };
    for (const model of ["claude/opus", "best"]) {
      const response = await gateway.post(
        "/v1/chat/completions",
        { ...ask(model), logprobs: true },
        { headers },
      );
      expect([model, response.status, await response.text()]).toEqual([
        model,
        400,
        expect.stringContaining("logprobs cannot be met"),
      ]);
    }
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("tries no further model after visible output", async () => {
    const [start = "", first = ""] = eventBlocks("chat-completions", { text: "Half of it", chunks: 1 });
    const upstream = backends({
      "one.test": () => ({ body: [start, first, "reset"] }),
      "two.test": () => said("Here."),
    });
    const gateway = await createGateway({
      upstream,
      config: { ...THREE, model_routes: { best: ["one/a", "two/b"] } },
    });
    const text = await (await gateway.post("/v1/chat/completions", { ...ask("best"), stream: true })).text();
    expect(text).toContain("error");
    expect(hostsOf(upstream)).toEqual(["one.test"]);
  });

  const TWO = { ...THREE, model_routes: { best: ["one/a", "two/b"] } };
  const [start = "", thought = ""] = eventBlocks("chat-completions", { reasoning: "Hm.", text: "" });
  const thinking = { ...ask("best"), reasoning_effort: "high", stream: true };

  test.each<[string, Reply]>([
    ["breaks off", { body: [start, thought, "reset"] }],
    ["falls silent", { body: [start, thought, "silence"] }],
    ["has no visible answer", { body: eventBlocks("chat-completions", { reasoning: "Hm.", text: "" }) }],
  ])("continues in the same stream after a model that shows reasoning and then %s", async (_, reply) => {
    const upstream = backends({ "one.test": () => reply, "two.test": () => said("Here.") });
    const providers = [{ ...provider("one"), idle_timeout_ms: 1_000 }, provider("two")];
    const gateway = await createGateway({ upstream, config: { ...TWO, providers } });
    const answer = gateway.post("/v1/chat/completions", thinking).then((response) => response.text());
    await gateway.settle();
    const text = await answer;
    const chunks = text.split("\n\n").flatMap((event) => {
      const json = event.replace("data: ", "");
      return json.startsWith("{") ? [JSON.parse(json)] : [];
    });
    expect(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? "").join("")).toBe("Here.");
    expect(new Set(chunks.map(({ id, model }) => `${id} ${model}`)).size).toBe(1);
    expect(text).toContain("Hm.");
    expect(text.trim().endsWith("data: [DONE]")).toBe(true);
    expect(text.match(/"role":"assistant"/g)).toHaveLength(1);
    const [record] = await gateway.history();
    expect(record).toMatchObject({ status: "success", provider: "two", tried: [{ provider: "one" }] });
  });

  test.each<[string, string, object, (text: string) => unknown]>([
    [
      "message",
      "/v1/messages",
      {
        ...ask("best"),
        max_tokens: 2_000,
        thinking: { type: "enabled", budget_tokens: 1_024 },
        stream: true,
      },
      validateMessagesStream,
    ],
    [
      "response",
      "/v1/responses",
      { model: "best", input: "Hello?", reasoning: { effort: "high", summary: "auto" }, stream: true },
      validateResponsesStream,
    ],
    [
      "list of candidates",
      "/v1beta/models/best:streamGenerateContent?alt=sse",
      {
        contents: [{ parts: [{ text: "Hello?" }] }],
        generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } },
      },
      validateContentGenerationStream,
    ],
  ])("goes on after shown reasoning in the same %s", async (_, path, body, validate) => {
    const upstream = backends({
      "one.test": () => ({ body: [start, thought, "reset"] }),
      "two.test": () => said("Here."),
    });
    const gateway = await createGateway({ upstream, config: TWO });
    const text = await (await gateway.post(path, body)).text();
    validate(text);
    expect([text.includes("Hm."), text.includes("Here.")]).toEqual([true, true]);
  });

  test("tries no further model after a call was sent", async () => {
    const call = { index: 0, id: "c", type: "function", function: { name: "weather", arguments: '{"a"' } };
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
    const upstream = backends({
      "one.test": () => ({ body: [start, thought, `data: ${JSON.stringify(chunk)}\n\n`, "reset"] }),
      "two.test": () => said("Here."),
    });
    const gateway = await createGateway({ upstream, config: TWO });
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
    const text = await (await gateway.post("/v1/chat/completions", { ...thinking, tools })).text();
    expect(text).toContain("error");
    expect(hostsOf(upstream)).toEqual(["one.test"]);
  });

  test("returns the last error if all models fail", async () => {
    const upstream = backends({ "one.test": dead, "two.test": () => refusing(429, "rate_limit_exceeded") });
    const config = { ...THREE, model_routes: { best: ["one/a", "two/b"] } };
    const gateway = await createGateway({ upstream, config });
    expect((await gateway.post("/v1/chat/completions", ask("best"))).status).toBe(429);
    expect(hostsOf(upstream)).toEqual(["one.test", "two.test"]);
  });

  test("uses the model with a free account, and otherwise waits for the first", async () => {
    const upstream = backends({
      "one.test": () => ({ body: [{ pause: 5_000 }, ...eventBlocks("chat-completions", { text: "Late." })] }),
      "two.test": () => said("Here."),
    });
    const providers = [
      { ...provider("one"), account_max_inflight: 1 },
      { ...provider("two"), account_max_inflight: 1 },
    ];
    const gateway = await createGateway({
      upstream,
      config: { providers, model_routes: { best: ["one/a", "two/b"] } },
    });
    const streamed = async (model: string, content = "Hello?") => {
      const messages = [{ role: "user", content }];
      return (await gateway.post("/v1/chat/completions", { model, messages, stream: true })).text();
    };
    const slow = streamed("one/a");
    await pass(10);
    expect(await streamed("best")).toContain("Here.");
    const { lease } = await slotOf(gateway, "two");
    const renewal = setInterval(() => void lease.renew(), 400);
    const waiting = streamed("best", "Another conversation.");
    await pass(11_000);
    clearInterval(renewal);
    lease.release();
    expect([await slow, await waiting]).toEqual([
      expect.stringContaining("Late."),
      expect.stringContaining("Late."),
    ]);
  });

  test("stays with the model that answered a conversation while it is healthy", async () => {
    let one: "dead" | "well" = "dead";
    const upstream = backends({
      "one.test": () => (one === "dead" ? "unreachable" : said("One.")),
      "two.test": () => said("Two."),
    });
    const gateway = await createGateway({
      upstream,
      config: { ...THREE, model_routes: { best: ["one/a", "two/b"] } },
    });
    const turn = async (text: string, ...more: string[]) => {
      const messages = [text, ...more].map((content, index) => ({
        role: index % 2 ? "assistant" : "user",
        content,
      }));
      const response = await gateway.post("/v1/chat/completions", { model: "best", messages });
      return (await response.text()).includes("One.") ? "one" : "two";
    };
    expect(await turn("Hello")).toBe("two");
    one = "well";
    await pass(120_000);
    expect(await turn("Hello", "Two.", "And?")).toBe("two");
    expect(await turn("Another conversation")).toBe("one");
  });
});

describe("what is known of a provider's models", () => {
  const image = {
    type: "image_url",
    image_url: {
      url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    },
  };
  const looking = (model: string) => ({
    model,
    messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, image] }],
  });
  const known = (id: string, models: z.input<typeof providerSchema>["models"]) => ({
    ...provider(id),
    models,
  });
  const here = () => said("Here.");

  test("limits the requested tokens and thinking", async () => {
    const small = { upstream: "qwen", output: 500, thinking: false };
    const config = { providers: [known("one", { small, free: "llama" })] };
    const gateway = await createGateway({ upstream: backends({ "one.test": here }), config });
    const asked = async (model: string, max_tokens?: number) => {
      const body = { ...ask(model), reasoning_effort: "high", ...(max_tokens && { max_tokens }) };
      expect((await gateway.post("/v1/chat/completions", body)).status).toBe(200);
      return gateway.upstream.asked.at(-1)?.json();
    };
    expect(await asked("one/small", 9_000)).toMatchObject({ model: "qwen", max_tokens: 500 });
    expect(await asked("one/small", 20)).toMatchObject({ max_tokens: 20 });
    const unbound = await asked("one/small");
    expect(unbound).not.toHaveProperty("max_tokens");
    expect(unbound?.["reasoning_effort"]).not.toBe("high");
    expect(await asked("one/free", 9_000)).toMatchObject({ max_tokens: 9_000, reasoning_effort: "high" });
  });

  test("sends images to the model with vision, and refuses them without one", async () => {
    const config = {
      providers: [
        known("one", { blind: { vision: false }, eyes: { upstream: "qwen-vl", vision: true } }),
        known("two", { blind: { vision: false } }),
      ],
      model_routes: { best: ["two/blind", "one/blind"] },
    };
    const gateway = await createGateway({
      upstream: backends({ "one.test": here, "two.test": here }),
      config,
    });
    expect((await gateway.post("/v1/chat/completions", looking("one/blind"))).status).toBe(200);
    expect(gateway.upstream.asked.at(-1)?.json()["model"]).toBe("qwen-vl");
    const refused = await gateway.post("/v1/chat/completions", looking("two/blind"));
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("no vision")]);
    // Of several models the next one is asked.
    const routed = await gateway.post("/v1/chat/completions", looking("best"));
    expect([routed.status, routed.headers.get("x-gateway-provider")]).toEqual([200, "one"]);
    expect(hostsOf(gateway.upstream)).not.toContain("two.test");
  });

  test("sends too long prompts to a larger model at once, or to the first one if none is large enough", async () => {
    const upstream = backends({ "one.test": here, "two.test": here, "three.test": here });
    const config = {
      providers: [
        known("one", { a: { context: 50 } }),
        known("two", { b: { context: 60 } }),
        known("three", { c: { context: 131_072 } }),
      ],
      model_routes: { best: ["one/a", "two/b", "three/c"], small: ["one/a", "two/b"] },
    };
    const gateway = await createGateway({ upstream, config });
    const long = (model: string) => ({ model, messages: [{ role: "user", content: "word ".repeat(500) }] });
    const sent = await gateway.post("/v1/chat/completions", long("best"));
    expect([sent.status, hostsOf(upstream)]).toEqual([200, ["three.test"]]);
    await gateway.post("/v1/chat/completions", long("small"));
    expect(hostsOf(upstream)).toEqual(["three.test", "one.test"]);
    await gateway.post("/v1/chat/completions", {
      model: "small",
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(hostsOf(upstream)).toEqual(["three.test", "one.test", "one.test"]);
  });

  test("sends a prompt that is too long for one model only to a larger one", async () => {
    const upstream = backends({
      "one.test": () => refusing(400, "context_length_exceeded"),
      "two.test": here,
      "three.test": here,
    });
    const config = {
      providers: [
        known("one", { a: { context: 8_192 } }),
        known("two", { b: { context: 4_096 } }),
        known("three", { c: { context: 131_072 } }),
      ],
      model_routes: { best: ["one/a", "two/b", "three/c"] },
    };
    const gateway = await createGateway({ upstream, config });
    const response = await gateway.post("/v1/chat/completions", ask("best"));
    expect([response.status, response.headers.get("x-gateway-provider")]).toEqual([200, "three"]);
    expect(hostsOf(upstream)).not.toContain("two.test");
  });
});
