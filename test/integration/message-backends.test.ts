import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DIALECT_CLIENTS, type DialectClient, type DialectConversation } from "../support/dialect-clients.ts";
import { DIALECT_CONVERSATIONS } from "../support/dialect-conversations.ts";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { type StrictMessages, startStrictMessages } from "../support/strict-messages.ts";
import { DEV_KEY, type TestGateway, useGateway } from "../support/use-gateway.ts";

/** The rules of translation hold for the message style, too, where a provider switched the native path off. */

/** The provider of the first gateway is a second gateway in the message style, whose provider is the sandbox. */
const behind = useGateway({ vars: config([{ email: "one@sandbox.test", password: "sandbox" }]) });
const front = useGateway(() => ({
  vars: {
    ...config([{ token: DEV_KEY }]),
    PROVIDER_DRIVER: "anthropic",
    PROVIDER_NATIVE: "false",
    PROVIDER_BASE_URL: `${behind.gateway.url}/anthropic`,
  },
}));

function config(accounts: readonly object[]): Record<string, string> {
  const settings = { keys: [DEV_KEY], accounts, thinking_injection: { enabled: false } };
  return { GATEWAY_CONFIG_JSON: JSON.stringify(settings) };
}

async function ask(
  api: TestGateway,
  client: DialectClient,
  conversation: DialectConversation,
  stream: boolean,
) {
  const response = await client.send(api, conversation, stream);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const completion = stream ? client.streamed(text) : client.whole(JSON.parse(text));
  return { completion, turn: await behind.gateway.sandbox.lastTurn() };
}

describe("a conversation through a backend of the message style gives the same result as without", () => {
  it.each(Object.entries(DIALECT_CONVERSATIONS))("%s", async (_, conversation) => {
    const [chat] = DIALECT_CLIENTS;
    if (chat === undefined) throw new Error("there is no dialect");
    const direct = await ask(behind, chat, conversation, true);
    // The model's thoughts before these calls are unknown, so it continues without thinking.
    const thinks = !("result" in (conversation.steps.at(-1) ?? {}));
    const { usage: _usage, ...counted } = direct.completion;
    const expected = thinks ? direct.completion : { ...counted, reasoning: "" };
    for (const client of DIALECT_CLIENTS) {
      for (const stream of [true, false]) {
        const what = `${client.name}, stream: ${stream}`;
        const through = await ask(front, client, conversation, stream);
        expect(through.turn.prompt, what).toBe(direct.turn.prompt);
        expect(through.turn.thinking, what).toBe(thinks);
        // Beside calls a whole chat completion has no text (docs/contract/answers.md, Chat completion).
        const silent = client === chat && !stream && counted.toolCalls.length > 0 ? { text: "" } : {};
        expect(through.completion, what).toMatchObject({ ...expected, ...silent });
      }
    }
  });
});

describe("a backend as strict as the real service", () => {
  const ROUNDS = 3;
  let backend: StrictMessages;
  let gateway: Gateway;
  beforeAll(async () => {
    backend = await startStrictMessages(ROUNDS);
    gateway = await startGateway({ vars: backendVars(backend.url) });
  });
  afterAll(async () => {
    await gateway.close();
    await backend.close();
  });

  /** Asks, gives results to the calls, and so on to the end; returns what the answer says. */
  async function chat(stream: boolean, extra: object): Promise<string> {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: DEV_KEY, maxRetries: 0 });
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const tools: OpenAI.ChatCompletionTool[] = [
      { type: "function", function: { name: "weather", parameters } },
    ];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];
    for (;;) {
      const request = { model: "gpt-4o", messages, tools, ...extra };
      const completion = stream
        ? await client.chat.completions.stream(request).finalChatCompletion()
        : await client.chat.completions.create(request);
      const { content, tool_calls: calls } = completion.choices[0]?.message ?? {};
      if (calls === undefined) return content ?? "";
      // Reasoning is left out, as most clients do.
      messages.push({ role: "assistant", content: null, tool_calls: calls });
      for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: "mild" });
    }
  }

  async function messages(stream: boolean, extra: object): Promise<string> {
    const client = new Anthropic({ baseURL: `${gateway.url}/anthropic`, apiKey: DEV_KEY, maxRetries: 0 });
    const tools: Anthropic.Tool[] = [{ name: "weather", input_schema: { type: "object" } }];
    const conversation: Anthropic.MessageParam[] = [{ role: "user", content: "Weather?" }];
    for (;;) {
      const request = {
        model: "claude-haiku-4-5",
        max_tokens: 20_000,
        messages: conversation,
        tools,
        ...extra,
      };
      const { content } = stream
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request);
      const results = content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
        block.type === "tool_use" ? [{ type: "tool_result", tool_use_id: block.id, content: "mild" }] : [],
      );
      if (results.length === 0)
        return content.map((block) => (block.type === "text" ? block.text : "")).join("");
      conversation.push({ role: "assistant", content }, { role: "user", content: results });
    }
  }

  const styles = { chat, messages };
  const thinking = { type: "enabled", budget_tokens: 8192 };
  const cases = [
    ...(["chat", "messages"] as const).flatMap((style) => [
      { style, stream: true, thinking: { thinking }, type: "enabled" },
      { style, stream: false, thinking: { thinking }, type: "enabled" },
      { style, stream: true, thinking: { thinking: { type: "disabled" } }, type: "disabled" },
    ]),
    { style: "chat", stream: true, thinking: {}, type: "disabled" } as const,
  ];
  it.each(cases)("is content over several rounds: %j", async ({ style, stream, thinking, type }) => {
    const before = backend.taken.length;
    expect(await styles[style](stream, thinking)).toBe("Cold and warm.");
    const asked = backend.taken.slice(before);
    // The signed thoughts return to the model, also from styles without a field for them, so it keeps thinking.
    expect(asked.map((request) => request.thinking?.type)).toEqual(Array(ROUNDS + 1).fill(type));
    expect(backend.refusals).toEqual([]);
  });

  it("gets no thinking after a call whose thoughts are unknown, and refuses nothing", async () => {
    const call = {
      id: "call_of_yesterday",
      type: "function",
      function: { name: "weather", arguments: "{}" },
    };
    const response = await post(gateway, "/v1/chat/completions", {
      model: "gpt-4o",
      reasoning_effort: "medium",
      messages: [
        { role: "user", content: "Weather?" },
        { role: "assistant", content: null, reasoning_content: "Unsigned.", tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "mild" },
      ],
    });
    expect(JSON.parse(await response.text()).choices[0].message.content).toBe("Cold and warm.");
    expect(backend.taken.at(-1)?.thinking).toEqual({ type: "disabled" });
    expect(backend.refusals).toEqual([]);
  });
});

describe("a request to a backend of the message style", () => {
  const PNG =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

  it("carries images", async () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
    const content = [{ type: "text", text: "[[say:A dot.]]" }, image];
    const response = await front.chat("", {
      model: "gpt-4-vision-preview",
      messages: [{ role: "user", content }],
    });
    expect(JSON.parse(await response.text()).choices[0].message.content).toBe("A dot.");
    expect((await behind.gateway.sandbox.lastTurn()).file_ids.length).toBe(1);
    const source = { type: "base64", media_type: "image/png", data: PNG };
    const blocks = [
      { type: "image", source },
      { type: "text", text: "[[say:Still a dot.]]" },
    ];
    const styled = await front.post("/v1/messages", {
      model: "provider-v4-vision",
      messages: [{ role: "user", content: blocks }],
    });
    expect(JSON.parse(await styled.text()).content).toContainEqual({
      type: "text",
      text: "Still a dot.",
      citations: null,
    });
  });

  it("states the limit that the caller gives, in any style", async () => {
    const seen = await FaultUpstream.start();
    const gateway = await startGateway({ vars: backendVars(seen.url) });
    try {
      const send = async (path: string, body: object) => {
        const response = await post(gateway, path, body);
        await response.text();
        const sent: { max_tokens: number } = JSON.parse(seen.generations.at(-1)?.body ?? "{}");
        return sent.max_tokens;
      };
      const messages = [{ role: "user", content: "x" }];
      expect(await send("/v1/messages", { model: "claude-sonnet-4-5", messages, max_tokens: 20_000 })).toBe(
        20_000,
      );
      expect(await send("/v1/chat/completions", { model: "gpt-4o", messages, max_tokens: 12 })).toBe(12);
      expect(await send("/v1/messages", { model: "claude-sonnet-4-5-nothinking", messages })).toBe(8192);
    } finally {
      await gateway.close();
      await seen.close();
    }
  });

  it("may contain the tools as text, for a backend without tools", async () => {
    const gateway = await startGateway({
      vars: {
        ...backendVars(behind.gateway.url),
        ...config([{ token: DEV_KEY }]),
        PROVIDER_TOOL_CALLS: "markup",
      },
    });
    try {
      const tools = [{ type: "function", function: { name: "clock", parameters: { type: "object" } } }];
      const messages = [{ role: "user", content: "[[text-and-call]][[call:clock]]" }];
      const response = await post(gateway, "/v1/chat/completions", { model: "gpt-4o", messages, tools });
      expect(JSON.parse(await response.text()).choices[0]).toMatchObject({
        finish_reason: "tool_calls",
        message: { tool_calls: [{ function: { name: "clock", arguments: "{}" } }] },
      });
    } finally {
      await gateway.close();
    }
  });

  it("of an unknown key is refused as the backend does", async () => {
    // A caller with a token of its own passes it through.
    const response = await front.chat("x", {}, { authorization: "Bearer sandbox-token-expired" });
    expect([response.status, JSON.parse(await response.text()).error.code]).toEqual([401, "invalid_api_key"]);
  });

  it("fails as the backend does", async () => {
    for (const fault of ["[[cut:6]]", "[[reset:6]]", "[[garbage:6]]", "[[error:server_error:6]]"]) {
      for (const client of DIALECT_CLIENTS) {
        const conversation = { steps: [{ user: `[[big:400]][[chunk:20]]${fault}` }] };
        const streamed = client.streamed(await (await client.send(front, conversation, true)).text());
        expect(streamed, `${fault} ${client.name}`).toMatchObject({
          error: expect.any(String),
          finish: null,
        });
        expect((await client.send(front, conversation, false)).status, `${fault} ${client.name}`).toBe(503);
      }
    }
  });
});

describe("a backend of the message style that refuses", () => {
  let upstream: FaultUpstream;
  let gateway: Gateway;
  beforeAll(async () => {
    upstream = await FaultUpstream.start();
    gateway = await startGateway({ vars: backendVars(upstream.url) });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  it.each([
    [400, "invalid_request_error", 400, "invalid_request"],
    [401, "authentication_error", 401, "invalid_api_key"],
    [403, "permission_error", 503, "upstream_unavailable"],
    [429, "rate_limit_error", 429, "upstream_rate_limited"],
    [500, "api_error", 503, "upstream_error"],
    [529, "overloaded_error", 503, "model_unavailable"],
  ])("converts the error %i %s to %i %s", async (status, code, told, as) => {
    upstream.plan = { status, code };
    for (const [path, family] of [
      ["/v1/chat/completions", "chat"],
      ["/v1/messages", "messages"],
    ] as const) {
      for (const stream of [false, true]) {
        const body = { model: "claude-sonnet-4-5", stream, messages: [{ role: "user", content: "x" }] };
        // A key of the caller's own, so that no account of the pool cools down.
        const response = await post(gateway, path, body, "key-of-the-caller");
        const { error } = JSON.parse(await response.text());
        expect([response.status, error.code], `${family}, stream: ${stream}`).toEqual([told, as]);
      }
    }
  });

  it("is asked with the caller's key, and the account's", async () => {
    upstream.plan = {};
    const body = { model: "claude-sonnet-4-5", messages: [{ role: "user", content: "x" }] };
    for (const key of ["key-of-the-caller", DEV_KEY])
      await (await post(gateway, "/v1/messages", body, key)).text();
    const keys = upstream.generations.slice(-2).map(({ headers }) => headers["x-api-key"]);
    expect(keys).toEqual(["key-of-the-caller", "backend-key"]);
  });
});

function backendVars(url: string): Record<string, string> {
  return {
    ...config([{ token: "backend-key" }]),
    PROVIDER_DRIVER: "anthropic",
    PROVIDER_NATIVE: "false",
    PROVIDER_BASE_URL: url,
  };
}

function post(gateway: Gateway, path: string, body: object, key: string = DEV_KEY): Promise<Response> {
  return gateway.fetch(path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
