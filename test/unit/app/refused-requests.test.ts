import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { pass, useMemoryGateway } from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";
import { ScriptedUpstream } from "../../support/scripted-upstream.ts";

const createGateway = useMemoryGateway();
const PATH = "/v1/chat/completions";
const messages = [{ role: "user", content: "Write to ann@example.com" }];

describe("the history finds a refused request", () => {
  test("for an unknown model", async () => {
    const gateway = await createGateway();
    await gateway.post(PATH, { model: "my-own:13b", messages }, { headers: { "x-gateway-source": "cli" } });
    const history = await gateway.history();
    expect(history).toMatchObject([
      {
        refusals: 1,
        status: "error",
        status_code: 400,
        error_code: "model_not_found",
        error: expect.stringContaining("my-own:13b"),
        requested_model: "my-own:13b",
        model: "",
        key: expect.stringMatching(/./),
        source: "cli",
        dialect: "chat-completions",
        messages: "[]",
        content: "",
      },
    ]);
  });

  test.each([
    ["in a path", "/v1beta/models/gemini-9:generateContent", { contents: [{ parts: [{ text: "x" }] }] }],
    ["of messages", "/v1/messages", { model: "gemini-9", max_tokens: 5, messages }],
    ["of responses", "/v1/responses", { model: "gemini-9", input: "x" }],
    ["of completions", "/v1/completions", { model: "gemini-9", prompt: "x" }],
    ["of the local runner", "/api/chat", { model: "gemini-9", messages }],
    ["of embeddings", "/v1/embeddings", { model: "gemini-9", input: "x" }],
  ])("for an unknown model %s", async (_, path, body) => {
    const gateway = await createGateway();
    await gateway.post(path, body);
    expect(await gateway.history()).toMatchObject([
      { refusals: 1, requested_model: "gemini-9", error_code: "model_not_found" },
    ]);
  });

  test("for an invalid body, with the model that it names", async () => {
    const gateway = await createGateway();
    await gateway.post(PATH, { model: "gpt-4o", messages: 5 });
    await gateway.post(PATH, null, { body: "{" });
    expect(await gateway.history()).toMatchObject([
      { refusals: 1, status_code: 400, error_code: "invalid json", requested_model: "" },
      { refusals: 1, status_code: 400, error_code: "invalid_request", requested_model: "gpt-4o" },
    ]);
  });

  test.each([
    ["a disabled key", { disabled: true }, 401, "invalid_api_key"],
    ["an expired key", { expires: 1 }, 401, "invalid_api_key"],
    ["another network", { networks: ["10.0.0.0/8"] }, 403, "permission_denied"],
    ["a model that the key may not use", { models: ["gpt-4.1"] }, 403, "permission_denied"],
    ["a style that the key may not use", { dialects: ["messages"] }, 403, "permission_denied"],
  ])("for %s", async (_, fields, status, code) => {
    const gateway = await createGateway({ config: { keys: [], api_keys: [{ key: KEY, ...fields }] } });
    const response = await gateway.post(PATH, { model: "gpt-4o", messages });
    expect(response.status).toBe(status);
    expect(await gateway.history()).toMatchObject([{ refusals: 1, status_code: status, error_code: code }]);
  });

  test("for a limit of its key, beside the request that was answered", async () => {
    const config = { keys: [], api_keys: [{ key: KEY, limits: { requests_per_minute: 1 } }] };
    const gateway = await createGateway({ config });
    for (let sent = 0; sent < 3; sent += 1) await gateway.post(PATH, { model: "gpt-4o", messages });
    const history = await gateway.history();
    const codes = history.map(({ status, error_code, refusals }) => [status, error_code, refusals ?? 0]);
    expect(codes).toContainEqual(["success", undefined, 0]);
    expect(history.filter(({ error_code }) => error_code === "rate_limit_exceeded").length).toBeGreaterThan(
      0,
    );
  });

  test("without its message if the key stores no texts, and not at all if it stores nothing", async () => {
    for (const mode of ["redacted", "no_texts", "none"] as const) {
      const gateway = await createGateway({ config: { keys: [], api_keys: [{ key: KEY, history: mode }] } });
      const headers = { "x-gateway-source": "ann@example.com", "x-gateway-tags": "for-ann@example.com" };
      await gateway.post(PATH, { model: "for-ann@example.com", messages }, { headers });
      const history = await gateway.history();
      if (mode === "none") expect(history).toEqual([]);
      else expect(history).toMatchObject([{ refusals: 1, error_code: "model_not_found" }]);
      if (mode === "no_texts") expect(history[0]?.error).toBe("the request failed: model not found");
      expect(JSON.stringify(history)).not.toContain("ann@example.com");
    }
  });

  test.each([
    ["a long name", (number: number) => `${"x".repeat(4_000_000)}${number}`],
    [
      "the spaces around a name",
      (number: number) => `no-model-of-this-name-${number}${" ".repeat(4_000_000)}`,
    ],
  ])("without keeping %s in memory", async (_, createName) => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const gateway = await createGateway();
    const sizes: number[] = [];
    for (const number of [1, 2, 3, 4]) {
      await gateway.post(PATH, { model: createName(number), messages });
      await pass(100);
      collectGarbage();
      sizes.push(process.memoryUsage().heapUsed);
    }
    const [, before = 0, , after = 0] = sizes;
    expect(after - before).toBeLessThan(4_000_000);
  });
});

describe("the history has no record", () => {
  test("of a refused stranger, of a file that was not found, or if it is off", async () => {
    const gateway = await createGateway();
    await gateway.post(
      PATH,
      { model: "my-own:13b", messages },
      { headers: { authorization: "Bearer stranger" } },
    );
    await gateway.request("/v1/files/none", { headers: { authorization: `Bearer ${KEY}` } });
    expect(await gateway.history()).toEqual([]);
    const off = await createGateway({ config: { history: { limit: 0 } } });
    await off.post(PATH, { model: "my-own:13b", messages });
    expect(await off.history()).toEqual([]);
  });
});

describe("the error of an unknown model", () => {
  const ask = async (path: string, body: object, headers: Record<string, string>, models: string[] = []) => {
    const config = { keys: [], api_keys: [{ key: KEY, models }] };
    const gateway = await createGateway({ config, env: { ADMIN_KEY: "admin-key" } });
    const response = await gateway.post(path, { model: "provider-v4-flahs", ...body }, { headers });
    expect(response.status).toBe(400);
    return response.text();
  };
  const NEAR = "did you mean";

  test("suggests similar models to a key that may use them, and to no other caller", async () => {
    expect(await ask(PATH, { messages }, {})).toContain(NEAR);
    expect(await ask(PATH, { messages }, {}, ["provider-*"])).toContain(NEAR);
    expect(await ask(PATH, { messages }, {}, ["gpt-4.1"])).not.toContain(NEAR);
    expect(await ask(PATH, { messages }, { authorization: "Bearer its-own-token" })).not.toContain(NEAR);
  });

  test("suggests similar models to an administrator", async () => {
    const headers = { authorization: "Bearer admin-key" };
    expect(await ask("/admin/accounts/test", { identifier: "one@example.com" }, headers)).toContain(NEAR);
  });
});

describe("the model under which a refused request counts", () => {
  const vendor = { driver: "openai", base_url: "http://vendor.test/v1", token: "sk-vendor" };
  const config = {
    keys: [],
    api_keys: [{ key: KEY, models: ["*"] }],
    providers: [
      { id: "vendor", ...vendor, models: { Off: { upstream: "x", enabled: false } } },
      { id: "closed", ...vendor, models: { some: "x" }, enabled: false },
    ],
    model_aliases: { mine: "closed/some" },
    model_routes: { Best: ["closed/some"] },
  };

  test.each([
    ["a disabled model", "VENDOR/off", "vendor/Off"],
    ["a model of a disabled provider", "closed/some", "closed/some"],
    ["an alias of it", "Mine", "mine"],
    ["a route without models", "best", "Best"],
    ["a name that is not configured", "closed/invented", "unknown"],
    ["a name that is retired", "claude-2.1", "unknown"],
  ])("is the configured name of %s", async (_, model, counted) => {
    const gateway = await createGateway({ config });
    expect((await gateway.post(PATH, { model, messages })).status).toBe(400);
    expect(gateway.lines.at(-1)).toMatchObject({ model: counted, requested_model: counted });
    await gateway.settle();
  });

  test.each([
    ["/v1/rerank", { query: "hi", documents: ["a"] }],
    ["/v1/embeddings", { input: "hi" }],
    ["/v1beta/cachedContents", { contents: [{ role: "user", parts: [{ text: "hi" }] }] }],
  ])("is the name that the key must not use at %s", async (path, body) => {
    const gateway = await createGateway({
      config: { ...config, api_keys: [{ key: KEY, models: ["gpt-4.1"] }] },
    });
    expect((await gateway.post(path, { ...body, model: "vendor/other" })).status).toBe(403);
    expect(gateway.lines.at(-1)).toMatchObject({ model: "vendor/other" });
  });

  test("is the requested name of a request that the default provider answers under it", async () => {
    const gateway = await createGateway({
      upstream: new ScriptedUpstream(() => ({ type: "application/json", body: ["{}"] })),
      env: { PROVIDER_DRIVER: "openai", PROVIDER_TOKEN: "sk-x" },
      config: { accounts: [{ token: "sk-x" }] },
    });
    const response = await gateway.post("/v1/audio/speech", { model: "tts-1-hd", input: "hi" });
    expect([response.status, await response.text()]).toEqual([200, "{}"]);
    await gateway.settle();
    expect(gateway.lines.at(-1)).toMatchObject({ model: "tts-1-hd", requested_model: "tts-1-hd" });
  });
});

describe("a key for some models does not learn which providers exist", () => {
  const provider = { id: "vendor", driver: "openai", base_url: "http://vendor.test/v1", token: "sk-vendor" };
  const config = { keys: [], api_keys: [{ key: KEY, models: ["provider-*"] }], providers: [provider] };
  const contents = [{ role: "user", parts: [{ text: "hi" }] }];

  test.each([
    ["a chat", (model: string) => [PATH, { model, messages }] as const],
    ["a response", (model: string) => ["/v1/responses", { model, input: "hi" }] as const],
    ["a message", (model: string) => ["/anthropic/v1/messages", { model, messages, max_tokens: 9 }] as const],
    ["a path", (model: string) => [`/v1beta/models/${model}:generateContent`, { contents }] as const],
    ["embeddings", (model: string) => ["/v1/embeddings", { model, input: "hi" }] as const],
    ["a ranking", (model: string) => ["/v1/rerank", { model, query: "hi", documents: ["a"] }] as const],
    ["a fallback", (model: string) => [PATH, { model: "provider-v4-flash", messages }, model] as const],
  ])("in %s", async (_, create) => {
    const gateway = await createGateway({ config });
    const answers: [number, string][] = [];
    for (const model of ["vendor/some-model", "nobody/some-model"]) {
      const [path, body, fallback] = create(model);
      const headers = fallback === undefined ? {} : { "x-gateway-fallback": fallback };
      const response = await gateway.post(path, body, { headers });
      answers.push([response.status, (await response.text()).replace(/vendor|nobody|req_\w+/g, "any")]);
    }
    expect(answers[0]?.[0]).toBe(403);
    expect(answers[1]).toEqual(answers[0]);
  });

  test("from an unknown name that it may use, which is the usual error", async () => {
    const gateway = await createGateway({
      config: { ...config, api_keys: [{ key: KEY, models: ["nobody/*"] }] },
    });
    const response = await gateway.post(PATH, { model: "nobody/some-model", messages });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: "model_not_found" } },
    ]);
  });

  test("like a caller with its own token that uploads a file", async () => {
    const gateway = await createGateway({ config });
    for (const id of ["vendor", "nobody"]) {
      const form = new FormData();
      form.set("file", new Blob(["text"]), "a.txt");
      const response = await gateway.request("/v1/files", {
        method: "POST",
        headers: { authorization: "Bearer its-own-token", "x-gateway-provider": id },
        body: form,
      });
      expect([id, response.status]).toEqual([id, 403]);
      await response.text();
    }
  });
});
