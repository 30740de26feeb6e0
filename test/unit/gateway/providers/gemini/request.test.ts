import { describe, expect, it } from "vitest";
import type { Message, Part, ToolCall } from "../../../../../src/core/conversation/conversation.ts";
import { conversation, FakeUpstream, neverAborted, prepareOptions, readTurn } from "../support.ts";
import { answering, provider, request, STREAMED, text, user, WEATHER, whole } from "./fake.ts";

const said = (value: string) => ({ text: value });
const turn = (role: string, ...parts: unknown[]) => ({
  role,
  parts: parts.map((part) => (typeof part === "string" ? said(part) : part)),
});
const assistant = (value: string, ...toolCalls: ToolCall[]): Message => ({
  role: "assistant",
  parts: value === "" ? [] : [text(value)],
  toolCalls,
});
const call = (id: string, name = "get_weather", input = "{}"): ToolCall => ({ id, name, arguments: input });
const wireCall = (id: string, args: object = {}) => ({ functionCall: { id, name: "get_weather", args } });
const wireResult = (id: string, response: object) => ({
  functionResponse: { id, name: "get_weather", response },
});
const result = (callId: string, ...parts: (string | Part)[]): Message => ({
  role: "tool",
  callId,
  parts: parts.map((part) => (typeof part === "string" ? text(part) : part)),
});

describe("a request for contents", () => {
  it("is streamed, with a key, to the model's address", async () => {
    const fake = answering();
    const sampling = {
      temperature: 0,
      topP: 1,
      topK: 4,
      seed: 5,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      stop: ["x", ""],
      maxTokens: 9,
      logprobs: 0,
    };
    const prepared = provider().prepare(
      conversation({ sampling, model: "provider-v4-pro" }),
      prepareOptions(),
    );
    const opened = await prepared.open(fake.account, neverAborted(), null);
    expect(opened.sessionId).toBe("made1");
    const { url, headers } = fake.only(STREAMED);
    expect(url).toBe(`http://engine.example/v1beta/models/big-model${STREAMED}`);
    expect(headers.get("x-goog-api-key")).toBe("token-of-the-account");
    expect(headers.has("authorization")).toBe(false);
    expect(fake.only(STREAMED).json()).toEqual({
      contents: [turn("user", "Hello")],
      generationConfig: {
        temperature: 0,
        topP: 1,
        topK: 4,
        seed: 5,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        stopSequences: ["x"],
        maxOutputTokens: 9,
        responseLogprobs: true,
        thinkingConfig: { thinkingBudget: 0 },
      },
    });
    expect((await readTurn(opened)).events).toContainEqual({ type: "text", text: "Grüße" });
  });

  it("is for one piece where nobody streams", async () => {
    const fake = new FakeUpstream(
      () => new Response(whole("tools"), { headers: { "content-type": "application/json" } }),
    );
    const prepared = provider().prepare(conversation({ stream: false }), prepareOptions());
    await readTurn(await prepared.open(fake.account, neverAborted(), null));
    expect(fake.only("/v1beta/models/provider-v4-flash:generateContent").json()).not.toHaveProperty("stream");
  });

  it.each([
    [{}, {}],
    [{ reasoningEffort: "minimal" }, { thinkingBudget: 1024 }],
    [{ reasoningEffort: "low" }, { thinkingBudget: 2048 }],
    [{ reasoningEffort: "high" }, { thinkingBudget: 16_384 }],
    [{ reasoningEffort: "low", thinkingBudget: 5000 }, { thinkingBudget: 5000 }],
  ])("asks for thoughts as the caller wishes: %j", async (sampling, budget) => {
    const body = await request({ thinking: true, sampling });
    expect(body["generationConfig"]).toEqual({ thinkingConfig: { includeThoughts: true, ...budget } });
    const quiet = await request({ thinking: true, sampling, model: "provider-v4-pro-nothinking" });
    expect(quiet["generationConfig"]).toEqual({ thinkingConfig: { thinkingBudget: 0 } });
  });

  it("asks for the response format in its field and in words", async () => {
    const schema = { type: "object" };
    const body = await request({ responseFormat: { type: "json-schema", schema } });
    expect(body["generationConfig"]).toMatchObject({
      responseMimeType: "application/json",
      responseJsonSchema: schema,
    });
    expect(JSON.stringify(body["systemInstruction"])).toContain("JSON schema");
    const json = await request({ responseFormat: { type: "json" } });
    expect(json["generationConfig"]).toMatchObject({ responseMimeType: "application/json" });
    expect(json["generationConfig"]).not.toHaveProperty("responseJsonSchema");
  });

  it("asks for a search", async () => {
    expect((await request({ webSearch: { contextSize: "low" } }))["tools"]).toEqual([{ googleSearch: {} }]);
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

describe("contents", () => {
  const sent = async (...messages: Message[]) => (await request({ messages }))["contents"];

  it("keep their order and what they say", async () => {
    const body = await request({
      messages: [
        { role: "system", parts: [text("One."), text("Two.")] },
        { role: "system", parts: [text("Three.")] },
        { ...user("Hi"), role: "user", name: "alice" },
        user("You there?", ""),
        { role: "assistant", parts: [text("Hm")], reasoning: "unsealed", toolCalls: [] },
        { role: "system", parts: [text("Late.")] },
        user("Go on"),
      ],
    });
    expect(body["systemInstruction"]).toEqual({ parts: [said("One.\n\nTwo.\n\nThree.")] });
    expect(body["contents"]).toEqual([
      turn("user", "[alice]", "Hi", "You there?"),
      turn("model", "Hm"),
      turn("user", "<system>\nLate.\n</system>", "Go on"),
    ]);
  });

  it("begin with the user, whatever the caller has", async () => {
    expect(await sent(user("  "))).toEqual([turn("user", "Begin.")]);
    expect(await sent(assistant("Hello!"), user("Hi"))).toEqual([
      turn("user", "Begin."),
      turn("model", "Hello!"),
      turn("user", "Hi"),
    ]);
  });

  it("carry calls, and as many results in a turn of their own, in the order of the calls", async () => {
    expect(
      await sent(
        user("Weather?"),
        assistant("Let me see", call("a", "get_weather", '{"city":"Oslo"}'), call("b"), call("c")),
        result("b", "cold", "wet"),
        { role: "tool", callId: "a", parts: [text("broken")], isError: true },
        result("b", "again"),
        assistant("", call("d")),
        result("d"),
        user("So?"),
      ),
    ).toEqual([
      turn("user", "Weather?"),
      turn("model", "Let me see", wireCall("a", { city: "Oslo" }), wireCall("b"), wireCall("c")),
      turn(
        "user",
        wireResult("a", { error: "broken" }),
        wireResult("b", { output: "cold\n\nwet" }),
        wireResult("c", { error: "There is no result." }),
      ),
      turn("user", said(expect.stringContaining("again"))),
      turn("model", wireCall("d")),
      turn("user", wireResult("d", { output: "" })),
      turn("user", "So?"),
    ]);
  });

  it("give each call an id of its own, and arguments that are an object", async () => {
    const round = [assistant("", call("a", "get_weather", '{"cut')), result("a", "1")];
    expect(await sent(user("x"), ...round, ...round)).toEqual([
      turn("user", "x"),
      turn("model", wireCall("a")),
      turn("user", wireResult("a", { output: "1" })),
      turn("model", wireCall("a_1")),
      turn("user", wireResult("a_1", { output: "1" })),
    ]);
  });

  it("end with the suffix of a follow-up turn, in the same session", async () => {
    expect((await request({}, {}, {}, "\n\nSay it."))["contents"]).toEqual([
      turn("user", "Hello", "Say it."),
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
    expect(body["contents"]).toMatchObject([
      turn("user", "First"),
      {},
      turn("user", "Second", "Think hard."),
      {},
      {},
    ]);
  });
});

describe("tools", () => {
  it("are passed through", async () => {
    const { parameters, ...weather } = WEATHER;
    const body = await request({ tools: [WEATHER, { name: "bare" }] });
    expect(body["tools"]).toEqual([
      { functionDeclarations: [{ ...weather, parametersJsonSchema: parameters }, { name: "bare" }] },
    ]);
    const bare = await request({});
    for (const field of ["tools", "toolConfig"]) expect(bare).not.toHaveProperty(field);
  });

  it.each([
    [{ type: "auto" } as const, { mode: "AUTO" }],
    [{ type: "none" } as const, { mode: "NONE" }],
    [{ type: "required" } as const, { mode: "ANY" }],
    [
      { type: "function", name: "get_weather" } as const,
      { mode: "ANY", allowedFunctionNames: ["get_weather"] },
    ],
  ])("are chosen as the caller says: %j", async (toolChoice, expected) => {
    const { toolConfig } = await request({ tools: [WEATHER], toolChoice });
    expect(toolConfig).toEqual({ functionCallingConfig: expected });
  });

  it("are written into the prompt for a backend that knows none", async () => {
    const messages: Message[] = [
      { role: "system", parts: [text("Be brief.")] },
      user("Weather?"),
      assistant("Let me see", call("a", "get_weather", '{"city":"Oslo"}')),
      { role: "tool", callId: "a", name: "get_weather", parts: [text("cold")] },
    ];
    const body = await request(
      { messages, tools: [WEATHER], responseFormat: { type: "json" } },
      {},
      { toolCalls: "markup" },
    );
    for (const field of ["tools", "toolConfig"]) expect(body).not.toHaveProperty(field);
    expect(body["generationConfig"]).not.toHaveProperty("responseMimeType");
    expect(body["systemInstruction"]).toEqual({
      parts: [said(expect.stringMatching(/^Be brief\.[\s\S]*get_weather/))],
    });
    expect(body["contents"]).toMatchObject([
      {},
      turn("model", said(expect.stringMatching(/^Let me see\n\n[\s\S]*get_weather[\s\S]*Oslo/))),
      turn("user", said(expect.stringMatching(/tool_result id="a" name="get_weather"[\s\S]*cold/))),
    ]);
  });
});

describe("attachments", () => {
  const inline = (mediaType: string, data: string): Part => ({
    type: mediaType.startsWith("image/") ? "image" : "file",
    source: { kind: "inline", data, mediaType },
  });
  const blob = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
  const PNG = "iVBORw0KGgo=";

  it("travel within the request, and are called what they are", async () => {
    let fetches = 0;
    const remote = (name: string): Part => ({
      type: "file",
      source: { kind: "url", url: `https://files.example/${name}` },
    });
    const named: Record<string, { bytes: Uint8Array; mediaType: string }> = {
      "a.mp3": { bytes: Uint8Array.of(0x49, 0x44, 0x33), mediaType: "audio/mpeg" },
      "n.txt": { bytes: new TextEncoder().encode("größe"), mediaType: "text/plain" },
    };
    const body = await request(
      {
        messages: [
          user(
            "See",
            inline("image/jpeg", PNG),
            inline("application/octet-stream", btoa("%PDF-1.7")),
            inline("audio/wav", btoa("RIFF0000WAVEfmt ")),
            remote("a.mp3"),
            remote("n.txt"),
            {
              type: "file",
              source: { kind: "inline", data: btoa("note"), mediaType: "text/plain" },
              filename: "n.txt",
            },
          ),
        ],
      },
      {
        fetchAttachment: async (url) => {
          fetches += 1;
          return named[new URL(url).pathname.slice(1)] ?? Promise.reject(new Error(url));
        },
      },
    );
    expect(body["contents"]).toEqual([
      turn(
        "user",
        "See",
        blob("image/png", PNG),
        blob("application/pdf", btoa("%PDF-1.7")),
        blob("audio/wav", btoa("RIFF0000WAVEfmt ")),
        blob("audio/mpeg", "SUQz"),
        "[File n.txt]\ngröße\n[End of file n.txt]",
        "[File n.txt]\nnote\n[End of file n.txt]",
      ),
    ]);
    expect(fetches).toBe(2);
  });

  it("that a tool returned follow the results", async () => {
    const messages = [
      user("Look"),
      assistant("", call("a"), call("b")),
      result("a", "shot", inline("image/png", PNG)),
      result("b", "none"),
      user("Well?"),
    ];
    expect((await request({ messages }))["contents"]).toEqual([
      turn("user", "Look"),
      turn("model", wireCall("a"), wireCall("b")),
      turn("user", wireResult("a", { output: "shot" }), wireResult("b", { output: "none" })),
      turn("user", "Returned by the tool call a:", blob("image/png", PNG), "Well?"),
    ]);
  });

  it("are refused where they cannot be sent", () => {
    const prepare = (part: Part) =>
      provider().prepare(conversation({ messages: [user(part)] }), prepareOptions());
    const refused = expect.objectContaining({ status: 400, param: "messages" });
    expect(() => prepare(inline("image/png", "§"))).toThrow(refused);
  });

  it("name a file that the backend stores by its address there", async () => {
    const stored = { id: "abc", filename: "a.pdf", mediaType: "application/pdf" };
    const uri = "https://backend.example/v1beta/files/abc";
    const parts: Part[] = [
      { type: "file", source: { kind: "file", fileId: "file-here", stored: { ...stored, uri } } },
      { type: "file", source: { kind: "file", fileId: "own" } },
    ];
    const sent = await request({ messages: [user(...parts)] });
    expect(sent["contents"]).toEqual([
      {
        role: "user",
        parts: [
          { fileData: { mimeType: "application/pdf", fileUri: uri } },
          { fileData: { fileUri: expect.stringMatching(/^http.*\/v1beta\/files\/own$/) } },
        ],
      },
    ]);
  });
});
