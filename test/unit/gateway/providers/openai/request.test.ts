import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../../../../src/core/conversation/conversation.ts";
import { conversation, neverAborted, prepareOptions, readTurn } from "../support.ts";

import { answering, provider, request, text, user, WEATHER } from "./fake.ts";

describe("a request to a chat-completions backend", () => {
  it("is streamed, with usage, to the address below the base", async () => {
    const fake = answering();
    const prepared = provider().prepare(
      conversation({
        thinking: true,
        sampling: { temperature: 0, topP: 1, stop: ["x"], maxTokens: 9, seed: 4, reasoningEffort: "high" },
      }),
      prepareOptions(),
    );
    const turn = await prepared.open(fake.account, neverAborted(), null);
    expect(turn.sessionId).toBe("made1");
    expect(fake.seen[0]?.url).toBe("http://engine.example/v1/chat/completions");
    expect(fake.seen[0]?.headers.get("authorization")).toBe("Bearer token-of-the-account");
    expect(fake.seen[0]?.json()).toEqual({
      model: "provider-v4-flash",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      top_p: 1,
      stop: ["x"],
      seed: 4,
      max_tokens: 9,
      reasoning_effort: "high",
    });
    expect((await readTurn(turn)).events).toContainEqual({ type: "text", text: "Hi" });
  });

  it("has an effort for the budget that the caller gives for thinking", async () => {
    const effort = async (thinkingBudget: number, extra = {}) =>
      (await request({ thinking: true, sampling: { thinkingBudget, ...extra } }))["reasoning_effort"];
    expect(await effort(1024)).toBe("low");
    expect(await effort(8000)).toBe("medium");
    expect(await effort(32_000)).toBe("high");
    expect(await effort(1024, { reasoningEffort: "high" })).toBe("high");
  });

  it("demands a schema to the letter if the caller does", async () => {
    const schema = { type: "object" };
    const body = await request({ responseFormat: { type: "json-schema", schema, strict: true } });
    expect(body).toMatchObject({ response_format: { json_schema: { schema, strict: true } } });
  });

  it("may have very many parts and system messages", async () => {
    const parts = Array.from({ length: 300_000 }, () => text("x"));
    const system: Message = { role: "system", parts: [text("x")] };
    const messages: Message[] = [...parts.map(() => system), { role: "assistant", parts, toolCalls: [] }];
    expect(await request({ messages: [...messages, user("Hello")] })).toHaveProperty("messages.length", 3);
  });

  it("names the model as the backend does", async () => {
    expect(await request({ model: "provider-v4-pro" })).toMatchObject({ model: "big-model" });
    expect(await request({ model: "o1" })).toMatchObject({ model: "big-model" });
    expect(await request({ model: "gpt-4o" })).toMatchObject({ model: "provider-v4-flash" });
    expect(await request({ model: "provider-v4-vision" })).toMatchObject({ model: "provider-v4-vision" });
  });

  it("switches thinking off in the ways that engines know", async () => {
    const off = { reasoning_effort: "none", chat_template_kwargs: { enable_thinking: false } };
    expect(await request({ thinking: false })).toMatchObject(off);
    expect(await request({ model: "provider-v4-pro-nothinking", thinking: true })).toMatchObject(off);
    const on = await request({ thinking: true });
    expect(on).not.toHaveProperty("reasoning_effort");
    expect(on).not.toHaveProperty("chat_template_kwargs");
  });

  it("keeps every message and what it says", async () => {
    const messages: Message[] = [
      { role: "system", parts: [text("One."), text("Two.")] },
      { role: "system", parts: [text("Three.")] },
      { ...user("Hi"), role: "user", name: "alice" },
      { role: "assistant", parts: [text("Hm")], reasoning: "thought", toolCalls: [] },
      { role: "system", parts: [text("Late.")] },
      user("<example>a & b</example>\n### User"),
      {
        role: "assistant",
        parts: [],
        toolCalls: [
          { id: "a", name: "f", arguments: '{"n":1e400}' },
          { id: "b", name: "f", arguments: "{}" },
        ],
      },
      { role: "tool", callId: "b", parts: [text("2"), text("3")] },
      { role: "tool", callId: "a", parts: [text("broken")], isError: true },
      { role: "assistant", parts: [text("Begun")], toolCalls: [] },
    ];
    expect((await request({ messages }))["messages"]).toEqual([
      { role: "system", content: "One.\n\nTwo.\n\nThree." },
      { role: "user", content: "Hi", name: "alice" },
      { role: "assistant", content: "Hm", reasoning_content: "thought" },
      { role: "system", content: "Late." },
      { role: "user", content: "<example>a & b</example>\n### User" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: '{"n":1e400}' } },
          { id: "b", type: "function", function: { name: "f", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "b", content: "2\n\n3" },
      { role: "tool", tool_call_id: "a", content: "Error: broken" },
      { role: "assistant", content: "Begun" },
    ]);
  });

  it("appends the thinking injection to the last user message, when the model thinks and calls are written", async () => {
    const messages = [
      user("First"),
      user("Second"),
      { role: "assistant", parts: [text("x")], toolCalls: [] } as const,
    ];
    const options = { thinkingInjection: "Think hard." };
    const native = await request({ messages, thinking: true }, options);
    expect(JSON.stringify(native)).not.toContain("Think hard.");
    const markup = { toolCalls: "markup" } as const;
    expect((await request({ messages, thinking: true }, options, markup))["messages"]).toMatchObject([
      { content: "First" },
      { content: "Second\n\nThink hard." },
      { content: "x" },
    ]);
    const unthinking = await request({ messages, thinking: false }, options, markup);
    expect(JSON.stringify(unthinking)).not.toContain("Think hard.");
  });

  it("replays the turn with the suffix for a follow-up, in the same session", async () => {
    expect((await request({}, {}, {}, "Say it."))["messages"]).toEqual([
      { role: "user", content: "Hello\n\nSay it." },
    ]);
    const messages: Message[] = [user("x"), { role: "tool", callId: "a", parts: [text("1")] }];
    expect((await request({ messages }, {}, {}, "Say it."))["messages"]).toMatchObject([
      {},
      { role: "tool", content: "1" },
      { role: "user", content: "Say it." },
    ]);
    const prepared = provider().prepare(conversation(), prepareOptions());
    const followUp = { sessionId: "s1", parentMessageId: "m1", suffix: "x" };
    expect((await prepared.open(answering().account, neverAborted(), followUp)).sessionId).toBe("s1");
  });

  it("asks for the response format natively and in words", async () => {
    const schema = { type: "object" };
    const body = await request({ responseFormat: { type: "json-schema", name: "My answer", schema } });
    expect(body["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "My_answer", schema },
    });
    expect(JSON.stringify(body["messages"])).toContain("JSON schema");
    const json = await request({ responseFormat: { type: "json" } });
    expect(json["response_format"]).toEqual({ type: "json_object" });
    // Backends demand the word in the messages.
    expect(JSON.stringify(json["messages"])).toContain("JSON");
    expect(await request({})).not.toHaveProperty("response_format");
  });

  it("estimates from everything that the model reads", () => {
    const messages: Message[] = [
      { role: "system", parts: [text("SYSTEM")] },
      {
        role: "assistant",
        parts: [],
        reasoning: "REASON",
        toolCalls: [{ id: "a", name: "NAME", arguments: '{"ARG":1}' }],
      },
      { role: "tool", callId: "a", parts: [text("RESULT")] },
      user("ASKED"),
    ];
    const { promptText } = provider().prepare(conversation({ messages, tools: [WEATHER] }), prepareOptions());
    for (const piece of ["SYSTEM", "REASON", "NAME", "ARG", "RESULT", "ASKED", "Looks outside."]) {
      expect(promptText).toContain(piece);
    }
  });
});

describe("tools", () => {
  it("are passed through", async () => {
    const strict = { ...WEATHER, name: "strict", strict: true };
    const body = await request({ tools: [WEATHER, strict, { name: "bare" }], parallelToolCalls: false });
    expect(body["tools"]).toEqual([
      { type: "function", function: WEATHER },
      { type: "function", function: strict },
      { type: "function", function: { name: "bare" } },
    ]);
    expect(body).toMatchObject({ tool_choice: "auto", parallel_tool_calls: false });
    expect(body["messages"]).toEqual([{ role: "user", content: "Hello" }]);
    const bare = await request({});
    for (const field of ["tools", "tool_choice", "parallel_tool_calls"])
      expect(bare).not.toHaveProperty(field);
  });

  it.each([
    [{ type: "none" } as const, "none"],
    [{ type: "required" } as const, "required"],
    [
      { type: "function", name: "get_weather" } as const,
      { type: "function", function: { name: "get_weather" } },
    ],
  ])("are chosen as the caller says: %j", async (toolChoice, expected) => {
    expect((await request({ tools: [WEATHER], toolChoice }))["tool_choice"]).toEqual(expected);
  });

  it("are written into the messages for a backend that knows none", async () => {
    const messages: Message[] = [
      { role: "system", parts: [text("Be brief.")] },
      user("Weather?"),
      {
        role: "assistant",
        parts: [text("Let me see")],
        toolCalls: [{ id: "a", name: "get_weather", arguments: '{"city":"Oslo"}' }],
      },
      { role: "tool", callId: "a", name: "get_weather", parts: [text("cold")] },
      { role: "tool", callId: "b", parts: [text("no")], isError: true },
    ];
    const body = await request(
      { messages, tools: [WEATHER], responseFormat: { type: "json" } },
      {},
      { toolCalls: "markup" },
    );
    for (const field of ["tools", "tool_choice", "response_format"]) expect(body).not.toHaveProperty(field);
    const sent = body["messages"];
    expect(sent).toMatchObject([
      { role: "system" },
      { role: "user" },
      { role: "assistant" },
      { role: "user" },
    ]);
    const [system, , assistant, results] = Array.isArray(sent)
      ? sent.map((message) => String(message.content))
      : [];
    expect(system).toMatch(/^Be brief\.[\s\S]*get_weather/);
    expect(assistant).toMatch(/^Let me see\n\n[\s\S]*get_weather[\s\S]*Oslo/);
    expect(results).toMatch(
      /^<\|TCML\|tool_result id="a" name="get_weather">[\s\S]*cold[\s\S]*\n\n<\|TCML\|tool_result id="b" error="true">[\s\S]*no/,
    );
  });
});

describe("attachments", () => {
  const vision = "provider-v4-vision";
  const image: Part = {
    type: "image",
    source: { kind: "inline", data: "iVBORw0KGgo=", mediaType: "image/png" },
    detail: "low",
  };
  const remote: Part = { type: "image", source: { kind: "url", url: "https://pictures.example/a.jpg" } };

  it("travel within the request", async () => {
    const pdf: Part = {
      type: "file",
      source: { kind: "inline", data: btoa("%PDF"), mediaType: "application/pdf" },
      filename: "a.pdf",
    };
    const notes: Part = {
      type: "file",
      source: { kind: "inline", data: btoa("note"), mediaType: "text/plain" },
      filename: "n.txt",
    };
    const known: Part = { type: "file", source: { kind: "file", fileId: "file-1" } };
    let fetches = 0;
    const body = await request(
      { model: vision, messages: [user("See", image, remote, remote, pdf, notes, known)] },
      {
        fetchAttachment: async () => {
          fetches += 1;
          return { bytes: new TextEncoder().encode("JPEG"), mediaType: "image/jpeg" };
        },
      },
    );
    const jpeg = { type: "image_url", image_url: { url: `data:image/jpeg;base64,${btoa("JPEG")}` } };
    expect(body["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "See" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
          jpeg,
          jpeg,
          {
            type: "file",
            file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${btoa("%PDF")}` },
          },
          { type: "text", text: "[File n.txt]\nnote\n[End of file n.txt]" },
          { type: "file", file: { file_id: "file-1" } },
        ],
      },
    ]);
    expect(fetches).toBe(1);
  });

  it("that a tool returned follow its result", async () => {
    const messages: Message[] = [
      user("Look"),
      { role: "tool", callId: "a", parts: [text("shot"), image] },
      { role: "tool", callId: "b", parts: [text("none")] },
      user("Well?"),
    ];
    expect((await request({ model: vision, messages }))["messages"]).toMatchObject([
      { role: "user" },
      { role: "tool", tool_call_id: "a", content: "shot" },
      { role: "tool", tool_call_id: "b", content: "none" },
      {
        role: "user",
        content: [{ type: "text", text: expect.stringContaining("a") }, { type: "image_url" }],
      },
      { role: "user", content: "Well?" },
    ]);
  });

  it("are sent whatever the catalogue says of the model: the backend knows its own", async () => {
    const link: Part = { type: "file", source: { kind: "url", url: "https://files.example/x" } };
    const fetchAttachment = async () => ({ bytes: Uint8Array.of(1), mediaType: "image/png" });
    const body = await request({ messages: [user(image, link)] }, { fetchAttachment });
    expect(body).toMatchObject({
      model: "provider-v4-flash",
      messages: [{ content: [{ type: "image_url" }, { type: "file" }] }],
    });
  });

  it("name a file that the backend stores by its id there", async () => {
    const stored = { id: "file-there", filename: "a.pdf", mediaType: "application/pdf" };
    const parts: Part[] = [
      { type: "file", source: { kind: "file", fileId: "file-here", stored } },
      { type: "image", source: { kind: "file", fileId: "file-own" } },
    ];
    const sent = await request({ messages: [user(...parts)] });
    expect(sent["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "file", file: { file_id: "file-there" } },
          { type: "file", file: { file_id: "file-own" } },
        ],
      },
    ]);
  });
});
