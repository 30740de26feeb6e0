import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  canonicalContent,
  validateContentGenerationStream,
} from "../support/stream-validators/content-generation.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const test = useGateway();
/** The option of a request for the model's thoughts. */
const THOUGHTS = { generationConfig: { thinkingConfig: { includeThoughts: true } } };
const TOOLS = [
  {
    functionDeclarations: [
      {
        name: "get_weather",
        description: "Tells the weather of a city",
        parameters: { type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] },
      },
    ],
  },
];

function body(text: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return { contents: [{ role: "user", parts: [{ text }] }], ...extra };
}

const send = (
  action: string,
  text: string,
  extra: Record<string, unknown> = {},
  model = "gemini-2.5-flash",
) => test.post(`/v1beta/models/${model}:${action}`, body(text, extra));

async function whole(text: string, extra: Record<string, unknown> = {}) {
  const response = await send("generateContent", text, extra);
  expect(response.status).toBe(200);
  return canonicalContent(await response.json());
}

async function streamed(text: string, extra: Record<string, unknown> = {}, query = "?alt=sse") {
  const response = await send(`streamGenerateContent${query}`, text, extra);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  return validateContentGenerationStream(await response.text());
}

describe("POST /v1beta/models/{model}:generateContent", () => {
  it.each([
    "/v1beta/models/gemini-2.5-flash",
    "/v1/models/gemini-2.5-flash",
    "/v1beta/models/models%2Fgemini-2.5-flash",
  ])("answers with a candidate at %s", async (path) => {
    const response = await test.post(
      `${path}:generateContent`,
      body("[[think:hm]][[say:hello there]]", THOUGHTS),
    );
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      candidates: [
        {
          content: { role: "model", parts: [{ text: "hm", thought: true }, { text: "hello there" }] },
          finishReason: "STOP",
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: expect.any(Number),
        candidatesTokenCount: expect.any(Number),
        thoughtsTokenCount: expect.any(Number),
        totalTokenCount: expect.any(Number),
      },
      modelVersion: "provider-v4-flash",
      responseId: expect.any(String),
    });
  });

  it.each([
    ["text", "[[say:a longer answer of several words]]", {}],
    ["thinking", "[[think:well]][[say:done]]", THOUGHTS],
    ["thinking that nobody asked to see", "[[think:well]][[say:done]]", {}],
    ["one call", '[[call:get_weather:{"city":"Bonn"}]]', { tools: TOOLS }],
    [
      "two calls amid text",
      '[[text-and-call]][[call:get_weather:{"city":"Bonn"}]][[call:get_weather:{"city":"Oslo"}]]',
      { tools: TOOLS },
    ],
    ["a call in the reasoning", "[[call-in-reasoning]][[call:get_weather]]", { tools: TOOLS }],
    ["too little room", "[[say:cut short]][[length]]", {}],
    ["an empty first try", "[[empty]][[say:now]]", {}],
    ["torn bytes", "[[say:zażółć gęślą jaźń 🙂]][[bytes:3]]", {}],
  ])("streams the same as the whole answer at %s", async (_, text, extra) => {
    const [stream, response] = [await streamed(text, extra), await whole(text, extra)];
    expect(stream.completion).toEqual(response);
  });

  it("streams text incrementally, and calls in the last chunk", async () => {
    const { events, completion } = await streamed(
      '[[think:one two three four five six]][[text-and-call]][[call:get_weather:{"city":"Bonn"}]]',
      { tools: TOOLS },
    );
    expect(events.length).toBeGreaterThan(3);
    expect(completion.toolCalls).toEqual([{ name: "get_weather", arguments: { city: "Bonn" } }]);
  });

  it("streams also without alt=sse", async () => {
    expect((await streamed("[[say:x]]", {}, "")).completion.text).toBe("x");
  });

  it("shows thoughts only on request, and otherwise has the answer in the first part", async () => {
    const response = await send("generateContent", "[[think:hm]][[say:x]]");
    expect(await response.json()).toMatchObject({
      candidates: [{ content: { parts: [{ text: "x" }] } }],
      usageMetadata: { thoughtsTokenCount: expect.any(Number) },
    });
    expect((await streamed("[[think:hm]][[say:x]]")).completion.reasoning).toBe("");
    expect((await test.gateway.sandbox.lastTurn()).thinking).toBe(true);
    expect((await whole("[[think:hm]][[say:x]]", THOUGHTS)).reasoning).toBe("hm");
    expect((await streamed("[[think:hm]][[say:x]]", THOUGHTS)).completion.reasoning).toBe("hm");
  });

  it("does not think with a -nothinking model or a budget of 0", async () => {
    const response = await send("generateContent", "[[say:x]]", {}, "gemini-2.5-flash-nothinking");
    expect(canonicalContent(await response.json()).reasoning).toBe("");
    expect((await test.gateway.sandbox.lastTurn()).thinking).toBe(false);
    await whole("[[say:x]]", { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } });
    expect((await test.gateway.sandbox.lastTurn()).thinking).toBe(false);
  });

  it("passes every part of a conversation to the model", async () => {
    const response = await test.post("/v1beta/models/gemini-2.5-pro:generateContent", {
      system_instruction: { parts: [{ text: "SYSTEM-WORD" }] },
      tools: TOOLS,
      contents: [
        { role: "user", parts: [{ text: "QUESTION-WORD" }] },
        {
          role: "model",
          parts: [
            { text: "ANSWER-WORD" },
            { functionCall: { name: "get_weather", args: { city: "CALL-WORD" } } },
            { functionCall: { name: "get_weather", args: { city: "Oslo" } } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { name: "get_weather", response: { output: "RESULT-WORD" } } },
            { functionResponse: { name: "get_weather", response: { error: "FAULT-WORD" } } },
          ],
        },
      ],
    });
    expect(response.status).toBe(200);
    const { prompt, model } = await test.gateway.sandbox.lastTurn();
    expect(model).toBe("pro");
    for (const word of ["SYSTEM", "QUESTION", "ANSWER", "CALL", "RESULT", "FAULT"]) {
      expect(prompt).toContain(`${word}-WORD`);
    }
  });

  it.each([
    ["x-goog-api-key", {}],
    ["x-vendorc-api-key", {}],
  ])("accepts the key in %s", async (header) => {
    const response = await test.fetch("/v1/models/gemini-2.5-flash:generateContent", {
      method: "POST",
      headers: { [header]: DEV_KEY },
      body: JSON.stringify(body("[[say:x]]")),
    });
    expect(response.status).toBe(200);
  });

  it.each(["key", "api_key"])("accepts the key in ?%s=", async (name) => {
    const response = await test.fetch(`/v1beta/models/gemini-2.5-flash:generateContent?${name}=${DEV_KEY}`, {
      method: "POST",
      body: JSON.stringify(body("[[say:x]]")),
    });
    expect(response.status).toBe(200);
  });
});

describe("errors of the content-generation style", () => {
  const errorOf = async (response: Response) =>
    z
      .strictObject({ error: z.strictObject({ code: z.int(), message: z.string(), status: z.string() }) })
      .parse(await response.json()).error;

  it.each([
    ["no such model", () => send("generateContent", "x", {}, "no-such-model"), 400, "INVALID_ARGUMENT"],
    ["no such action", () => send("predict", "x"), 404, "NOT_FOUND"],
    [
      "no contents",
      () => test.post("/v1beta/models/gemini-2.5-flash:generateContent", {}),
      400,
      "INVALID_ARGUMENT",
    ],
    [
      "no key",
      () =>
        test.fetch("/v1beta/models/gemini-2.5-flash:generateContent", {
          method: "POST",
          body: JSON.stringify(body("x")),
        }),
      401,
      "UNAUTHENTICATED",
    ],
    [
      "a required call that is not made",
      () =>
        send("generateContent", "[[say:no]]", {
          tools: TOOLS,
          toolConfig: { functionCallingConfig: { mode: "ANY" } },
        }),
      422,
      "FAILED_PRECONDITION",
    ],
    ["upstream failure", () => send("generateContent", "[[status:500:oops]]"), 503, "UNAVAILABLE"],
    [
      "a verb that is asked for by GET",
      () => test.fetch("/v1/models/x:countTokens"),
      405,
      "INVALID_ARGUMENT",
    ],
    [
      "a wrong method",
      () => test.fetch("/v1beta/models/x:generateContent", { method: "PUT" }),
      405,
      "INVALID_ARGUMENT",
    ],
  ])("%s", async (_, request, status, name) => {
    const response = await request();
    expect(response.status).toBe(status);
    expect(await errorOf(response)).toMatchObject({ code: status, status: name });
  });

  it.each(["[[cut:4]]", "[[reset:4]]", "[[garbage:4]]", "[[error:server_error:4]]"])(
    "sends an error chunk for %s in mid-stream",
    async (directive) => {
      const { completion } = await streamed(`${directive}[[say:one two three four five six]]`, THOUGHTS);
      expect(completion.error).toEqual(expect.any(String));
    },
  );
});

describe(":countTokens and models", () => {
  const count = async (request: Record<string, unknown>) => {
    const response = await test.post("/v1beta/models/gemini-2.5-flash:countTokens", request);
    expect(response.status).toBe(200);
    return z.looseObject({ totalTokens: z.int().positive() }).parse(await response.json()).totalTokens;
  };

  it("counts contents, and in a whole request also system and tools", async () => {
    const plain = await count(body("hello"));
    expect(await count({ generateContentRequest: { model: "models/x", ...body("hello") } })).toBe(plain);
    expect(
      await count({ generateContentRequest: { ...body("hello"), tools: TOOLS, systemInstruction: "a b c" } }),
    ).toBeGreaterThan(plain + 20);
  });

  it("lists the models, open to anyone, and reads one by alias", async () => {
    const list = z
      .strictObject({ models: z.array(z.looseObject({ name: z.string(), inputTokenLimit: z.int() })) })
      .parse(await (await test.fetch("/v1beta/models")).json());
    expect(list.models.map(({ name }) => name)).toContain("models/provider-v4-pro");
    const one = await test.fetch("/v1beta/models/gemini-2.5-pro");
    expect(await one.json()).toMatchObject({ name: "models/gemini-2.5-pro", baseModelId: "provider-v4-pro" });
    expect((await test.fetch("/v1beta/models/no-such-model")).status).toBe(404);
  });
});
