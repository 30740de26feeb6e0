import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../src/core/encoding/json.ts";
import { serve } from "../support/local-server.ts";
import { useAdmin } from "../support/use-admin.ts";
import { TestSocket } from "../support/web-sockets.ts";

/** The vendors' own SDKs, behind the gateway and without it: the same requests reach the vendor, the same answers the SDK. */

const running = useAdmin();

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const root = join(import.meta.dirname, "../fixtures/streams");
const recorded = (file: string) => readFileSync(join(root, file));
/** The stream of each vendor, by the end of the path. */
const STREAMS = [
  [/\/chat\/completions$/, recorded("openai/openai-mock-api-calls.sse")],
  [/\/responses$/, recorded("openai-responses/search.sse")],
  [/\/messages\?beta=true$|\/messages$/, recorded("anthropic/thinking.sse")],
  [/:streamGenerateContent/, recorded("gemini/search.sse")],
] as const;

const received: Received[] = [];
const vendor = await serve(async (request, response) => {
  const { method = "", url: path = "" } = request;
  const headers = Object.fromEntries(Object.entries(request.headers).map(([k, v]) => [k, String(v)]));
  received.push({ method, path, headers, body: await readText(request) });
  const stream = STREAMS.find(([pattern]) => pattern.test(path))?.[1];
  response.writeHead(stream === undefined ? 404 : 200, { "content-type": "text/event-stream" });
  // Pieces that end anywhere, as the network brings them.
  for (let at = 0; stream !== undefined && at < stream.length; at += 97)
    response.write(stream.subarray(at, at + 97));
  response.end();
});

beforeAll(async () => {
  for (const [id, driver, path] of [
    ["chat", "openai", "/v1"],
    ["resp", "openai-responses", "/v1"],
    ["mess", "anthropic", ""],
    ["cont", "gemini", "/v1"],
  ]) {
    const provider = {
      id,
      driver,
      base_url: vendor.origin + path,
      token: "sk-vendor-0123456789",
      models: {},
    };
    expect((await running.admin("POST", "/admin/providers", provider)).status).toBe(200);
  }
});
afterAll(() => vendor.close());

const text = "What is new?";
const tools = { type: "function", function: { name: "f", parameters: { type: "object" } } } as const;

/** Asks with an SDK. `model` names the model with or without its provider. Returns what the SDK made of the answer. */
const CLIENTS: Readonly<Record<string, (base: string, key: string, model: string) => Promise<unknown[]>>> = {
  chat: async (base, apiKey, model) => {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey, maxRetries: 0 });
    const body: OpenAI.ChatCompletionCreateParamsStreaming = {
      model,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: text }],
      tools: [tools],
      n: 2,
      metadata: { a: "b" },
      prediction: { type: "content", content: "x" },
    };
    return collect(await client.chat.completions.create(body, { headers: { "openai-beta": "x=1" } }));
  },
  resp: async (base, apiKey, model) => {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey, maxRetries: 0 });
    const stream = await client.responses.create({
      model,
      stream: true,
      store: false,
      input: [{ role: "user", content: text }],
      tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }, { type: "image_generation" }],
      include: ["reasoning.encrypted_content"],
      service_tier: "flex",
    });
    return collect(stream);
  },
  mess: async (base, apiKey, model) => {
    const client = new Anthropic({ baseURL: base, apiKey, maxRetries: 0 });
    const stream = client.beta.messages.stream({
      model,
      max_tokens: 2_000,
      betas: ["context-management-2025-06-27", "not-known-2099-01-01"],
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      messages: [
        { role: "user", content: [{ type: "text", text, cache_control: { type: "ephemeral", ttl: "1h" } }] },
      ],
      tools: [{ type: "web_search_20250305", name: "web_search" }],
      thinking: { type: "enabled", budget_tokens: 1_024 },
    });
    return [...(await collect(stream)), await stream.finalMessage()];
  },
  cont: async (base, apiKey, model) => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base } });
    const stream = await client.models.generateContentStream({
      model,
      contents: text,
      config: {
        tools: [{ codeExecution: {} }, { urlContext: {} }],
        safetySettings: [],
        cachedContent: "cachedContents/1",
        thinkingConfig: { includeThoughts: true },
      },
    });
    const chunks = await collect(stream);
    // The SDK adds the response's headers.
    return chunks.map((chunk) => ({ ...Object(chunk), sdkHttpResponse: undefined }));
  },
};

async function collect(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Headers that belong to the connection or to the credential. */
const OWN_HEADERS =
  /^(?:authorization|x-api-key|x-goog-api-key|host|connection|content-length|transfer-encoding|accept-encoding|accept-language|sec-fetch-.*|cf-.*)$/;

const comparable = ({ method, path, headers, body }: Received, model: string) => ({
  method,
  path: path.replaceAll(model, "MODEL"),
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name))),
  body: body.replaceAll(model, "MODEL"),
});

describe("an SDK in front of its own vendor", () => {
  it.each(Object.keys(CLIENTS))(
    "asks and reads the same through the gateway as without it: %s",
    async (id) => {
      const ask = CLIENTS[id];
      if (ask === undefined) throw new Error("there is no such client");
      const model = "model-1";
      received.length = 0;
      const direct = await ask(vendor.origin, "sk-mine", model);
      const through = await ask(running.gateway.url, "sk-dev", `${id}/${model}`);
      const [one, two] = received;
      if (one === undefined || two === undefined) throw new Error("the vendor was not asked twice");
      expect(comparable(two, model)).toEqual(comparable(one, model));
      expect(JSON.stringify(two)).not.toContain("sk-dev");
      const named = (items: unknown) =>
        JSON.stringify(items).replaceAll(/"(model|modelVersion)":"[^"]*"/g, '"$1":"MODEL"');
      expect(JSON.parse(named(through))).toEqual(JSON.parse(named(direct)));
      expect(direct.length).toBeGreaterThan(1);
    },
  );
});

describe("a web search of a provider with another protocol", () => {
  it("is a block of the message style, which later requests may contain", async () => {
    const client = new Anthropic({ baseURL: running.gateway.url, apiKey: "sk-dev", maxRetries: 0 });
    const question = { role: "user", content: text } as const;
    const ask = (model: string, ...messages: Anthropic.MessageParam[]) =>
      client.messages
        .stream({
          model,
          messages,
          max_tokens: 100,
          tools: [{ type: "web_search_20250305", name: "web_search" }],
        })
        .finalMessage();
    for (const [provider, query] of [
      ["cont", "time in Ørsta"],
      ["resp", "time in Oslo"],
    ] as const) {
      const { content } = await ask(`${provider}/m`, question);
      const call = content.find((block) => block.type === "server_tool_use");
      expect(call?.input).toEqual({ query });
      const found = content.filter((block) => block.type === "web_search_tool_result");
      expect(found.map(({ tool_use_id }) => tool_use_id)).toContain(call?.id);
      expect(JSON.stringify(found)).toContain('"type":"web_search_result"');
      await ask(`${provider}/m`, question, { role: "assistant", content }, question);
      received.length = 0;
      await ask("mess/m", question, { role: "assistant", content }, question);
      expect(received[0]?.path).toBe("/v1/messages");
      expect(received[0]?.body).not.toMatch(/srvtoolu|encrypted_/);
    }
  });

  it("is an item of the responses style, which later requests may contain", async () => {
    const client = new OpenAI({ baseURL: `${running.gateway.url}/v1`, apiKey: "sk-dev", maxRetries: 0 });
    const ask = (request: object) =>
      client.responses
        .stream({ model: "cont/m", input: text, tools: [{ type: "web_search" }], ...request })
        .finalResponse();
    const { id, output } = await ask({});
    expect(output.find(({ type }) => type === "web_search_call")).toMatchObject({
      status: "completed",
      action: { type: "search", query: "time in Ørsta" },
    });
    expect((await ask({ previous_response_id: id })).status).toBe("completed");
    const input = [...output, { role: "user", content: text }];
    expect((await ask({ input })).status).toBe("completed");
    received.length = 0;
    await ask({ model: "resp/m", input });
    expect(received[0]?.path).toBe("/v1/responses");
    expect(received[0]?.body).not.toContain("web_search_call");
  });
});

describe("a WebSocket of the responses style in front of its own vendor", () => {
  it("passes on the caller's messages and the vendor's events, and continues a chain without loss", async () => {
    const socket = await TestSocket.open(running.gateway, { key: "sk-dev" });
    if (typeof socket === "number") throw new Error(`the handshake was refused: ${socket}`);
    received.length = 0;
    const first = { type: "file_search", vector_store_ids: ["vs_1"] };
    const member = { unknown_member: { deep: [1, null] }, service_tier: "flex" };
    socket.send({
      type: "response.create",
      model: "resp/m",
      store: false,
      tools: [first],
      input: text,
      ...member,
    });
    const events: JsonObject[] = [];
    for (;;) {
      const event = await socket.next();
      if (event === null) throw new Error("the connection was closed");
      events.push(event);
      if (event["type"] === "response.completed") break;
    }
    const sent = STREAMS[1][1]
      .toString()
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice("data: ".length)));
    const named = (items: unknown) => JSON.stringify(items).replaceAll(/"model":"[^"]*"/g, '"model":"MODEL"');
    expect(named(events)).toBe(named(sent));
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({
      model: "m",
      store: false,
      tools: [first],
      input: text,
      ...member,
      stream: true,
      include: ["reasoning.encrypted_content"],
    });
    const response = isObject(events.at(-1)?.["response"]) ? events.at(-1)?.["response"] : {};
    const { id, output } = Object(response);
    socket.send({
      type: "response.create",
      model: "resp/m",
      previous_response_id: id,
      store: false,
      input: "Go on",
    });
    expect(await socket.outcome()).toEqual({ id });
    const { input, previous_response_id } = JSON.parse(received[1]?.body ?? "");
    expect(previous_response_id).toBeUndefined();
    expect(input.slice(1)).toEqual([...output, { role: "user", content: "Go on" }]);
    await socket.end();
  });
});
