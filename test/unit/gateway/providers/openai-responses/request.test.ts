import { describe, expect, it } from "vitest";
import type { Message, Part, ToolCall } from "../../../../../src/core/conversation/conversation.ts";
import { conversation, neverAborted, prepareOptions, readTurn } from "../support.ts";
import { answering, provider, request, text, user, WEATHER } from "./fake.ts";

const said = (value: string) => ({ type: "input_text", text: value });
const message = (role: string, content: unknown) => ({ type: "message", role, content });
const assistant = (value: string, ...toolCalls: ToolCall[]): Message => ({
  role: "assistant",
  parts: value === "" ? [] : [text(value)],
  toolCalls,
});
const call = (id: string, name = "get_weather", input = "{}"): ToolCall => ({ id, name, arguments: input });
const wireCall = (id: string, input = "{}") => ({
  type: "function_call",
  call_id: id,
  name: "get_weather",
  arguments: input,
});
const output = (id: string, value: unknown) => ({ type: "function_call_output", call_id: id, output: value });
const result = (callId: string, ...parts: (string | Part)[]): Message => ({
  role: "tool",
  callId,
  parts: parts.map((part) => (typeof part === "string" ? text(part) : part)),
});

describe("a request for a response", () => {
  it("is streamed, with a key, to the address below the base, and nothing is to be kept", async () => {
    const fake = answering();
    const sampling = { temperature: 0, topP: 1, maxTokens: 9, verbosity: "low", promptCacheKey: "k" };
    const prepared = provider().prepare(conversation({ sampling }), prepareOptions());
    const turn = await prepared.open(fake.account, neverAborted(), null);
    expect(turn.sessionId).toBe("made1");
    const { url, headers } = fake.only("/responses");
    expect(url).toBe("http://engine.example/v1/responses");
    expect(headers.get("authorization")).toBe("Bearer token-of-the-account");
    expect(fake.only("/responses").json()).toEqual({
      model: "provider-v4-flash",
      input: [message("user", "Hello")],
      stream: true,
      store: false,
      text: { verbosity: "low" },
      reasoning: { effort: "none" },
      temperature: 0,
      top_p: 1,
      max_output_tokens: 9,
      prompt_cache_key: "k",
    });
    expect((await readTurn(turn)).events).toContainEqual({ type: "text", text: "Grüße" });
  });

  it("names the model as the backend does", async () => {
    expect(await request({ model: "provider-v4-pro" })).toMatchObject({ model: "big-model" });
  });

  it("asks for thinking with a summary, and for the thoughts sealed", async () => {
    const body = await request({ thinking: true });
    expect(body).toMatchObject({ reasoning: { summary: "auto" }, include: ["reasoning.encrypted_content"] });
    expect(body["reasoning"]).not.toHaveProperty("effort");
    expect(await request({ thinking: true, sampling: { reasoningEffort: "high" } })).toMatchObject({
      reasoning: { effort: "high", summary: "auto" },
    });
    expect(await request({ thinking: true, sampling: { thinkingBudget: 2000 } })).toMatchObject({
      reasoning: { effort: "low" },
    });
    expect(await request({ thinking: true, model: "provider-v4-pro-nothinking" })).toMatchObject({
      reasoning: { effort: "none" },
    });
  });

  it("asks for log probabilities", async () => {
    expect(await request({ sampling: { logprobs: 0 } })).toMatchObject({
      include: ["message.output_text.logprobs"],
    });
    expect(await request({ sampling: { logprobs: 3 } })).toMatchObject({ top_logprobs: 3 });
  });

  it("asks for the response format in its field and in words, which stand among the messages", async () => {
    const schema = { type: "object" };
    const body = await request({
      responseFormat: { type: "json-schema", name: "My answer", schema, strict: true },
    });
    expect(body["text"]).toEqual({
      format: { type: "json_schema", name: "My_answer", schema, strict: true },
    });
    const json = await request({ responseFormat: { type: "json" } });
    expect(json["text"]).toEqual({ format: { type: "json_object" } });
    expect(json["input"]).toMatchObject([message("system", expect.stringContaining("JSON")), {}]);
  });

  it("asks for a search as the caller wants it", async () => {
    const webSearch = {
      contextSize: "low",
      allowedDomains: ["a.example"],
      blockedDomains: ["b.example"],
      location: { city: "Oslo", country: "NO" },
    };
    const body = await request({ webSearch });
    expect(body).toMatchObject({ include: ["web_search_call.action.sources"] });
    expect(body).not.toHaveProperty("tool_choice");
    expect(body["tools"]).toEqual([
      {
        type: "web_search",
        search_context_size: "low",
        filters: { allowed_domains: ["a.example"] },
        user_location: { type: "approximate", city: "Oslo", country: "NO" },
      },
    ]);
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

describe("items", () => {
  const sent = async (...messages: Message[]) => (await request({ messages }))["input"];

  it("keep their order and what they say", async () => {
    expect(
      await sent(
        { role: "system", parts: [text("One."), text("Two.")] },
        { role: "system", parts: [text("Three.")] },
        { ...user("Hi"), role: "user", name: "alice" },
        { role: "assistant", parts: [text("Hm")], reasoning: "unsealed", toolCalls: [] },
        { role: "system", parts: [text("Late.")] },
        user("Go on"),
      ),
    ).toEqual([
      message("system", "One.\n\nTwo.\n\nThree."),
      message("user", "[alice]\n\nHi"),
      message("assistant", "Hm"),
      message("system", "Late."),
      message("user", "Go on"),
    ]);
  });

  it("are at least one", async () => {
    expect(await sent(user(""))).toEqual([message("user", "Begin.")]);
  });

  it("carry calls and results, each with the other", async () => {
    expect(
      await sent(
        user("Weather?"),
        assistant("Let me see", call("a", "get_weather", '{"city":"Oslo"}'), call("b"), call("c")),
        result("b", "cold", "wet"),
        { role: "tool", callId: "a", parts: [text("broken")], isError: true },
        result("c"),
        result("a", "again"),
        assistant("", call("d")),
        user("So?"),
      ),
    ).toEqual([
      message("user", "Weather?"),
      message("assistant", "Let me see"),
      wireCall("a", '{"city":"Oslo"}'),
      wireCall("b"),
      wireCall("c"),
      output("b", "cold\n\nwet"),
      output("a", "Error:\n\nbroken"),
      output("c", ""),
      message("user", expect.stringContaining("again")),
      wireCall("d"),
      output("d", "There is no result."),
      message("user", "So?"),
    ]);
  });

  it("give each call an id of its own, and none that is long", async () => {
    const long = "x".repeat(80);
    const round = [assistant("", call(long)), result(long, "1")];
    const input = Object(await sent(user("x"), ...round, ...round));
    const ids: string[] = input.slice(1).map(({ call_id: id }: { call_id: string }) => id);
    expect([ids[0], ids[2]]).toEqual([ids[1], ids[3]]);
    expect(new Set(ids).size).toBe(2);
    expect(Math.max(...ids.map(({ length }) => length))).toBeLessThanOrEqual(64);
  });

  it("end with the suffix of a follow-up turn, in the same session", async () => {
    expect((await request({}, {}, {}, "\n\nSay it."))["input"]).toEqual([
      message("user", "Hello\n\nSay it."),
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
    expect(body["input"]).toMatchObject([
      message("user", "First"),
      {},
      message("user", "Second\n\nThink hard."),
      {},
      {},
    ]);
  });
});

describe("tools", () => {
  it("are passed through, strict where the caller says so alone", async () => {
    const strict = { ...WEATHER, name: "strict", strict: true };
    const body = await request({ tools: [WEATHER, strict, { name: "bare" }], parallelToolCalls: false });
    expect(body).toMatchObject({ tool_choice: "auto", parallel_tool_calls: false });
    expect(body["tools"]).toEqual([
      { type: "function", ...WEATHER, strict: false },
      { type: "function", ...WEATHER, name: "strict", strict: true },
      { type: "function", name: "bare", parameters: { type: "object", properties: {} }, strict: false },
    ]);
    const bare = await request({});
    for (const field of ["tools", "tool_choice", "parallel_tool_calls"]) {
      expect(bare).not.toHaveProperty(field);
    }
  });

  it.each([
    [{ type: "auto" } as const, "auto"],
    [{ type: "none" } as const, "none"],
    [{ type: "required" } as const, "required"],
    [{ type: "function", name: "get_weather" } as const, { type: "function", name: "get_weather" }],
  ])("are chosen as the caller says: %j", async (toolChoice, expected) => {
    expect((await request({ tools: [WEATHER], toolChoice }))["tool_choice"]).toEqual(expected);
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
    expect(body["input"]).toMatchObject([
      message("system", expect.stringMatching(/^Be brief\.[\s\S]*get_weather/)),
      {},
      message("assistant", expect.stringMatching(/^Let me see\n\n[\s\S]*get_weather[\s\S]*Oslo/)),
      message("user", expect.stringMatching(/tool_result id="a" name="get_weather"[\s\S]*cold/)),
    ]);
  });
});

describe("attachments", () => {
  const png: Part = {
    type: "image",
    source: { kind: "inline", data: "iVBORw0KGgo=", mediaType: "image/png" },
    detail: "low",
  };
  const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" };
  const file = (mediaType: string, data: string, filename: string): Part => ({
    type: "file",
    source: { kind: "inline", data: btoa(data), mediaType },
    filename,
  });

  it("travel within the request", async () => {
    let fetches = 0;
    const remote: Part = { type: "image", source: { kind: "url", url: "https://files.example/a.jpg" } };
    const body = await request(
      {
        messages: [
          user(
            "See",
            png,
            remote,
            remote,
            file("application/pdf", "%PDF-1.7", "a.pdf"),
            file("text/plain", "note", "n.txt"),
          ),
        ],
      },
      {
        fetchAttachment: async () => {
          fetches += 1;
          return { bytes: Uint8Array.of(0xff, 0xd8), mediaType: "image/jpeg" };
        },
      },
    );
    const jpeg = { type: "input_image", image_url: "data:image/jpeg;base64,/9g=", detail: "auto" };
    expect(body["input"]).toEqual([
      message("user", [
        said("See"),
        image,
        jpeg,
        jpeg,
        {
          type: "input_file",
          filename: "a.pdf",
          file_data: `data:application/pdf;base64,${btoa("%PDF-1.7")}`,
        },
        said("[File n.txt]\nnote\n[End of file n.txt]"),
      ]),
    ]);
    expect(fetches).toBe(1);
  });

  it("that a tool returned stand in its result", async () => {
    const messages: Message[] = [user("Look"), assistant("", call("a")), result("a", "shot", png)];
    expect((await request({ messages }))["input"]).toEqual([
      message("user", "Look"),
      wireCall("a"),
      output("a", [said("shot"), image]),
    ]);
  });

  it("that the backend has are named by their id", async () => {
    const parts: Part[] = [
      { type: "image", source: { kind: "file", fileId: "file-1" } },
      { type: "file", source: { kind: "file", fileId: "file-2" } },
    ];
    expect((await request({ messages: [user(...parts)] }))["input"]).toEqual([
      message("user", [
        { type: "input_image", file_id: "file-1", detail: "auto" },
        { type: "input_file", file_id: "file-2" },
      ]),
    ]);
  });

  it("are refused where they are broken", () => {
    const broken: Part = { type: "image", source: { kind: "inline", data: "§", mediaType: "image/png" } };
    expect(() => provider().prepare(conversation({ messages: [user(broken)] }), prepareOptions())).toThrow(
      expect.objectContaining({ status: 400, param: "messages" }),
    );
  });
});
