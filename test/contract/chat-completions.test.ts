import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import {
  canonicalChat,
  validateChatCompletionsStream,
} from "../support/stream-validators/chat-completions.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const test = useGateway();
const { chat, post } = test;
const lastTurn = () => test.gateway.sandbox.lastTurn();

interface Chunk {
  object: string;
  id: string;
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: Record<string, number>;
  error?: { code: string };
}

function chunksOf(text: string): Chunk[] {
  return text
    .split("\n\n")
    .filter((item) => item.startsWith("data: {"))
    .map((item) => JSON.parse(item.slice(6)));
}

describe("POST /v1/chat/completions", () => {
  it("answers with the chat completion object", async () => {
    const body = await (await chat("[[say:hello there]][[think:hmm]]")).json();
    expect(body).toMatchObject({
      id: expect.stringMatching(/.+/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "provider-v4-flash",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "hello there", reasoning_content: "hmm" },
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: expect.any(Number) },
      },
    });
  });

  it("states the resolved canonical model", async () => {
    expect(await (await chat("x", { model: "gpt-5-codex" })).json()).toMatchObject({
      model: "provider-v4-pro",
    });
  });

  it("never thinks with a -nothinking model", async () => {
    const response = await chat("x", {
      model: "provider-v4-flash-nothinking",
      thinking: { type: "enabled" },
      reasoning_effort: "high",
    });
    const body: { choices: { message: Record<string, unknown> }[] } = await response.json();
    expect(body.choices[0]?.message).not.toHaveProperty("reasoning_content");
    expect((await lastTurn()).thinking).toBe(false);
  });

  it("searches with a -search model", async () => {
    await (await chat("x", { model: "provider-v4-pro-search" })).text();
    expect(await lastTurn()).toMatchObject({ model: "pro", search: true, thinking: true });
  });

  it("passes the temperature on", async () => {
    await (await chat("x", { temperature: 0.25, top_p: 0.5, stop: ["END"] })).text();
    expect(await lastTurn()).toMatchObject({ temperature: 0.25 });
  });

  it.each([{ temperature: "hot" }, { max_tokens: -5 }, { max_completion_tokens: -1 }])(
    "accepts any temperature, and a negative limit of tokens as none: %j",
    async (options) => {
      const response = await chat("x", options);
      expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
      expect((await lastTurn())?.temperature ?? null).toBeNull();
    },
  );

  it("estimates token counts that the provider omits", async () => {
    const body: { usage: Record<string, number> } = await (
      await chat("[[nousage]] four words of text")
    ).json();
    expect(body.usage["prompt_tokens"]).toBeGreaterThan(3);
    expect(body.usage["completion_tokens"]).toBeGreaterThan(0);
  });

  it("continues an incomplete message as one generation", async () => {
    const body: { choices: { message: { content: string } }[] } = await (
      await chat("[[incomplete:3]][[say:one two three four five six seven eight]]")
    ).json();
    expect(body.choices[0]?.message.content).toBe("one two three four five six seven eight");
  });

  it("returns only the first of several calls if parallel_tool_calls is false", async () => {
    const two = '[[call:get_weather:{"city":"Bonn"}]][[call:get_weather:{"city":"Oslo"}]][[say:And on.]]';
    const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }];
    const extra = { tools, parallel_tool_calls: false };
    const body: unknown = await (await chat(two, extra)).json();
    const streamed = await (await chat(two, { ...extra, stream: true })).text();
    for (const answer of [canonicalChat(body), validateChatCompletionsStream(streamed).completion]) {
      expect(answer).toMatchObject({
        text: "",
        toolCalls: [{ arguments: { city: "Bonn" } }],
        finish: "tool_calls",
      });
    }
  });

  it.each([
    ["length", "length"],
    ["content_filter", "content_filter"],
  ])("converts the provider's %s to finish_reason %s", async (directive, reason) => {
    const body: { choices: { finish_reason: string }[] } = await (
      await chat(`[[${directive}]] go on`)
    ).json();
    expect(body.choices[0]?.finish_reason).toBe(reason);
  });

  it.each([
    ["messages missing", { model: "provider-v4-flash" }, "messages"],
    ["messages empty", { model: "provider-v4-flash", messages: [] }, "messages"],
    ["messages not an array", { model: "provider-v4-flash", messages: "x" }, "messages"],
    ["model missing", { messages: [{ role: "user", content: "x" }] }, "model"],
    ["model not a string", { model: 7, messages: [{ role: "user", content: "x" }] }, "model"],
    ["an unknown role", { model: "gpt-4o", messages: [{ role: "alien", content: "x" }] }, "messages[0].role"],
    [
      "content of a wrong type",
      { model: "gpt-4o", messages: [{ role: "user", content: 7 }] },
      "messages[0].content",
    ],
    [
      "stream not a boolean",
      { model: "gpt-4o", messages: [{ role: "user", content: "x" }], stream: "yes" },
      "stream",
    ],
    ["a body that is an array", [], null],
  ])("is a 400 that names the field: %s", async (_name, body, param) => {
    const response = await post("/v1/chat/completions", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  });
});

describe("Chat-completions stream", () => {
  it("has role, reasoning, text, then an empty delta with finish_reason and usage, then [DONE] (1 to 5)", async () => {
    const text = await (await chat("[[think:a b c d]][[say:e f g h]]", { stream: true })).text();
    const chunks = chunksOf(text);
    expect(chunks.every(({ object }) => object === "chat.completion.chunk")).toBe(true);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta["role"]).toBe("assistant");
    const join = (field: string) => chunks.map(({ choices }) => choices[0]?.delta[field] ?? "").join("");
    expect(join("reasoning_content")).toBe("a b c d");
    expect(join("content")).toBe("e f g h");
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ delta: {}, finish_reason: "stop" }],
      usage: { total_tokens: expect.any(Number) },
    });
    expect(chunks.filter(({ choices }) => choices[0]?.finish_reason !== null)).toHaveLength(1);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("has the usage in exactly one chunk without choices with include_usage", async () => {
    const options = { stream: true, stream_options: { include_usage: true } };
    const chunks = chunksOf(await (await chat("x", options)).text());
    expect(chunks.filter(({ choices }) => choices.length === 0)).toHaveLength(1);
    expect(chunks.at(-1)?.usage?.["total_tokens"]).toBeGreaterThan(0);
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
    const without = chunksOf(await (await chat("x", { stream: true })).text());
    expect(without.filter(({ choices }) => choices.length === 0)).toHaveLength(0);
  });

  it("counts the same tokens as the whole answer", async () => {
    const whole: { usage: unknown } = await (await chat("[[say:same]]")).json();
    const chunks = chunksOf(await (await chat("[[say:same]]", { stream: true })).text());
    expect(chunks.at(-1)?.usage).toEqual(whole.usage);
  });

  it.each(["cut:4", "reset:4", "garbage:4", "error:model_unavailable:4"])(
    "ends with an error event, and never as a success, after a failure in mid-stream ([[%s]])",
    async (directive) => {
      const response = await chat(`[[${directive}]] one two three four five six seven eight nine`, {
        stream: true,
        model: "provider-v4-flash-nothinking",
      });
      expect(response.status).toBe(200);
      const text = await response.text();
      const chunks = chunksOf(text);
      expect(chunks.at(-1)?.error?.code).toMatch(/upstream_error|model_unavailable|upstream_unavailable/);
      expect(chunks.some(({ choices }) => choices?.[0]?.finish_reason)).toBe(false);
      expect(text).not.toContain("[DONE]");
    },
  );

  it("is replaced by an HTTP status after a failure before the first token", async () => {
    const response = await chat("[[status:503:model_unavailable]]", { stream: true });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: "model_unavailable" } });
  });
});

describe("tools in chat completions", () => {
  const client = () => new OpenAI({ baseURL: `${test.gateway.url}/v1`, apiKey: DEV_KEY, maxRetries: 0 });
  const ask = (content: string) => ({ model: "gpt-4o", messages: [{ role: "user" as const, content }] });
  const functions = [{ name: "get_weather", description: "The weather", parameters: { type: "object" } }];
  const ROME = '{"city":"Rome"}';

  it("may be functions, which are called as function_call, whole and streamed, and answered by a function message", async () => {
    const request = { ...ask(`[[call:get_weather:${ROME}]]`), functions };
    const whole = (await client().chat.completions.create(request)).choices[0];
    const streamed = (await client().chat.completions.stream(request).finalChatCompletion()).choices[0];
    for (const choice of [whole, streamed]) {
      expect(choice).toMatchObject({
        finish_reason: "function_call",
        message: { content: null, function_call: { name: "get_weather", arguments: ROME } },
      });
      expect(choice?.message.tool_calls).toBeUndefined();
    }
    const function_call = whole?.message.function_call ?? null;
    const next = await client().chat.completions.create({
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant", content: null, function_call },
        { role: "function", name: "get_weather", content: "RESULT-WORD" },
      ],
    });
    expect(next.choices[0]?.finish_reason).toBe("stop");
    expect((await lastTurn()).prompt).toContain("RESULT-WORD");
  });

  it("may take free text, and are called as custom, whole and streamed", async () => {
    const input = 'print("ok")\nprint(2)';
    const request = {
      ...ask(`[[call:run_code:${JSON.stringify({ input })}]]`),
      tools: [{ type: "custom" as const, custom: { name: "run_code", description: "Runs code" } }],
    };
    const whole = (await client().chat.completions.create(request)).choices[0];
    const streamed = (await client().chat.completions.stream(request).finalChatCompletion()).choices[0];
    for (const choice of [whole, streamed]) {
      expect(choice).toMatchObject({
        finish_reason: "tool_calls",
        message: { tool_calls: [{ type: "custom", custom: { name: "run_code", input } }] },
      });
    }
  });

  it("are refused in tool_choice if they are not declared, without asking the provider", async () => {
    const before = (await test.gateway.sandbox.state()).turn_count;
    const tools = [{ type: "function", function: { name: "get_weather" } }];
    const response = await chat("x", {
      tools,
      tool_choice: { type: "function", function: { name: "gone" } },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "tool_choice" } });
    expect((await test.gateway.sandbox.state()).turn_count).toBe(before);
  });

  it("are offered only if tool_choice allows them", async () => {
    const tools = ["get_weather", "get_time"].map((name) => ({ type: "function", function: { name } }));
    const allowed = { mode: "auto", tools: [tools[1]] };
    await chat("x", { tools, tool_choice: { type: "allowed_tools", allowed_tools: allowed } });
    const { prompt } = await lastTurn();
    expect(prompt).toContain("get_time");
    expect(prompt).not.toContain("get_weather");
  });
});
