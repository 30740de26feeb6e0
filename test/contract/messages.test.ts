import { describe, expect, it } from "vitest";
import { z } from "zod";
import { canonicalMessage, validateMessagesStream } from "../support/stream-validators/messages.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const test = useGateway();
const WEATHER = {
  name: "get_weather",
  description: "Tells the weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const PATHS = ["/vendorb/v1/messages", "/anthropic/v1/messages", "/v1/messages", "/messages"];

function body(text: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    model: "claude-sonnet-5",
    max_tokens: 100,
    messages: [{ role: "user", content: text }],
    ...extra,
  };
}

const send = (text: string, extra: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  test.post("/vendorb/v1/messages", body(text, extra), headers);

async function whole(text: string, extra: Record<string, unknown> = {}) {
  const response = await send(text, extra);
  expect(response.status).toBe(200);
  return canonicalMessage(await response.json());
}

async function streamed(text: string, extra: Record<string, unknown> = {}) {
  const response = await send(text, { ...extra, stream: true });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  return validateMessagesStream(await response.text());
}

describe("POST /vendorb/v1/messages", () => {
  it.each(PATHS)("answers with a message at %s", async (path) => {
    const response = await test.post(
      path,
      body("[[say:hello there]][[think:hm]]", { thinking: { type: "enabled", budget_tokens: 2000 } }),
    );
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^msg_\w+$/),
      type: "message",
      role: "assistant",
      model: "claude-sonnet-5",
      content: [
        { type: "thinking", thinking: "hm", signature: "" },
        { type: "text", text: "hello there", citations: null },
      ],
      container: null,
      diagnostics: null,
      stop_details: null,
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: expect.any(Number),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: expect.any(Number),
        output_tokens_details: { thinking_tokens: expect.any(Number) },
        server_tool_use: null,
        cache_creation: null,
        inference_geo: null,
        service_tier: "standard",
        speed: null,
      },
    });
  });

  it("names each request where its SDK looks for the name", async () => {
    for (const model of ["claude-sonnet-5", "no-such-model"]) {
      const response = await test.post("/v1/messages", {
        model,
        messages: [{ role: "user", content: "hi" }],
      });
      const id = response.headers.get("request-id");
      expect(id).toBe(response.headers.get("x-request-id"));
      if (!response.ok) expect(await response.json()).toMatchObject({ type: "error", request_id: id });
    }
    expect((await test.chat("hi")).headers.has("request-id")).toBe(false);
  });

  it.each([
    ["text", "[[say:a longer answer of several words]]", {}],
    ["thinking", "[[think:well]][[say:done]]", { thinking: { type: "adaptive" } }],
    ["thinking that nobody asked to see", "[[think:well]][[say:done]]", {}],
    ["one call", '[[call:get_weather:{"city":"Bonn"}]]', { tools: [WEATHER] }],
    [
      "two calls amid text",
      '[[text-and-call]][[call:get_weather:{"city":"Bonn"}]][[call:get_weather:{"city":"Oslo"}]]',
      { tools: [WEATHER] },
    ],
    ["a call in the reasoning", "[[call-in-reasoning]][[call:get_weather]]", { tools: [WEATHER] }],
    ["too little room", "[[say:cut short]][[length]]", {}],
    ["an answer in three pieces", "[[say:one two three four five six]][[incomplete:2]]", {}],
    ["an empty first try", "[[empty]][[say:now]]", {}],
    ["torn bytes", "[[say:zażółć gęślą jaźń 🙂]][[bytes:3]]", {}],
  ])("streams the same as the whole answer at %s", async (_, text, extra) => {
    const [stream, message] = [await streamed(text, extra), await whole(text, extra)];
    expect(stream.completion).toEqual(message);
  });

  it.each([true, false])("names the matched stop sequence, stream: %s", async (stream) => {
    const response = await send("[[say:one two END three]]", { stop_sequences: ["STOP", "END"], stream });
    const text = await response.text();
    expect(text).toContain('"stop_reason":"stop_sequence","stop_sequence":"END"');
    const other = await send("[[say:one two three]]", { stop_sequences: ["END"], stream });
    expect(await other.text()).toContain('"stop_reason":"end_turn","stop_sequence":null');
  });

  it("states calls with stop_reason tool_use and one tool_use block each", async () => {
    const calls = '[[call:get_weather:{"city":"Bonn"}]][[call:get_weather:{"city":"Oslo"}]]';
    const message = await whole(calls, { tools: [WEATHER] });
    expect(message).toMatchObject({
      finish: "tool_calls",
      toolCalls: [
        { name: "get_weather", arguments: { city: "Bonn" } },
        { name: "get_weather", arguments: { city: "Oslo" } },
      ],
    });
  });

  it("hides raw tool markup in any form", async () => {
    const response = await send('[[drift:cjk]][[call:get_weather:{"city":"Bonn"}]]', {
      tools: [WEATHER],
      stream: true,
    });
    const text = await response.text();
    expect(validateMessagesStream(text).completion.toolCalls).toHaveLength(1);
    expect(text).not.toMatch(/TCML|invoke|tool_calls/);
  });

  it("sends tool input in many deltas", async () => {
    const city = "x".repeat(2000);
    const { events } = await streamed(`[[chunk:20]][[call:get_weather:${JSON.stringify({ city })}]]`, {
      tools: [WEATHER],
    });
    const deltas = z.array(z.looseObject({ delta: z.looseObject({ type: z.string() }) }));
    const input = deltas
      .parse(events.filter(({ type }) => type === "content_block_delta"))
      .filter(({ delta }) => delta.type === "input_json_delta");
    expect(input.length).toBeGreaterThan(20);
  });

  it("shows thinking only on request, and otherwise has the answer in the first block", async () => {
    const response = await test.post("/v1/messages", body("[[think:hm]][[say:x]]"));
    expect(await response.json()).toMatchObject({ content: [{ type: "text", text: "x" }] });
    expect((await streamed("[[think:hm]][[say:x]]")).completion.reasoning).toBe("");
    expect((await test.gateway.sandbox.lastTurn()).thinking).toBe(true);
    const asked = { thinking: { type: "adaptive" } };
    expect((await whole("[[think:hm]][[say:x]]", asked)).reasoning).toBe("hm");
    expect((await streamed("[[think:hm]][[say:x]]", asked)).completion.reasoning).toBe("hm");
  });

  it("has no thinking block if thinking is disabled or the model does not think", async () => {
    const off = await whole("[[think:hm]][[say:x]]", { thinking: { type: "disabled" } });
    expect(off.reasoning).toBe("");
    const never = await streamed("[[think:hm]][[say:x]]", {
      model: "claude-sonnet-5-nothinking",
      thinking: { type: "enabled", budget_tokens: 2000 },
    });
    expect(never.completion.reasoning).toBe("");
    expect((await test.gateway.sandbox.lastTurn()).thinking).toBe(false);
  });

  it("prefers temperature to top_p, and passes stop sequences on", async () => {
    await send("x", { temperature: 0.3, top_p: 0.9, stop_sequences: ["END"] });
    const both = await test.gateway.sandbox.lastTurn();
    expect(both).toMatchObject({ temperature: 0.3, stop: ["END"] });
    expect(both).not.toHaveProperty("top_p");
    await send("x", { top_p: 0.9 });
    expect(await test.gateway.sandbox.lastTurn()).toMatchObject({ top_p: 0.9 });
  });

  it("does not truncate at max_tokens", async () => {
    expect((await whole("[[say:one two three four five]]", { max_tokens: 1 })).text).toBe(
      "one two three four five",
    );
  });

  it("passes every part of a conversation to the model", async () => {
    const response = await test.post("/vendorb/v1/messages?beta=true", {
      model: "claude-opus-4-5",
      system: [{ type: "text", text: "SYSTEM-WORD", cache_control: { type: "ephemeral" } }],
      tools: [WEATHER],
      messages: [
        { role: "user", content: "QUESTION-WORD" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "THOUGHT-WORD", signature: "abc" },
            { type: "text", text: "ANSWER-WORD" },
            { type: "tool_use", id: "t1", name: "get_weather", input: { city: "CALL-WORD" } },
            { type: "tool_use", id: "t2", name: "get_weather", input: { city: "Oslo" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "RESULT-WORD" }] },
            { type: "tool_result", tool_use_id: "t2", content: "FAULT-WORD", is_error: true },
            { type: "text", text: "AFTER-WORD" },
          ],
        },
        { role: "system", content: "LATER-WORD" },
      ],
    });
    expect(response.status).toBe(200);
    const { prompt, model } = await test.gateway.sandbox.lastTurn();
    expect(model).toBe("pro");
    for (const word of ["SYSTEM", "QUESTION", "ANSWER", "CALL", "RESULT", "FAULT", "AFTER", "LATER"]) {
      expect(prompt).toContain(`${word}-WORD`);
    }
    expect(prompt.indexOf("RESULT-WORD")).toBeLessThan(prompt.indexOf("FAULT-WORD"));
  });

  it("states the version of either header, and 2023-06-01 without one", async () => {
    const version = async (headers: Record<string, string>) =>
      (await send("x", {}, headers)).headers.get("vendorb-version");
    expect(await version({})).toBe("2023-06-01");
    expect(await version({ "vendorb-version": "2025-01-01" })).toBe("2025-01-01");
    expect(await version({ "anthropic-version": "2026-10-21", "anthropic-beta": "a,b" })).toBe("2026-10-21");
  });

  it("accepts the key in x-api-key", async () => {
    const response = await test.fetch("/messages", {
      method: "POST",
      headers: { "x-api-key": DEV_KEY, "content-type": "application/json" },
      body: JSON.stringify(body("x")),
    });
    expect(response.status).toBe(200);
  });
});

describe("errors of the message style", () => {
  it("have type error at the top and the contract's body", async () => {
    const response = await send("x", { model: "claude-2.1" });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      type: "error",
      error: {
        type: "invalid_request_error",
        code: "model_not_found",
        message: expect.any(String),
        param: "model",
      },
      request_id: response.headers.get("request-id"),
    });
  });

  it("answers 401 authentication_error without a key", async () => {
    const response = await test.fetch("/v1/messages", { method: "POST", body: JSON.stringify(body("x")) });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
  });

  it("refuses a thread with the error after which the SDK continues without it", async () => {
    const response = await send("x", { thread: { type: "create" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: "error",
      error: { details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } },
    });
  });

  it("answers 422 if a required call is missing", async () => {
    const response = await send("[[say:no]]", { tools: [WEATHER], tool_choice: { type: "any" } });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ error: { code: "tool_choice_violation" } });
  });

  it.each(["[[cut:4]]", "[[reset:4]]", "[[garbage:4]]", "[[error:server_error:4]]"])(
    "sends an error event for %s in mid-stream",
    async (directive) => {
      const { completion } = await streamed(`${directive}[[say:one two three four five six]]`, {
        thinking: { type: "adaptive" },
      });
      expect(completion.error).toEqual(expect.any(String));
    },
  );

  it("are HTTP errors if the provider fails at once, also when streaming", async () => {
    const response = await send("[[status:503:model_unavailable]]", { stream: true });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  });
});

describe("POST /vendorb/v1/messages/count_tokens", () => {
  const count = async (extra: Record<string, unknown>, path = "/vendorb/v1/messages") => {
    const response = await test.post(`${path}/count_tokens`, body("hello", extra));
    expect(response.status).toBe(200);
    return z.strictObject({ input_tokens: z.int().positive() }).parse(await response.json()).input_tokens;
  };

  it.each(PATHS)("counts tokens at %s/count_tokens", async (path) => {
    expect(await count({}, path)).toBe(await count({}));
  });

  it("counts system and tools", async () => {
    const plain = await count({});
    expect(await count({ system: "word ".repeat(100) })).toBeGreaterThan(plain + 50);
    expect(await count({ tools: [WEATHER] })).toBeGreaterThan(plain + 20);
  });

  it("equals the count at the beginning of the stream of the same message", async () => {
    const { events } = await streamed("hello", { tools: [WEATHER], system: "be brief" });
    expect(events[0]).toMatchObject({
      message: { usage: { input_tokens: await count({ tools: [WEATHER], system: "be brief" }) } },
    });
  });

  it("counts a message with an image by its words on a model that cannot see", async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const content = [image, { type: "text", text: "what is this?" }];
    expect(await count({ messages: [{ role: "user", content }] })).toBeGreaterThan(1);
  });

  it("needs a key", async () => {
    const response = await test.fetch("/messages/count_tokens", {
      method: "POST",
      body: JSON.stringify(body("x")),
    });
    expect(response.status).toBe(401);
  });
});

describe("GET /vendorb/v1/models", () => {
  const listSchema = z.strictObject({
    object: z.literal("list"),
    data: z.array(
      z.looseObject({ id: z.string(), object: z.string(), created: z.int(), owned_by: z.string() }),
    ),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.literal(false),
  });

  it.each(["/vendorb/v1/models", "/anthropic/v1/models"])("lists ids without a key at %s", async (path) => {
    const list = listSchema.parse(await (await test.fetch(path)).json());
    const ids = list.data.map(({ id }) => id);
    expect([list.first_id, list.last_id]).toEqual([ids[0], ids.at(-1)]);
    expect(ids).toEqual(
      expect.arrayContaining(["modelb-sonnet-4-5", "modelb-sonnet-4-5-nothinking", "claude-opus-4-5"]),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("lists ids that can all be requested", async () => {
    const list = listSchema.parse(await (await test.fetch("/vendorb/v1/models")).json());
    for (const { id } of list.data) {
      expect((await test.fetch(`/vendorb/v1/models/${id}`)).status).toBe(200);
    }
    expect((await test.fetch("/vendorb/v1/models/claude-2.1")).status).toBe(404);
  });
});
