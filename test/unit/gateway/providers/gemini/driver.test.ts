import { describe, expect, it } from "vitest";
import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import type { Provider } from "../../../../../src/gateway/providers/provider.ts";
import {
  conversation,
  eventStream,
  FakeUpstream,
  neverAborted,
  prepareOptions,
  readTurn,
} from "../support.ts";
import { provider, STREAMED, stream, text, user, WEATHER, whole } from "./fake.ts";

type Changes = Parameters<typeof conversation>[0];

/** Asks a provider, and reads its answer to the end. */
async function ask(driver: Provider, fake: FakeUpstream, changes: Changes): Promise<Record<string, unknown>> {
  const prepared = driver.prepare(conversation(changes), prepareOptions());
  const turn = await prepared.open(fake.account, neverAborted(), null);
  await readTurn(turn);
  return fake.seen.at(-1)?.json() ?? {};
}

const refuse = (message: string) =>
  Response.json({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }, { status: 400 });

/** A model that refuses what a test says it refuses, in the words of the real service. */
function picky(judge: (body: string) => string | undefined): FakeUpstream {
  return new FakeUpstream(({ body }) => {
    const why = judge(body);
    return why === undefined ? eventStream(stream("text")) : refuse(why);
  });
}

const configOf = (body: Record<string, unknown>): Record<string, unknown> => Object(body["generationConfig"]);

describe("a model that refuses what others know", () => {
  it.each([
    ["Budget 0 is invalid. This model only works in thinking mode."],
    ["The model does not support setting thinking_budget to 0."],
    ["Thinking budget is not supported for this model."],
    ["Unable to submit request because thinking is not supported by this model."],
  ])("and cannot stop thinking, or does not think, is not told to stop: %s", async (why) => {
    const fake = picky((body) => (body.includes('"thinkingBudget":0') ? why : undefined));
    const driver = provider();
    expect(configOf(await ask(driver, fake, { thinking: false }))).not.toHaveProperty("thinkingConfig");
    await ask(driver, fake, { thinking: false });
    expect(fake.seen.length).toBe(3);
  });

  it("and has levels instead of budgets gets the one that comes next", async () => {
    const fake = picky((body) =>
      body.includes("thinkingBudget") ? "Thinking budget is not supported for this model." : undefined,
    );
    const sampling = { reasoningEffort: "high" };
    expect(configOf(await ask(provider(), fake, { thinking: true, sampling }))["thinkingConfig"]).toEqual({
      includeThoughts: true,
      thinkingLevel: "HIGH",
    });
  });

  it("and never thinks is not asked to", async () => {
    const fake = picky((body) =>
      body.includes("thinkingConfig") ? "thinking_config is not supported for this model" : undefined,
    );
    expect(configOf(await ask(provider(), fake, { thinking: true }))).not.toHaveProperty("thinkingConfig");
  });

  it("tells the caller of a budget that is too large", async () => {
    const fake = picky(
      () => "The thinking budget (52428) is invalid. Please choose a value between 128 and 32768.",
    );
    const asked = { thinking: true, sampling: { thinkingBudget: 52_428 } };
    await expect(ask(provider(), fake, asked)).rejects.toMatchObject({ kind: "invalid_request" });
    expect(fake.seen.length).toBe(1);
  });

  it.each([
    [{ sampling: { presencePenalty: 0.2 } }, "presencePenalty", "Penalty is not enabled for models/m"],
    [{ sampling: { topK: 4 } }, "topK", 'Invalid JSON payload received. Unknown name "topK" at x'],
    [{ sampling: { seed: 4 } }, "seed", "seed is not supported"],
  ])("gets the rest: %j", async (changes, field, why) => {
    const fake = picky((body) => (body.includes(`"${field}"`) ? why : undefined));
    expect(configOf(await ask(provider(), fake, changes))).not.toHaveProperty(field);
  });

  it("and knows no schemas is asked for JSON, and beside functions in words alone", async () => {
    const asked: Changes = { responseFormat: { type: "json-schema", schema: { type: "object" } } };
    const schemaless = picky((body) =>
      body.includes("responseJsonSchema")
        ? 'Unknown name "responseJsonSchema": Cannot find field.'
        : undefined,
    );
    expect(configOf(await ask(provider(), schemaless, asked))).toMatchObject({
      responseMimeType: "application/json",
    });
    const either = picky((body) =>
      body.includes("responseMimeType")
        ? "Function calling with a response mime type: 'application/json' is unsupported"
        : undefined,
    );
    const body = await ask(provider(), either, { ...asked, tools: [WEATHER] });
    expect(configOf(body)).not.toHaveProperty("responseMimeType");
    expect(JSON.stringify(body["systemInstruction"])).toContain("JSON schema");
  });

  it("and knows no JSON Schema gets the arguments' in the protocol's own terms", async () => {
    const parameters = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      additionalProperties: false,
      required: ["city"],
      properties: {
        city: { type: ["string", "null"], description: "Where" },
        days: { type: "array", items: { type: "integer", minimum: 1 } },
        unit: { const: "C" },
        place: { anyOf: [{ type: "string" }, { type: "object", properties: {} }] },
      },
    };
    const fake = picky((body) =>
      body.includes("parametersJsonSchema")
        ? "Invalid JSON payload received. Unknown name \"parametersJsonSchema\" at 'tools[0].function_declarations[0]'"
        : undefined,
    );
    expect((await ask(provider(), fake, { tools: [{ name: "f", parameters }] }))["tools"]).toEqual([
      {
        functionDeclarations: [
          {
            name: "f",
            parameters: {
              type: "OBJECT",
              required: ["city"],
              properties: {
                city: { type: "STRING", nullable: true, description: "Where" },
                days: { type: "ARRAY", items: { type: "INTEGER", minimum: 1 } },
                unit: { enum: ["C"] },
                place: { anyOf: [{ type: "STRING" }, { type: "OBJECT", properties: {} }] },
              },
            },
          },
        ],
      },
    ]);
  });

  it("and takes no system's words gets them from the user", async () => {
    const fake = picky((body) =>
      body.includes("systemInstruction") ? "Developer instruction is not enabled for models/m" : undefined,
    );
    const messages: Message[] = [{ role: "system", parts: [text("Be kind.")] }, user("Hi")];
    expect(await ask(provider(), fake, { messages })).toMatchObject({
      contents: [
        { role: "user", parts: [{ text: "Be kind." }] },
        { role: "user", parts: [{ text: "Hi" }] },
      ],
    });
  });

  it("and does not search beside functions answers from what it knows", async () => {
    const fake = picky((body) =>
      body.includes("googleSearch")
        ? "Built-in tools ({google_search}) and Function Calling cannot be combined in the same request."
        : undefined,
    );
    const body = await ask(provider(), fake, { webSearch: {}, tools: [WEATHER] });
    expect(body["tools"]).toMatchObject([{ functionDeclarations: [{ name: "get_weather" }] }]);
  });
});

describe("a refusal that repeats the caller's words", () => {
  const kind: Message[] = [{ role: "system", parts: [text("Be kind.")] }, user("Hi")];
  /** What all other callers send afterwards. */
  const after = (driver: Provider, fake: FakeUpstream) =>
    ask(driver, fake, { messages: kind, sampling: { topK: 4 }, responseFormat: SHAPE });
  const SHAPE = { type: "json-schema", schema: { type: "object" } } as const;

  it.each([
    [
      "system_instruction",
      "GenerateContentRequest.generation_config.response_json_schema.properties[system_instruction].type: unknown type",
    ],
    ["top_k", "response_json_schema.properties[top_k]: the type 'strange' is not supported"],
    ["topK", "Invalid value at 'generation_config.response_json_schema.properties.topK': unknown type"],
    ["developer instruction", "response_json_schema: property 'developer instruction' has a strange type"],
  ])("takes nothing from other callers: %s", async (name, why) => {
    const driver = provider();
    const fake = picky((body) =>
      JSON.stringify(configOf(JSON.parse(body))["responseJsonSchema"] ?? "").includes("strange")
        ? why
        : undefined,
    );
    const schema = { type: "object", properties: { [name]: { type: "strange" } } };
    const asked: Changes = { messages: kind, sampling: { topK: 4 } };
    await ask(driver, fake, { ...asked, responseFormat: { type: "json-schema", schema } });
    const body = await after(driver, fake);
    expect(body["systemInstruction"]).toMatchObject({
      parts: [{ text: expect.stringContaining("Be kind.") }],
    });
    expect(configOf(body)).toHaveProperty("topK");
    expect(configOf(body)).toHaveProperty("responseJsonSchema");
  });

  it("is about the field without which it takes the rest, though it names another, too", async () => {
    const driver = provider();
    const both = "top_k is not supported with seed, which is not supported without";
    const fake = picky((body) => (body.includes('"topK"') ? both : undefined));
    await ask(driver, fake, { sampling: { topK: 4, seed: 1 } });
    const body = configOf(await ask(driver, fake, { sampling: { topK: 4, seed: 1 } }));
    expect([body["topK"], body["seed"], fake.seen.length]).toEqual([undefined, 1, 3]);
  });
});

describe("thoughts", () => {
  const CALLS = [
    { id: "gw8k2mq7xl3rt9wn", name: "get_weather", arguments: '{"city":"Ørsta"}' },
    { id: "gt5h1cxe8zq6uk0s", name: "get_time", arguments: "{}" },
  ];
  const asked: Changes = { thinking: true, tools: [WEATHER] };
  const answered: Message[] = [
    user("Weather?"),
    { role: "assistant", parts: [text("Let me look.")], toolCalls: CALLS },
    { role: "tool", callId: CALLS[0]?.id ?? "", parts: [text("cold")] },
    { role: "tool", callId: CALLS[1]?.id ?? "", parts: [text("late")] },
  ];
  const streamed = () => new FakeUpstream(() => eventStream(stream("tools")));
  const inOnePiece = () =>
    new FakeUpstream(() => new Response(whole("tools"), { headers: { "content-type": "application/json" } }));
  const signaturesIn = (body: Record<string, unknown>): unknown[] =>
    Object(body["contents"]).flatMap(({ parts }: { parts: Record<string, unknown>[] }) =>
      parts.filter((part) => "functionCall" in part).map((part) => part["thoughtSignature"]),
    );
  const SEALED = "CiQBcsjafOsealed+one==";
  const UNKNOWN = "skip_thought_signature_validator";

  it.each([
    ["streamed", streamed, true],
    ["whole", inOnePiece, false],
  ])("go back with the calls that they led to, sealed as they were (%s)", async (_, upstream, streams) => {
    const driver = provider();
    await ask(driver, upstream(), { ...asked, stream: streams });
    const body = await ask(driver, upstream(), { ...asked, stream: streams, messages: answered });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "Weather?" }] },
      {
        role: "model",
        parts: [
          { text: "Let me look." },
          {
            functionCall: { id: CALLS[0]?.id, name: "get_weather", args: { city: "Ørsta" } },
            thoughtSignature: SEALED,
          },
          { functionCall: { id: CALLS[1]?.id, name: "get_time", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: CALLS[0]?.id, name: "get_weather", response: { output: "cold" } } },
          { functionResponse: { id: CALLS[1]?.id, name: "get_time", response: { output: "late" } } },
        ],
      },
    ]);
    // Strict models want them back although they are not to think.
    const quiet = await ask(driver, upstream(), { ...asked, messages: answered, thinking: false });
    expect(signaturesIn(quiet)).toEqual([SEALED, undefined]);
    const other = { ...asked, messages: answered, model: "provider-v4-pro" };
    expect(signaturesIn(await ask(driver, upstream(), other))).toEqual([undefined, undefined]);
  });

  it("that are not known are said to be unknown to a model that wants them", async () => {
    const driver = provider();
    const strict = new FakeUpstream(({ body }) =>
      body.includes("functionCall") && !body.includes("thoughtSignature")
        ? refuse(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
          )
        : eventStream(stream("text")),
    );
    expect(signaturesIn(await ask(driver, strict, { ...asked, messages: answered }))).toEqual([
      UNKNOWN,
      undefined,
    ]);
    await ask(driver, strict, { ...asked, messages: answered });
    expect(strict.seen.length).toBe(3);
  });

  it("that somebody else has sealed are passed over in that request alone", async () => {
    const driver = provider();
    await ask(driver, streamed(), asked);
    const foreign = new FakeUpstream(({ body }) =>
      body.includes(SEALED) ? refuse("Corrupted thought signature.") : eventStream(stream("text")),
    );
    const passed = await ask(driver, foreign, { ...asked, messages: answered });
    expect(signaturesIn(passed)).toEqual([UNKNOWN, undefined]);
    const again = await ask(driver, streamed(), { ...asked, messages: answered });
    expect(signaturesIn(again)).toEqual([SEALED, undefined]);
  });

  it("need no ids of calls where the backend has none", async () => {
    const idless = picky((body) =>
      body.includes('"id"')
        ? 'Unknown name "id" at contents[1].parts[0].function_call: Cannot find field.'
        : undefined,
    );
    const body = await ask(provider(), idless, { ...asked, messages: answered });
    expect(JSON.stringify(body["contents"])).not.toContain('"id"');
  });
});

describe("a backend of the content-generation style that fails", () => {
  const failing = (respond: () => Response | Promise<Response>) =>
    provider()
      .prepare(conversation(), prepareOptions())
      .open(new FakeUpstream(respond).account, neverAborted(), null)
      .catch((error: unknown) => error);
  const info = (reason: string) => ({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason });

  it.each([
    [400, "INVALID_ARGUMENT", [], "invalid_request"],
    // A wrong key is no fault of the caller's.
    [400, "INVALID_ARGUMENT", [info("API_KEY_INVALID")], "token_expired"],
    [400, "FAILED_PRECONDITION", [], "account_suspended"],
    [401, "UNAUTHENTICATED", [info("ACCESS_TOKEN_EXPIRED")], "token_expired"],
    [403, "PERMISSION_DENIED", [info("SERVICE_DISABLED")], "account_suspended"],
    [404, "NOT_FOUND", [], "model_unavailable"],
    [429, "RESOURCE_EXHAUSTED", [], "rate_limited"],
    [499, "CANCELLED", [], "server_error"],
    [500, "INTERNAL", [], "server_error"],
    [503, "UNAVAILABLE", [], "model_unavailable"],
    [504, "DEADLINE_EXCEEDED", [], "timeout"],
  ])("with %i %s %j is a failure of the kind %s", async (code, status, details, kind) => {
    const error = { code, status, message: "no token-of-the-account", details };
    for (const body of [{ error }, [{ error }]]) {
      const failure = await failing(() => Response.json(body, { status: code }));
      expect(failure).toMatchObject({ name: "ProviderError", kind, status: code });
      expect(String(failure)).not.toContain("token-of-the-account");
    }
  });

  it("says what is at fault, and how long it wants to be left alone", async () => {
    const tooLong = { status: "INVALID_ARGUMENT", message: "" };
    tooLong.message =
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    const long = await failing(() => Response.json({ error: tooLong }, { status: 400 }));
    expect(long).toMatchObject({ kind: "context_length" });
    const fieldViolations = [{ field: "contents[0].parts", description: "empty" }];
    const violated = { status: "INVALID_ARGUMENT", message: "no", details: [{ fieldViolations }] };
    expect(await failing(() => Response.json({ error: violated }, { status: 400 }))).toMatchObject({
      upstreamFault: { param: "contents[0].parts" },
    });
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.07s" }];
    const error = { status: "RESOURCE_EXHAUSTED", message: "quota", details };
    expect(await failing(() => Response.json({ error }, { status: 429 }))).toMatchObject({ retryAfter: 35 });
  });
});

describe("what passes between", () => {
  it.each([
    ["http://engine.example", "http://engine.example/v1beta"],
    ["http://engine.example/", "http://engine.example/v1beta"],
    ["http://engine.example/proxy", "http://engine.example/proxy/v1beta"],
    ["http://engine.example/v1", "http://engine.example/v1"],
    ["https://v2.engine.example", "https://v2.engine.example/v1beta"],
    ["http://engine.example/v1/publishers/google/", "http://engine.example/v1/publishers/google"],
  ])("goes below the base %s to %s", async (baseUrl, address) => {
    const fake = new FakeUpstream(() => eventStream(stream("text")));
    await ask(provider({ baseUrl }), fake, {});
    expect(fake.seen[0]?.url).toBe(`${address}/models/provider-v4-flash${STREAMED}`);
  });

  it("names models of other kinds as they are", async () => {
    const fake = new FakeUpstream(() => eventStream(stream("text")));
    const models = { "provider-v4-flash": "tunedModels/my tuned" };
    await ask(provider({ models }), fake, { stream: true });
    await ask(provider({ models }), fake, { stream: false }).catch(() => undefined);
    expect(fake.seen.map(({ url }) => new URL(url).pathname)).toEqual([
      "/v1beta/tunedModels/my%20tuned:streamGenerateContent",
      "/v1beta/tunedModels/my%20tuned:generateContent",
    ]);
  });
});

describe("embeddings", () => {
  const wishes = { model: "provider-v4-pro", input: ["a", "b"], dimensions: 1 };

  it("are asked for all at once", async () => {
    const embeddings = [{ values: [0.5] }, { values: [-0.5] }];
    const fake = new FakeUpstream(() =>
      Response.json({ embeddings, usageMetadata: { promptTokenCount: 3 } }),
    );
    const embedded = await provider().embeddings?.embed(fake.account, wishes, neverAborted());
    expect(embedded).toEqual({ vectors: [[0.5], [-0.5]], tokens: 3 });
    expect(fake.only("/v1beta/models/big-model:batchEmbedContents").json()).toEqual({
      requests: ["a", "b"].map((said) => ({
        model: "models/big-model",
        content: { parts: [{ text: said }] },
        outputDimensionality: 1,
      })),
    });
  });

  it("of one text are asked for as such", async () => {
    const fake = new FakeUpstream(() => Response.json({ embedding: { values: [0.5] } }));
    const one = { model: "provider-v4-pro", input: ["a"] };
    const embedded = await provider().embeddings?.embed(fake.account, one, neverAborted());
    expect(embedded).toEqual({ vectors: [[0.5]], tokens: 0 });
    expect(fake.only("/v1beta/models/big-model:embedContent").json()).toEqual({
      model: "models/big-model",
      content: { parts: [{ text: "a" }] },
    });
  });

  it("are malformed unless there is one for each text", async () => {
    for (const body of [{}, { embeddings: [{ values: [0.5] }] }, { embeddings: [{ values: ["x"] }, {}] }]) {
      const fake = new FakeUpstream(() => Response.json(body));
      await expect(provider().embeddings?.embed(fake.account, wishes, neverAborted())).rejects.toMatchObject({
        kind: "malformed",
      });
    }
  });
});

describe("a model's name", () => {
  it.each(["../../theirs/models/x", "a/../models/x", "a/./b", "a//b", "a\\b", "a%2fb", "\ud800", "models/x"])(
    "never leads out of the models' path: %j",
    (id) => {
      const fake = new FakeUpstream(() => eventStream(stream("text")));
      const asked = conversation();
      const model = { ...asked.model, id, upstream: id, requested: id };
      expect(() => provider().prepare({ ...asked, model }, prepareOptions())).toThrow(
        expect.objectContaining({ status: 400, code: "model_not_found" }),
      );
      expect(fake.seen).toEqual([]);
    },
  );
});
