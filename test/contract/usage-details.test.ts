import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/**
 * The details of a usage that vendors bill, on the native and the translated path, whole and streamed: the history, the
 * usage, its CSV, the metrics and the cost show them.
 */

const KEY = "sk-of-the-key-with-a-budget";
const running = useAdmin({ secrets: [KEY] });

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const named = (data: { readonly type: string }) => `event: ${data.type}\n${event(data)}`;

interface Vendor {
  readonly driver: string;
  /** The path of its base URL. */
  readonly base: string;
  readonly whole: object;
  readonly stream: string;
  /** A request in the vendor's own style. */
  readonly ask: (model: string, stream: boolean) => readonly [path: string, body: object];
  /** What history and usage state. */
  readonly details: Readonly<Record<string, number>>;
}

const CHAT_USAGE = {
  prompt_tokens: 1_000,
  completion_tokens: 100,
  total_tokens: 1_100,
  prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 100, audio_tokens: 20 },
  completion_tokens_details: { reasoning_tokens: 60, audio_tokens: 30 },
};
const choice = (member: string, more: object = {}) => ({
  index: 0,
  [member]: { role: "assistant", content: "Hi" },
  finish_reason: "stop",
  ...more,
});

const LIFETIMES = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 50 };
const MESSAGE_START_USAGE = {
  input_tokens: 250,
  cache_read_input_tokens: 600,
  cache_creation_input_tokens: 150,
  cache_creation: LIFETIMES,
  output_tokens: 1,
};
/** Cumulative: the counts repeat those of the beginning. */
const MESSAGE_END_USAGE = {
  input_tokens: 250,
  cache_read_input_tokens: 600,
  cache_creation_input_tokens: 150,
  output_tokens: 100,
  server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
};
const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null };

const SEARCH = {
  type: "web_search_call",
  id: "ws_1",
  status: "completed",
  action: { type: "search", query: "x" },
};
const MESSAGE_ITEM = {
  type: "message",
  id: "m_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hi", annotations: [] }],
};
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: [SEARCH, MESSAGE_ITEM],
  usage: {
    input_tokens: 1_000,
    input_tokens_details: { cached_tokens: 600, cache_write_tokens: 100 },
    output_tokens: 100,
    output_tokens_details: { reasoning_tokens: 60 },
    total_tokens: 1_100,
  },
};

const CONTENT = {
  candidates: [
    {
      content: { role: "model", parts: [{ text: "Hi" }] },
      finishReason: "STOP",
      index: 0,
      groundingMetadata: { webSearchQueries: ["a", "b"] },
    },
  ],
  usageMetadata: {
    promptTokenCount: 1_000,
    cachedContentTokenCount: 600,
    candidatesTokenCount: 40,
    thoughtsTokenCount: 60,
    totalTokenCount: 1_100,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: 980 },
      { modality: "AUDIO", tokenCount: 20 },
    ],
  },
  modelVersion: "m",
  responseId: "r_1",
};

const messages = [{ role: "user", content: "Hello?" }];

const VENDORS: Readonly<Record<string, Vendor>> = {
  openai: {
    driver: "openai",
    base: "/v1",
    whole: {
      id: "c1",
      object: "chat.completion",
      model: "m",
      choices: [choice("message")],
      usage: CHAT_USAGE,
    },
    stream: [
      event({ id: "c1", object: "chat.completion.chunk", model: "m", choices: [choice("delta")] }),
      event({ id: "c1", object: "chat.completion.chunk", model: "m", choices: [], usage: CHAT_USAGE }),
      "data: [DONE]\n\n",
    ].join(""),
    ask: (model, stream) => ["/v1/chat/completions", { model, messages, stream }],
    details: {
      reasoning_tokens: 60,
      cached_tokens: 600,
      cache_write_5m_tokens: 100,
      audio_input_tokens: 20,
      audio_output_tokens: 30,
    },
  },
  anthropic: {
    driver: "anthropic",
    base: "",
    whole: {
      ...MESSAGE,
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "end_turn",
      usage: { ...MESSAGE_START_USAGE, ...MESSAGE_END_USAGE },
    },
    stream: [
      named({
        type: "message_start",
        ...{ message: { ...MESSAGE, content: [], usage: MESSAGE_START_USAGE } },
      }),
      named({ type: "content_block_start", ...{ index: 0, content_block: { type: "text", text: "Hi" } } }),
      named({ type: "content_block_stop", ...{ index: 0 } }),
      named({ type: "message_delta", ...{ delta: { stop_reason: "end_turn" }, usage: MESSAGE_END_USAGE } }),
      named({ type: "message_stop" }),
    ].join(""),
    ask: (model, stream) => ["/v1/messages", { model, messages, max_tokens: 500, stream }],
    details: {
      cached_tokens: 600,
      cache_write_5m_tokens: 100,
      cache_write_1h_tokens: 50,
      web_searches: 2,
      web_fetches: 1,
    },
  },
  responses: {
    driver: "openai-responses",
    base: "/v1",
    whole: RESPONSE,
    stream: [
      named({
        type: "response.created",
        ...{ response: { ...RESPONSE, status: "in_progress", output: [] } },
      }),
      named({ type: "response.output_item.added", ...{ output_index: 0, item: SEARCH } }),
      named({ type: "response.output_item.done", ...{ output_index: 0, item: SEARCH } }),
      named({
        type: "response.output_item.added",
        ...{ output_index: 1, item: { ...MESSAGE_ITEM, content: [] } },
      }),
      named({ type: "response.output_text.delta", ...{ output_index: 1, content_index: 0, delta: "Hi" } }),
      named({ type: "response.output_item.done", ...{ output_index: 1, item: MESSAGE_ITEM } }),
      named({ type: "response.completed", ...{ response: RESPONSE } }),
    ].join(""),
    ask: (model, stream) => ["/v1/responses", { model, input: "Hello?", stream, store: false }],
    details: { reasoning_tokens: 60, cached_tokens: 600, cache_write_5m_tokens: 100, web_searches: 1 },
  },
  gemini: {
    driver: "gemini",
    base: "/v1beta",
    whole: CONTENT,
    stream: event(CONTENT),
    ask: (model, stream) => [
      `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      { contents: [{ role: "user", parts: [{ text: "Hello?" }] }] },
    ],
    details: { reasoning_tokens: 60, cached_tokens: 600, audio_input_tokens: 20, web_searches: 2 },
  },
};

const NONE = {
  reasoning_tokens: 0,
  cached_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  audio_input_tokens: 0,
  audio_output_tokens: 0,
  image_input_tokens: 0,
  image_output_tokens: 0,
  audio_seconds: 0,
  search_units: 0,
  web_searches: 0,
  web_fetches: 0,
};
/** For a million tokens: a token costs so many millionths. */
const PRICE = { input: 1, output: 5, cache_read: 0.1, cache_write_5m: 1.25, cache_write_1h: 2 };

/** The cost of one answer of a vendor: each has 1,000 tokens in and 100 out, reasoning included. */
function costOf(details: Readonly<Record<string, number>>): number {
  const { cached_tokens, cache_write_5m_tokens, cache_write_1h_tokens } = { ...NONE, ...details };
  const uncached = 1_000 - cached_tokens - cache_write_5m_tokens - cache_write_1h_tokens;
  const writes = cache_write_5m_tokens * PRICE.cache_write_5m + cache_write_1h_tokens * PRICE.cache_write_1h;
  return (uncached * PRICE.input + cached_tokens * PRICE.cache_read + writes + 100 * PRICE.output) / 1e6;
}

const backend = await serve(async (request, response) => {
  const { url = "" } = request;
  const body = await text(request);
  const vendor = VENDORS[url.split("/")[1] ?? ""];
  const streams = url.includes(":stream") || /"stream":\s*true/.test(body);
  response.writeHead(vendor === undefined ? 404 : 200, {
    "content-type": streams ? "text/event-stream" : "application/json",
  });
  response.end(streams ? vendor?.stream : JSON.stringify(vendor?.whole));
});

beforeAll(async () => {
  for (const [vendor, { driver, base }] of Object.entries(VENDORS)) {
    for (const native of [true, false]) {
      const provider = {
        id: native ? vendor : `${vendor}-translated`,
        driver,
        native,
        base_url: `${backend.origin}/${vendor}${base}`,
        token: "sk-vendor-0123456789",
        models: { m: { price: PRICE } },
      };
      expect((await running.admin("POST", "/admin/providers", provider)).status).toBe(200);
    }
  }
  const key = { key: KEY, name: "budget", limits: { cost_per_day: 1_000 } };
  expect((await running.admin("POST", "/admin/keys", key)).status).toBe(200);
});
afterAll(() => backend.close());

const items = (body: Readonly<Record<string, unknown>>): Record<string, unknown>[] => Object(body["items"]);

async function spentToday(): Promise<number> {
  const { body } = await running.admin("GET", "/admin/keys");
  return Object(items(body).find(({ name }) => name === "budget"))["used_today"].cost;
}

describe.each(Object.entries(VENDORS))("usage that %s states", (vendor, { ask, details }) => {
  it.each([
    [vendor, "native", false],
    [vendor, "native", true],
    [`${vendor}-translated`, "translated", false],
    [`${vendor}-translated`, "translated", true],
  ])("is in every book: %s, %s, streamed: %s", async (provider, path, stream) => {
    const query = `/admin/usage?granularity=total&group_by=provider,model,key&provider=${provider}`;
    const before = items((await running.admin("GET", query)).body)[0] ?? {};
    const spentBefore = await spentToday();
    const [target, body] = ask(`${provider}/m`, stream);
    const response = await running.fetch(target, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Hi")]);
    expect(response.headers.get("x-gateway-path")).toBe(path);

    const expected = { ...NONE, ...details };
    const record = await until(
      async () => items((await running.admin("GET", "/admin/chat-history?page_size=1")).body)[0] ?? {},
      ({ provider: of, status, stream: was }) => of === provider && was === stream && status === "success",
    );
    expect(record).toMatchObject({ prompt_tokens: 1_000, completion_tokens: 100, path, ...expected });
    const { body: whole } = await running.admin("GET", `/admin/chat-history/${String(record["id"])}`);
    expect(whole).toMatchObject(expected);

    const requests = Number(before["requests"] ?? 0) + 1;
    const [used] = await until(
      async () => items((await running.admin("GET", query)).body),
      ([group]) => group?.["requests"] === requests,
    );
    const sums = Object.entries({ ...expected, prompt_tokens: 1_000, completion_tokens: 100 });
    expect(used).toMatchObject(Object.fromEntries(sums.map(([name, count]) => [name, count * requests])));
    expect(Number(used?.["cost"])).toBeCloseTo(costOf(details) * requests, 12);
    expect((await spentToday()) - spentBefore).toBeCloseTo(costOf(details), 12);

    const admin = { headers: { authorization: "Bearer admin" } };
    const csv = await (await running.fetch(`${query}&format=csv`, admin)).text();
    const [head = "", line = ""] = csv.split("\r\n");
    const cells = Object.fromEntries(head.split(",").map((name, place) => [name, line.split(",")[place]]));
    for (const [name, count] of sums) expect([name, cells[name]]).toEqual([name, String(count * requests)]);

    const metrics = await (await running.fetch("/admin/metrics", admin)).text();
    const labels = `gen_ai_provider_name="${provider}",gen_ai_request_model="${provider}/m"`;
    expect(metrics).toContain(
      `polygate_token_details_total{${labels},type="cache_read"} ${600 * requests}\n`,
    );
    if (expected.web_searches > 0) {
      expect(metrics).toContain(
        `polygate_server_tool_requests_total{${labels},tool="web_search"} ${expected.web_searches * requests}\n`,
      );
    }
  });
});

describe("the overview of activity", () => {
  it("states the tokens that were read from caches", async () => {
    const totals = async () =>
      Object((await running.admin("GET", "/admin/activity?range=1h")).body["totals"]);
    const requests = 4 * Object.keys(VENDORS).length;
    const { prompt_tokens, cached_tokens } = await until(totals, ({ succeeded }) => succeeded === requests);
    expect([prompt_tokens, cached_tokens]).toEqual([1_000 * requests, 600 * requests]);
  });
});
