import { describe, expect, test } from "vitest";
import type * as z from "zod";
import type { configSchema } from "../../../../src/core/config/schema.ts";
import type { apiKeySchema } from "../../../../src/core/config/schemas/key-schema.ts";
import { SMALL_CHAT, SMALL_REQUESTS } from "../../../support/dialect-requests.ts";
import {
  type MemoryGateway,
  pass,
  START_OF_TIME,
  useMemoryGateway,
} from "../../../support/memory-gateway.ts";
import { accountNamed, KEY } from "../../../support/memory-platform.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { refuses, says } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

type Rules = Omit<z.input<typeof apiKeySchema>, "key">;

/** A configuration whose key has rules. */
function withKey(rules: Rules, more: z.input<typeof configSchema> = {}): z.input<typeof configSchema> {
  return { keys: [], api_keys: [{ key: KEY, ...rules }], ...more };
}

const STREAM = { ...SMALL_CHAT.body, stream: true };

async function used(gateway: MemoryGateway) {
  await gateway.settle();
  const [use] = await gateway.platform.accounts.listSubjectUsage();
  return use;
}

const rateLimits = (response: Response): Record<string, string> =>
  Object.fromEntries([...response.headers].filter(([name]) => name.includes("ratelimit")));

describe("a reached limit", () => {
  test.each(Object.entries(SMALL_REQUESTS))("is reported in the format of %s", async (id, { path, body }) => {
    const gateway = await createGateway({ config: withKey({ limits: { requests_per_minute: 1 } }) });
    expect((await gateway.post(path, body)).status).toBe(200);
    await pass(10_000);
    const refused = await gateway.post(path, body);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBeNull();
    const said: unknown = await refused.json();
    const message = expect.stringMatching(/requests per minute \(limit 1, used 1\): try again in 50 s/);
    const own =
      id === "content-generation"
        ? { error: { code: 429, status: "RESOURCE_EXHAUSTED", message } }
        : id === "model-runner"
          ? { error: message }
          : { error: { type: "rate_limit_error", code: "rate_limit_exceeded", message } };
    expect(said).toMatchObject(own);
    const headers = rateLimits(refused);
    if (id === "messages") {
      const reset = new Date(START_OF_TIME + 60_000).toISOString().replace(".000", "");
      expect(headers).toEqual({
        "anthropic-ratelimit-requests-limit": "1",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": reset,
      });
    } else {
      expect(headers).toEqual({
        "x-ratelimit-limit-requests": "1",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "50s",
      });
    }
    await pass(50_000);
    expect((await gateway.post(path, body)).status).toBe(200);
  });

  test("holds for all styles, embeddings and files together", async () => {
    const config = withKey({ limits: { requests_per_minute: 3 } }, { embeddings: { provider: "builtin" } });
    const gateway = await createGateway({ config });
    const form = new FormData();
    form.append("purpose", "assistants");
    form.append("file", new Blob(["text"]), "a.txt");
    const upload = () =>
      gateway.request("/v1/files", {
        method: "POST",
        body: form,
        headers: { authorization: `Bearer ${KEY}` },
      });
    const embed = () =>
      gateway.post("/v1/embeddings", { model: "text-embedding-3-small", input: "four words of text" });
    expect((await upload()).status).toBe(200);
    expect((await embed()).status).toBe(200);
    expect((await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
    for (const again of [upload, embed, () => gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)]) {
      expect(await (await again()).json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    }
    expect(await used(gateway)).toMatchObject({ parallel: 0, minute: { requests: 3 } });
  });

  test("is released at once if its caller leaves early, and the estimate counts", async () => {
    const limits = { max_parallel: 1, tokens_per_day: 100_000 };
    const gateway = await createGateway({ config: withKey({ limits }), turns: ["hang", says("One")] });
    const caller = new AbortController();
    const left = gateway.post(SMALL_CHAT.path, SMALL_CHAT.body, { signal: caller.signal });
    await pass(100);
    caller.abort();
    expect((await left).status).toBe(499);
    await pass(1);
    const [use] = await gateway.platform.accounts.listSubjectUsage();
    expect(use).toMatchObject({ parallel: 0, minute: { requests: 1 } });
    expect(use?.day.tokens).toBeGreaterThan(512);
    expect((await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
  });

  test("is an HTTP status also for a stream: one at a time", async () => {
    const gateway = await createGateway({
      config: withKey({ limits: { max_parallel: 1 } }),
      turns: [says("One")],
    });
    const first = await gateway.post(SMALL_CHAT.path, STREAM);
    const second = await gateway.post(SMALL_CHAT.path, STREAM);
    expect(second.status).toBe(429);
    expect(await second.json()).toMatchObject({
      error: { code: "rate_limit_exceeded", details: { limit: "max_parallel", max: 1 } },
    });
    await first.text();
    await gateway.settle();
    await pass(5_000);
    expect((await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
  });
});

describe("a budget", () => {
  test("that is used up is a 429 that no SDK retries, with the time of its renewal", async () => {
    const gateway = await createGateway({ config: withKey({ limits: { tokens_per_day: 10 } }) });
    expect((await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
    await gateway.settle();
    const { day } = (await used(gateway)) ?? { day: { tokens: 0 } };
    expect(day.tokens).toBeGreaterThan(0);
    const rest = 10 - day.tokens;
    if (rest > 0)
      for (let more = 0; more < rest; more += 1) await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body);
    await gateway.settle();
    const refused = await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("x-should-retry")).toBe("false");
    const midnight = new Date(Math.ceil(START_OF_TIME / 86_400_000) * 86_400_000).toISOString();
    expect(await refused.json()).toMatchObject({
      error: {
        type: "insufficient_quota",
        code: "insufficient_quota",
        details: { limit: "tokens_per_day", max: 10, resets_at: midnight },
      },
    });
    await pass(Math.ceil(START_OF_TIME / 86_400_000) * 86_400_000 - Date.now());
    expect((await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
  });

  test.each([
    ["a whole answer", SMALL_CHAT.body],
    ["a stream", STREAM],
  ])("is settled with the real usage of %s", async (_, body) => {
    const gateway = await createGateway({ config: withKey({ limits: { tokens_per_day: 1_000_000 } }) });
    const answer = await gateway.post(SMALL_CHAT.path, body);
    await answer.text();
    await gateway.settle();
    const [line] = gateway.lines.filter(({ path }) => path === SMALL_CHAT.path);
    const { prompt_tokens: prompt, completion_tokens: completion } = line ?? {};
    expect(await used(gateway)).toMatchObject({
      parallel: 0,
      day: { tokens: Number(prompt) + Number(completion) },
    });
  });

  test("of money has its own prices for cache reads and writes", async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 3 },
    };
    const message = { role: "assistant", content: "Hi" };
    const answer = { id: "c1", choices: [{ index: 0, message, finish_reason: "stop" }], usage };
    const price = { input: 1_000_000, output: 5_000_000, cache_read: 100_000, cache_write_5m: 1_250_000 };
    const engine = { id: "engine", driver: "openai", base_url: "http://engine.test/v1", token: "key" };
    const gateway = await createGateway({
      upstream: new ScriptedUpstream(() => ({ json: answer })),
      config: withKey(
        { limits: { cost_per_month: 1_000_000 } },
        { providers: [engine], prices: { "engine/m": price } },
      ),
    });
    expect((await gateway.post(SMALL_CHAT.path, { ...SMALL_CHAT.body, model: "engine/m" })).status).toBe(200);
    expect((await used(gateway))?.month.cost).toBe((1 + 6 * 0.1 + 3 * 1.25 + 5) * 1e9);
  });

  test("of money uses the price of the model that answered", async () => {
    const prices = { "provider-v4-flash": { input: 1_000_000, output: 2_000_000 } };
    const gateway = await createGateway({
      config: withKey(
        { limits: { cost_per_month: 1_000_000 } },
        { prices, model_aliases: { mine: "provider-v4-flash" } },
      ),
    });
    await gateway.post(SMALL_CHAT.path, { ...SMALL_CHAT.body, model: "mine" });
    await gateway.settle();
    const [line] = gateway.lines.filter(({ path }) => path === SMALL_CHAT.path);
    const { prompt_tokens: prompt, completion_tokens: completion } = line ?? {};
    expect((await used(gateway))?.month.cost).toBe((Number(prompt) + 2 * Number(completion)) * 1e9);
    const config = withKey({ limits: { cost_per_day: 0.000_001 } }, { prices });
    const poor = await createGateway({ config });
    expect((await poor.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
    await poor.settle();
    expect(await (await poor.post(SMALL_CHAT.path, SMALL_CHAT.body)).json()).toMatchObject({
      error: { code: "insufficient_quota", details: { limit: "cost_per_day", max: 0.000_001 } },
    });
  });

  test("pays nothing for a request that the provider refused", async () => {
    const gateway = await createGateway({
      config: withKey({ limits: { tokens_per_day: 1_000_000 } }, { accounts: [accountNamed("one@test")] }),
      turns: [refuses(400, "invalid_request")],
    });
    expect((await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(400);
    expect(await used(gateway)).toMatchObject({ parallel: 0, minute: { requests: 1 }, day: { tokens: 0 } });
  });

  test("counts the estimate if the caller leaves before the provider answers", async () => {
    const gateway = await createGateway({
      turns: ["hang"],
      config: withKey({ limits: { tokens_per_day: 100_000 } }),
    });
    const left = new AbortController();
    const asked = gateway.post(SMALL_CHAT.path, SMALL_CHAT.body, { signal: left.signal });
    await pass(1_000);
    left.abort();
    await asked.catch(() => undefined);
    await pass(60_000);
    const use = await used(gateway);
    expect(use?.parallel).toBe(0);
    expect(use?.day.tokens).toBeGreaterThan(0);
  });

  test("counts a request once if it continues with another account", async () => {
    const gateway = await createGateway({
      config: withKey({ limits: { requests_per_minute: 1 } }),
      turns: [refuses(500, "oops"), says("One")],
    });
    expect((await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
    expect(gateway.turns).toHaveLength(2);
    expect(await used(gateway)).toMatchObject({ parallel: 0, minute: { requests: 1 } });
  });
});

describe("the remaining limit", () => {
  test("is stated in each answer of its key only", async () => {
    const gateway = await createGateway({
      config: withKey({ limits: { requests_per_minute: 5, tokens_per_minute: 9_000 } }),
    });
    const answer = await gateway.post(SMALL_CHAT.path, STREAM);
    expect(rateLimits(answer)).toMatchObject({
      "x-ratelimit-limit-requests": "5",
      "x-ratelimit-remaining-requests": "4",
      "x-ratelimit-reset-requests": "1m0s",
      "x-ratelimit-limit-tokens": "9000",
      "x-ratelimit-reset-tokens": "1m0s",
    });
    await answer.text();
    const other = await createGateway();
    expect(rateLimits(await other.post(SMALL_CHAT.path, SMALL_CHAT.body))).toEqual({});
    expect(await other.platform.accounts.listSubjectUsage()).toEqual([]);
  });
});

describe("a key is refused with 403", () => {
  test.each(Object.entries(SMALL_REQUESTS))(
    "for a model that it may not use: %s",
    async (_, { path, body }) => {
      const gateway = await createGateway({ config: withKey({ models: ["provider-v4-pro*"] }) });
      const refused = await gateway.post(path, body);
      expect(refused.status).toBe(403);
      expect(JSON.stringify(await refused.json())).toContain("may not use the model");
      expect(gateway.upstream.asked).toEqual([]);
    },
  );

  test("but not for an alias that it may use", async () => {
    const config = withKey({ models: ["mine"] }, { model_aliases: { mine: "provider-v4-flash" } });
    const gateway = await createGateway({ config });
    const ask = async (model: string) =>
      (await gateway.post(SMALL_CHAT.path, { ...SMALL_CHAT.body, model })).status;
    expect(await ask("mine")).toBe(200);
    expect(await ask("provider-v4-flash")).toBe(403);
  });

  test("for a style that it may not use, also for files and embeddings", async () => {
    const config = withKey({ dialects: ["messages"] }, { embeddings: { provider: "builtin" } });
    const gateway = await createGateway({ config });
    for (const [id, { path, body }] of Object.entries(SMALL_REQUESTS)) {
      expect([id, (await gateway.post(path, body)).status]).toEqual([id, id === "messages" ? 200 : 403]);
    }
    expect(
      (await gateway.post("/v1/embeddings", { model: "text-embedding-3-small", input: "a" })).status,
    ).toBe(403);
  });

  test.each([
    ["GET", "/v1/files", {}],
    ["GET", "/v1/files/file-1", {}],
    ["DELETE", "/v1/files/file-1", {}],
    ["GET", "/v1/files/file-1/content", {}],
    ["GET", "/v1/files", { "anthropic-version": "2023-06-01" }],
    ["GET", "/v1beta/files", {}],
    ["POST", "/upload/v1beta/files", {}],
    ["GET", "/v1/responses/resp_1", {}],
    ["DELETE", "/v1/responses/resp_1", {}],
    ["GET", "/v1/responses/resp_1/input_items", {}],
    ["POST", "/v1/responses/input_tokens", {}],
    ["POST", "/v1/messages/count_tokens", {}],
    ["POST", "/v1beta/models/provider-v4-flash:countTokens", {}],
  ])("for every endpoint of a style that it may not use: %s %s %j", async (method, path, headers) => {
    const gateway = await createGateway({ config: withKey({ dialects: ["completions"] }) });
    const refused = await gateway.request(path, {
      method,
      headers: { authorization: `Bearer ${KEY}`, ...headers },
    });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("only for completions"),
    ]);
    expect(
      (await gateway.request("/v1/models", { headers: { authorization: `Bearer ${KEY}` } })).status,
    ).toBe(200);
  });

  test("from a network that it may not be used from", async () => {
    const elsewhere = await createGateway({
      config: withKey({ networks: ["198.51.100.0/24", "2001:db8::/32"] }),
    });
    const refused = await elsewhere.post(SMALL_CHAT.path, SMALL_CHAT.body);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: { type: "permission_error", code: "permission_denied" },
    });
    // Where tests call from.
    const here = await createGateway({ config: withKey({ networks: ["192.0.2.0/24"] }) });
    expect((await here.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
  });
});

test("an estimate above the limit of a minute does not block a key", async () => {
  const gateway = await createGateway({ config: withKey({ limits: { tokens_per_minute: 100 } }) });
  expect((await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body)).status).toBe(200);
  await gateway.settle();
  const text = "many words of text ".repeat(200);
  const refused = await gateway.post(SMALL_CHAT.path, {
    ...SMALL_CHAT.body,
    messages: [{ role: "user", content: text }],
  });
  expect(await refused.json()).toMatchObject({
    error: { code: "rate_limit_exceeded", message: expect.stringContaining("larger than that") },
  });
});
