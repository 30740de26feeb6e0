import { describe, expect, it } from "vitest";
import type { Message, Part, ToolCall } from "../../../../../src/core/conversation/conversation.ts";
import { conversation, neverAborted, prepareOptions, readTurn } from "../support.ts";
import { answering, provider, request, text, user, WEATHER } from "./fake.ts";

const said = (value: string) => ({ type: "text", text: value });
const assistant = (value: string, ...toolCalls: ToolCall[]): Message => ({
  role: "assistant",
  parts: value === "" ? [] : [text(value)],
  toolCalls,
});
const call = (id: string, name = "get_weather", input = "{}"): ToolCall => ({ id, name, arguments: input });
const result = (callId: string, ...parts: (string | Part)[]): Message => ({
  role: "tool",
  callId,
  parts: parts.map((part) => (typeof part === "string" ? text(part) : part)),
});

describe("a request for a message", () => {
  it("is streamed, with a key and a version, to the address below the base", async () => {
    const fake = answering();
    const sampling = { temperature: 0, topP: 1, stop: ["x", "\n\n"], maxTokens: 9, seed: 4 };
    const prepared = provider().prepare(conversation({ sampling }), prepareOptions());
    const turn = await prepared.open(fake.account, neverAborted(), null);
    expect(turn.sessionId).toBe("made1");
    const { url, headers } = fake.only("/messages");
    expect(url).toBe("http://engine.example/v1/messages");
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-api-key": "token-of-the-account",
      "anthropic-version": "2023-06-01",
    });
    expect(headers.has("authorization")).toBe(false);
    expect(fake.only("/messages").json()).toEqual({
      model: "provider-v4-flash",
      max_tokens: 9,
      messages: [{ role: "user", content: [said("Hello")] }],
      stream: true,
      thinking: { type: "disabled" },
      temperature: 0,
      stop_sequences: ["x"],
    });
    expect((await readTurn(turn)).events).toContainEqual({ type: "text", text: "Grüße" });
  });

  it.each(["http://engine.example", "http://engine.example/v1", "http://engine.example/v1/"])(
    "accepts the base %s",
    async (baseUrl) => {
      const fake = answering();
      const prepared = provider({ baseUrl }).prepare(conversation(), prepareOptions());
      await prepared.open(fake.account, neverAborted(), null);
      expect(fake.seen[0]?.url).toBe("http://engine.example/v1/messages");
    },
  );

  it("names the model as the backend does", async () => {
    expect(await request({ model: "provider-v4-pro" })).toMatchObject({ model: "big-model" });
    expect(await request({ model: "gpt-4o" })).toMatchObject({ model: "provider-v4-flash" });
  });

  it("states the limit that the caller gives or expects, else the contract's", async () => {
    expect(await request({})).toMatchObject({ max_tokens: 8192 });
    expect(await request({ expectedTokens: 32_000 })).toMatchObject({ max_tokens: 32_000 });
    expect(await request({ sampling: { maxTokens: 5.5 }, expectedTokens: 32_000 })).toMatchObject({
      max_tokens: 5,
    });
    expect(await request({ sampling: { maxTokens: 0 } })).toMatchObject({ max_tokens: 1 });
  });

  it("takes a temperature of up to 1, and top_p without it alone", async () => {
    expect(await request({ sampling: { temperature: 1.7 } })).toMatchObject({ temperature: 1 });
    expect(await request({ sampling: { temperature: 0.5, topP: 0.5 } })).not.toHaveProperty("top_p");
    expect(await request({ sampling: { topP: 0.5 } })).toMatchObject({ top_p: 0.5 });
  });

  it("asks for the response format in words", async () => {
    const schema = { type: "object" };
    const body = await request({ responseFormat: { type: "json-schema", name: "Answer", schema } });
    expect(body["system"]).toContain("JSON schema");
    expect(await request({})).not.toHaveProperty("system");
  });

  it("estimates from everything that the model reads", () => {
    const messages: Message[] = [
      { role: "system", parts: [text("SYSTEM")] },
      assistant("SAID", call("a", "NAME", '{"ARG":1}')),
      result("a", "RESULT"),
      user("ASKED"),
    ];
    const { promptText } = provider().prepare(conversation({ messages, tools: [WEATHER] }), prepareOptions());
    for (const piece of ["SYSTEM", "SAID", "NAME", "ARG", "RESULT", "ASKED", "Looks outside."]) {
      expect(promptText).toContain(piece);
    }
  });
});

describe("messages", () => {
  const sent = async (...messages: Message[]) => (await request({ messages }))["messages"];

  it("keep their order and what they say, and alternate", async () => {
    const body = await request({
      messages: [
        { role: "system", parts: [text("One."), text("Two.")] },
        { role: "system", parts: [text("Three.")] },
        { ...user("Hi"), role: "user", name: "alice" },
        user("You there?", ""),
        { role: "assistant", parts: [text("Hm")], reasoning: "unsigned", toolCalls: [] },
        assistant("Well"),
        { role: "system", parts: [text("Late.")] },
        user("Go on"),
      ],
    });
    expect(body["system"]).toBe("One.\n\nTwo.\n\nThree.");
    expect(body["messages"]).toEqual([
      { role: "user", content: [said("[alice]"), said("Hi"), said("You there?")] },
      { role: "assistant", content: [said("Hm"), said("Well")] },
      { role: "user", content: [said("<system>\nLate.\n</system>"), said("Go on")] },
    ]);
  });

  it("begin with the user, whatever the caller has", async () => {
    const begin = { role: "user", content: [said("Begin.")] };
    expect(await sent({ role: "system", parts: [text("Sing.")] })).toEqual([begin]);
    expect(await sent(user("  "))).toEqual([begin]);
    expect(await sent(assistant("Hello!"), user("Hi"))).toEqual([
      begin,
      { role: "assistant", content: [said("Hello!")] },
      { role: "user", content: [said("Hi")] },
    ]);
  });

  it("may end with an answer that was begun, but not in white space", async () => {
    expect(await sent(user("Count"), assistant("One, \n"))).toEqual([
      { role: "user", content: [said("Count")] },
      { role: "assistant", content: [said("One,")] },
    ]);
  });

  it("carry calls and results as blocks, the results first", async () => {
    expect(
      await sent(
        user("Weather?"),
        assistant("Let me see", call("a", "get_weather", '{"city":"Oslo"}'), call("b"), call("c")),
        result("b", "cold", "wet"),
        { role: "system", parts: [text("Be brief.")] },
        { role: "tool", callId: "a", parts: [text("broken")], isError: true },
        result("c"),
        user("So?"),
      ),
    ).toEqual([
      { role: "user", content: [said("Weather?")] },
      {
        role: "assistant",
        content: [
          said("Let me see"),
          { type: "tool_use", id: "a", name: "get_weather", input: { city: "Oslo" } },
          { type: "tool_use", id: "b", name: "get_weather", input: {} },
          { type: "tool_use", id: "c", name: "get_weather", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "b", content: [said("cold"), said("wet")] },
          { type: "tool_result", tool_use_id: "a", content: [said("broken")], is_error: true },
          { type: "tool_result", tool_use_id: "c" },
          said("<system>\nBe brief.\n</system>"),
          said("So?"),
        ],
      },
    ]);
  });

  it("give each call an id of its own, of the characters that the protocol knows", async () => {
    const round = [assistant("", call("functions.f:0")), result("functions.f:0", "1")];
    expect(await sent(user("x"), ...round, ...round)).toMatchObject([
      {},
      { content: [{ type: "tool_use", id: "functions_f_0" }] },
      { content: [{ type: "tool_result", tool_use_id: "functions_f_0" }] },
      { content: [{ type: "tool_use", id: "functions_f_0_1" }] },
      { content: [{ type: "tool_result", tool_use_id: "functions_f_0_1" }] },
    ]);
  });

  it("give each call one result, in its place", async () => {
    const none = { type: "tool_result", content: [said("There is no result.")], is_error: true };
    expect(
      await sent(
        user("x"),
        assistant("", call("a"), call("b")),
        result("a", "1"),
        result("a", "again"),
        assistant("", call("c")),
        user("Stop"),
        assistant("", call("d")),
      ),
    ).toMatchObject([
      {},
      { role: "assistant" },
      {
        content: [
          { type: "tool_result", tool_use_id: "a" },
          { ...none, tool_use_id: "b" },
          { type: "text", text: expect.stringContaining("again") },
        ],
      },
      { role: "assistant" },
      { content: [{ ...none, tool_use_id: "c" }, said("Stop")] },
      { role: "assistant" },
      { role: "user", content: [{ ...none, tool_use_id: "d" }] },
    ]);
  });

  it("tell arguments that are no object as an empty one", async () => {
    const [, message] = Object(await sent(user("x"), assistant("", call("a", "f", '{"cut'))));
    expect(message).toMatchObject({ content: [{ type: "tool_use", input: {} }] });
  });

  it("end with the suffix of a follow-up turn, in the same session", async () => {
    expect((await request({}, {}, {}, "\n\nSay it."))["messages"]).toEqual([
      { role: "user", content: [said("Hello"), said("Say it.")] },
    ]);
    const followUp = { sessionId: "s1", parentMessageId: "m1", suffix: "x" };
    const prepared = provider().prepare(conversation(), prepareOptions());
    expect((await prepared.open(answering().account, neverAborted(), followUp)).sessionId).toBe("s1");
  });

  it("carry the thinking injection with the last words of the user, unless calls are native", async () => {
    const messages = [user("First"), assistant("x"), user("Second"), assistant("y", call("a")), result("a")];
    const options = { thinkingInjection: "Think hard." };
    const native = await request({ messages, thinking: true }, options);
    expect(JSON.stringify(native)).not.toContain("Think hard.");
    const body = await request({ messages, thinking: true }, options, { toolCalls: "markup" });
    expect(body["messages"]).toMatchObject([
      { content: [said("First")] },
      {},
      { content: [said("Second"), said("Think hard.")] },
      {},
      {},
    ]);
  });

  it("may have very many parts", async () => {
    const parts = Array.from({ length: 200_000 }, () => text("x"));
    const system: Message = { role: "system", parts: [text("x")] };
    const messages: Message[] = [...parts.map(() => system), { role: "user", parts }];
    const [message] = Object((await request({ messages }))["messages"]);
    expect(message.content.length).toBe(200_000);
  });
});

describe("thinking", () => {
  it.each([
    [undefined, 8192, 16_384],
    ["minimal", 1024, 9216],
    ["low", 2048, 10_240],
    ["medium", 8192, 16_384],
    ["high", 16_384, 24_576],
    ["max", 16_384, 24_576],
  ])("has for the effort %s a budget of %i, beside the answer", async (reasoningEffort, budget, limit) => {
    const sampling = reasoningEffort === undefined ? {} : { reasoningEffort };
    expect(await request({ thinking: true, sampling })).toMatchObject({
      max_tokens: limit,
      thinking: { type: "enabled", budget_tokens: budget },
    });
  });

  it("leaves at least half of the caller's limit to the answer, or is off", async () => {
    const under = (maxTokens: number) => request({ thinking: true, sampling: { maxTokens } });
    expect(await under(40_000)).toMatchObject({ max_tokens: 40_000, thinking: { budget_tokens: 8192 } });
    expect(await under(3000)).toMatchObject({ max_tokens: 3000, thinking: { budget_tokens: 1500 } });
    expect(await under(2047)).toMatchObject({ max_tokens: 2047, thinking: { type: "disabled" } });
    expect(await request({ thinking: true, expectedTokens: 4096 })).toMatchObject({
      max_tokens: 4096,
      thinking: { budget_tokens: 2048 },
    });
  });

  it("is off for a model that does not think, and for an answer that was begun", async () => {
    const off = { thinking: { type: "disabled" }, max_tokens: 8192 };
    expect(await request({ model: "provider-v4-pro-nothinking", thinking: true })).toMatchObject(off);
    expect(await request({ messages: [user("a"), assistant("b")], thinking: true })).toMatchObject(off);
  });

  it("takes no temperature, and top_p only near 1", async () => {
    const with_ = (topP: number) =>
      request({ thinking: true, sampling: { temperature: 0.3, topP, stop: ["x"] } });
    expect(await with_(0.5)).not.toHaveProperty("temperature");
    expect(await with_(0.5)).not.toHaveProperty("top_p");
    expect(await with_(0.97)).toMatchObject({ top_p: 0.97, stop_sequences: ["x"] });
  });

  it("cannot be forced to call a tool, and is asked to", async () => {
    const forced = { tools: [WEATHER], toolChoice: { type: "function", name: "get_weather" } } as const;
    const body = await request({ ...forced, thinking: true });
    expect(body["tool_choice"]).toEqual({ type: "auto" });
    expect(body["system"]).toContain('You must call the tool "get_weather"');
    expect(await request(forced)).not.toHaveProperty("system");
  });
});

describe("tools", () => {
  it("are passed through", async () => {
    const strict = { ...WEATHER, name: "strict", strict: true };
    const body = await request({ tools: [WEATHER, strict, { name: "bare" }], parallelToolCalls: false });
    const { parameters, ...weather } = WEATHER;
    expect(body["tools"]).toEqual([
      { ...weather, input_schema: parameters },
      { ...weather, name: "strict", strict: true, input_schema: parameters },
      { name: "bare", input_schema: { type: "object" } },
    ]);
    expect(body["tool_choice"]).toEqual({ type: "auto", disable_parallel_tool_use: true });
    const bare = await request({});
    for (const field of ["tools", "tool_choice"]) expect(bare).not.toHaveProperty(field);
  });

  it.each([
    [{ type: "auto" } as const, { type: "auto" }],
    [{ type: "none" } as const, { type: "none" }],
    [{ type: "required" } as const, { type: "any" }],
    [{ type: "function", name: "get_weather" } as const, { type: "tool", name: "get_weather" }],
  ])("are chosen as the caller says: %j", async (toolChoice, expected) => {
    expect((await request({ tools: [WEATHER], toolChoice }))["tool_choice"]).toEqual(expected);
  });

  it("of the history are declared although they are no longer offered", async () => {
    const body = await request({ messages: [user("x"), assistant("", call("a"), call("b")), result("a")] });
    expect(body).toMatchObject({
      tools: [{ name: "get_weather", input_schema: { type: "object" } }],
      tool_choice: { type: "none" },
    });
  });

  it("are written into the prompt for a backend that knows none", async () => {
    const messages: Message[] = [
      { role: "system", parts: [text("Be brief.")] },
      user("Weather?"),
      assistant("Let me see", call("a", "get_weather", '{"city":"Oslo"}')),
      { role: "tool", callId: "a", name: "get_weather", parts: [text("cold")] },
    ];
    const body = await request({ messages, tools: [WEATHER], thinking: true }, {}, { toolCalls: "markup" });
    for (const field of ["tools", "tool_choice"]) expect(body).not.toHaveProperty(field);
    expect(body["thinking"]).toMatchObject({ type: "enabled" });
    expect(body["system"]).toMatch(/^Be brief\.[\s\S]*get_weather/);
    expect(body["messages"]).toMatchObject([
      { role: "user" },
      { content: [{ text: expect.stringMatching(/^Let me see\n\n[\s\S]*get_weather[\s\S]*Oslo/) }] },
      { content: [{ text: expect.stringMatching(/tool_result id="a" name="get_weather"[\s\S]*cold/) }] },
    ]);
  });
});

describe("attachments", () => {
  const vision = "provider-v4-vision";
  const file = (mediaType: string, data: string, filename: string): Part => ({
    type: "file",
    source: { kind: "inline", data: btoa(data), mediaType },
    filename,
  });
  const png: Part = {
    type: "image",
    source: { kind: "inline", data: "iVBORw0KGgo=", mediaType: "image/png" },
  };
  const remote = (name: string): Part => ({
    type: "image",
    source: { kind: "url", url: `https://files.example/${name}` },
  });
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };

  it("travel within the request", async () => {
    const named: Record<string, { bytes: Uint8Array; mediaType: string }> = {
      "a.jpg": { bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), mediaType: "application/octet-stream" },
      "n.txt": { bytes: new TextEncoder().encode("größe"), mediaType: "text/plain" },
    };
    let fetches = 0;
    const notes: Part = { type: "file", source: { kind: "url", url: "https://files.example/n.txt" } };
    const body = await request(
      {
        model: vision,
        messages: [
          user(
            "See",
            png,
            remote("a.jpg"),
            remote("a.jpg"),
            notes,
            file("application/pdf", "%PDF-1.7", "a.pdf"),
            file("text/plain", "note", "n.txt"),
          ),
        ],
      },
      {
        fetchAttachment: async (url) => {
          fetches += 1;
          const found = named[new URL(url).pathname.slice(1)];
          return found ?? Promise.reject(new Error(url));
        },
      },
    );
    const jpeg = { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "/9j/4A==" } };
    expect(body["messages"]).toEqual([
      {
        role: "user",
        content: [
          said("See"),
          image,
          jpeg,
          jpeg,
          said("[File n.txt]\ngröße\n[End of file n.txt]"),
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: btoa("%PDF-1.7") },
            title: "a.pdf",
          },
          said("[File n.txt]\nnote\n[End of file n.txt]"),
        ],
      },
    ]);
    expect(fetches).toBe(2);
  });

  it("are called what they are, for the protocol looks", async () => {
    const wrong: Part = {
      type: "image",
      source: { kind: "inline", data: "iVBORw0KGgo=", mediaType: "image/jpeg" },
    };
    const [message] = Object((await request({ model: vision, messages: [user(wrong)] }))["messages"]);
    expect(message.content).toEqual([image]);
  });

  it("that a tool returned stand in its result", async () => {
    const messages: Message[] = [user("Look"), assistant("", call("a")), result("a", "shot", png)];
    expect((await request({ model: vision, messages }))["messages"]).toMatchObject([
      {},
      {},
      { content: [{ type: "tool_result", tool_use_id: "a", content: [said("shot"), image] }] },
    ]);
  });

  it("are sent whatever the catalogue says of the model: the backend knows its own", async () => {
    expect(await request({ messages: [user(png)] })).toMatchObject({
      model: "provider-v4-flash",
      messages: [{ content: [image] }],
    });
  });

  it("are refused where they cannot be sent", async () => {
    const prepare = (model: string, part: Part) =>
      provider().prepare(conversation({ model, messages: [user(part)] }), prepareOptions());
    const refused = expect.objectContaining({ status: 400, param: "messages" });
    const archive = prepare(vision, file("application/zip", "PK", "a.zip"));
    await expect(archive.load?.(neverAborted())).rejects.toEqual(refused);
  });

  it("name a file that the backend stores by its id there, with the beta that has files", async () => {
    const storedAs = (mediaType: string): Part => ({
      type: "file",
      source: { kind: "file", fileId: "file-here", stored: { id: "file_there", filename: "a", mediaType } },
    });
    const asked = async (...messages: Message[]) => {
      const fake = answering();
      await provider()
        .prepare(conversation({ messages }), prepareOptions())
        .open(fake.account, neverAborted(), null);
      return fake.only("/messages");
    };
    const source = { type: "file", file_id: "file_there" };
    const named = await asked(user(storedAs("image/png")));
    expect(named.json()["messages"]).toEqual([{ role: "user", content: [{ type: "image", source }] }]);
    expect(named.headers.get("anthropic-beta")).toBe("files-api-2025-04-14");
    const call = { id: "c1", name: "get", arguments: "{}" };
    const result = await asked(
      user("Look"),
      { role: "assistant", parts: [], toolCalls: [call] },
      { role: "tool", callId: "c1", parts: [storedAs("application/pdf")] },
    );
    expect(JSON.stringify(result.json()["messages"])).toContain(
      JSON.stringify({ type: "document", source, title: "a" }),
    );
    expect(result.headers.get("anthropic-beta")).toBe("files-api-2025-04-14");
    expect((await asked(user("Hello"))).headers.get("anthropic-beta")).toBeNull();
  });
});
