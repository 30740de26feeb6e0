import { describe, expect, it, vi } from "vitest";
import { isObject } from "../../../../../src/core/encoding/json.ts";
import { pass, START_OF_TIME, useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { refuses, says } from "../../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();
const ADMIN = { authorization: "Bearer admin" };
const ENV = { ADMIN_KEY: "admin" };
const chat = { model: "provider-v4-flash", messages: [{ role: "user", content: "Hello" }] };

type Made = Awaited<ReturnType<typeof createGateway>>;

async function usage(gateway: Made, query = ""): Promise<Record<string, unknown>> {
  await gateway.settle();
  const response = await gateway.request(`/admin/usage${query}`, { headers: ADMIN });
  const body: unknown = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  return isObject(body) ? { ...body } : {};
}

describe("GET /admin/usage", () => {
  it("states the usage of generations of several styles, also of failed ones", async () => {
    const gateway = await createGateway({
      env: ENV,
      turns: [says("Hi"), says("Hi"), refuses(400, "invalid_request")],
      config: { prices: { "provider-v4-flash": { input: 1_000_000, output: 0 } } },
    });
    const whole = await (await gateway.post("/v1/chat/completions", chat)).json();
    await (await gateway.post("/v1/messages", { ...chat, max_tokens: 10, stream: true })).text();
    await gateway.post("/v1/chat/completions", chat);
    const prompt = Number(isObject(whole) && isObject(whole["usage"]) ? whole["usage"]["prompt_tokens"] : 0);
    expect(prompt).toBeGreaterThan(0);
    const { totals, items } = await usage(gateway, "?granularity=total&group_by=dialect,outcome");
    expect(totals).toMatchObject({ requests: 3, succeeded: 2, failed: 1, attempts: 3, cost: 2 * prompt });
    expect(items).toMatchObject(
      [
        { dialect: "chat-completions", outcome: "error", prompt_tokens: 0 },
        { dialect: "chat-completions", outcome: "success", prompt_tokens: prompt },
        { dialect: "messages", outcome: "success" },
      ].map((item) => expect.objectContaining(item)),
    );
  });

  it("keeps the default provider apart from a provider with the id of its driver", async () => {
    const gateway = await createGateway({
      env: { ...ENV, PROVIDER_DRIVER: "openai", PROVIDER_TOKEN: "token" },
      config: {
        providers: [
          {
            id: "openai",
            driver: "openai",
            base_url: "http://127.0.0.1:1/v1",
            token: "t",
            models: { m: "m" },
          },
        ],
      },
    });
    await gateway.post("/v1/chat/completions", chat);
    await gateway.post("/v1/chat/completions", { ...chat, model: "openai/m" });
    await gateway.post("/v1/chat/completions", { ...chat, model: "openai/m" });
    const requestsOf = async (query: string) => {
      const { items } = await usage(gateway, `?granularity=total&group_by=provider${query}`);
      return items;
    };
    expect(await requestsOf("")).toMatchObject([
      { provider: "openai", requests: 2 },
      { provider: "default", requests: 1 },
    ]);
    expect(await requestsOf("&provider=default")).toMatchObject([{ provider: "default", requests: 1 }]);
    expect(await requestsOf("&provider=openai")).toMatchObject([{ provider: "openai", requests: 2 }]);
  });

  it("finds the default provider by the name of its driver, as earlier versions called it", async () => {
    const gateway = await createGateway({ env: ENV, turns: [says("Hi")] });
    await gateway.post("/v1/chat/completions", chat);
    const { items } = await usage(gateway, "?granularity=total&group_by=provider&provider=sessions");
    expect(items).toMatchObject([{ provider: "default", requests: 1 }]);
  });

  it("counts requests for unknown models as refused, and keeps none of their names", async () => {
    const gateway = await createGateway({ env: ENV, config: { embeddings: { provider: "builtin" } } });
    const messages = [{ role: "user", content: "Hello" }];
    const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
    const statuses: number[] = [];
    for (const made_up of ["no-such-model-1", "no-such-model-2"]) {
      const requests: [path: string, body: object][] = [
        ["/v1/chat/completions", { model: made_up, messages, stream: true }],
        ["/v1/completions", { model: made_up, prompt: "Hello" }],
        ["/v1/responses", { model: made_up, input: "Hello" }],
        ["/v1/messages", { model: made_up, messages, max_tokens: 10 }],
        [`/v1beta/models/${made_up}:generateContent`, { contents }],
        ["/api/chat", { model: made_up, messages }],
        ["/api/generate", { model: made_up, prompt: "Hello" }],
        ["/v1/embeddings", { model: made_up, input: "Hello" }],
        [`/v1beta/models/${made_up}:embedContent`, { content: contents[0] }],
        ["/api/embed", { model: made_up, input: "Hello" }],
        ["/api/embeddings", { model: made_up, prompt: "Hello" }],
        // These use no model: they count tokens.
        ["/v1/messages/count_tokens", { model: made_up, messages }],
        ["/v1/responses/input_tokens", { model: made_up, input: "Hello" }],
        [`/v1beta/models/${made_up}:countTokens`, { contents }],
      ];
      for (const [path, body] of requests) statuses.push((await gateway.post(path, body)).status);
    }
    expect(new Set(statuses)).toEqual(new Set([400, 404]));
    const { items } = await usage(
      gateway,
      "?granularity=total&group_by=key,dialect,operation,requested_model,model,outcome",
    );
    const [{ key = "" } = {}] = Array.isArray(items) ? items : [];
    expect(key).not.toBe("");
    const row = (dialect: string, operation: string, requests: number) => ({
      ...{ key, dialect, operation, requests, refused: requests },
      ...{ requested_model: "unknown", model: "unknown", outcome: "refused", attempts: 0, total_tokens: 0 },
    });
    const rows = [
      row("chat-completions", "chat", 2),
      row("completions", "chat", 2),
      row("responses", "chat", 2),
      row("messages", "chat", 2),
      row("content-generation", "chat", 2),
      row("model-runner", "chat", 4),
      row("embeddings", "embeddings", 2),
      row("content-generation", "embeddings", 2),
      row("model-runner", "embeddings", 4),
    ];
    expect(items).toHaveLength(rows.length);
    expect(items).toEqual(expect.arrayContaining(rows.map((wanted) => expect.objectContaining(wanted))));
  });

  it("counts embeddings", async () => {
    const gateway = await createGateway({ env: ENV, config: { embeddings: { provider: "builtin" } } });
    await gateway.post("/v1/embeddings", { model: "text-embedding-3-small", input: "one two three" });
    const { items } = await usage(gateway, "?granularity=total&group_by=operation,requested_model");
    expect(items).toMatchObject([
      { operation: "embeddings", requested_model: "text-embedding-3-small", requests: 1, prompt_tokens: 3 },
    ]);
  });

  it("is included in the list of keys: the last use, and today's usage", async () => {
    const gateway = await createGateway({ env: ENV, turns: [says("Hi")] });
    await gateway.post("/v1/chat/completions", chat);
    await gateway.settle();
    const response = await gateway.request("/admin/keys", { headers: ADMIN });
    expect(await response.json()).toMatchObject({
      items: [{ last_used: START_OF_TIME, used_today: { requests: 1, tokens: 12, cost: 0 } }],
    });
  });

  it("is an answer for spreadsheets, too", async () => {
    const gateway = await createGateway({ env: ENV, turns: [says("Hi")] });
    await gateway.post("/v1/chat/completions", chat);
    await gateway.settle();
    const response = await gateway.request("/admin/usage?group_by=model&format=csv", { headers: ADMIN });
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const [head, line] = (await response.text()).split("\r\n");
    expect(head).toMatch(/^at,model,requests,succeeded,/);
    expect(line).toMatch(
      new RegExp(
        `^${new Date(START_OF_TIME).toISOString().slice(0, 10)}T00:00:00.000Z,provider-v4-flash,1,1,`,
      ),
    );
  });

  it("is no answer for spreadsheets if lines would be missing, unless their number is stated", async () => {
    const gateway = await createGateway({ env: ENV, turns: [says("Hi")] });
    await gateway.post("/v1/chat/completions", chat);
    await gateway.settle();
    const { usage: stored } = gateway.platform;
    const read = stored.read.bind(stored);
    // As if there were 10,000 more groups.
    vi.spyOn(stored, "read").mockImplementation(async (query) => ({
      ...(await read(query)),
      truncated: true,
    }));
    const ask = (query: string) => gateway.request(`/admin/usage?format=csv${query}`, { headers: ADMIN });
    const refused = await ask("");
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("10000 lines")]);
    expect((await ask("&limit=20")).status).toBe(200);
    expect(vi.mocked(stored.read).mock.calls.map(([{ limit }]) => limit)).toEqual([10_000, 20]);
  });

  it.each([
    ["?from=tomorrow", "time"],
    ["?from=2026-01-02&to=2026-01-01", "before"],
    ["?group_by=colour", "group_by"],
    ["?granularity=minute", "granularity"],
    [`?key=${"a,".repeat(20)}`, "values"],
  ])("refuses %s", async (query, why) => {
    const gateway = await createGateway({ env: ENV });
    const response = await gateway.request(`/admin/usage${query}`, { headers: ADMIN });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(why);
    await pass(0);
  });

  it("is for administrators", async () => {
    const gateway = await createGateway({ env: ENV });
    expect((await gateway.request("/admin/usage")).status).toBe(401);
  });
});
