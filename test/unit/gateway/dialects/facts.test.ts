import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../../src/core/encoding/json.ts";
import { SMALL_REQUESTS } from "../../../support/dialect-requests.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { completionsScript, events, sessionsScript } from "../../../support/upstream-scripts.ts";

/** What providers say of an answer besides its words reaches the caller in each style's own fields, streaming and not. */

const make = useMemoryGateway();

/** A gateway in front of a chat-completions backend that answers with these chunks. */
function backend(...chunks: readonly object[]): Promise<MemoryGateway> {
  const body = [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"];
  const upstream = new ScriptedUpstream(completionsScript({ turns: () => ({ body }) }));
  return make({
    upstream,
    env: { PROVIDER_DRIVER: "openai", PROVIDER_NATIVE: "false" },
    config: { accounts: [{ token: "key" }] },
  });
}

const delta = (fields: object, more: object = {}) => ({
  id: "c1",
  choices: [{ index: 0, delta: fields, finish_reason: null, ...more }],
});
const stop = { id: "c1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };

/** One small request in a style: its whole body, or each JSON of its stream. */
async function ask(
  gateway: MemoryGateway,
  dialect: string,
  stream: boolean,
  extra: object = {},
): Promise<JsonObject[]> {
  const { path, body } = SMALL_REQUESTS[dialect] ?? { path: "", body: {} };
  const verb = path.replace(":generateContent", stream ? ":streamGenerateContent" : ":generateContent");
  const wish = verb.includes("/v1beta/") ? {} : { stream };
  const response = await gateway.post(verb, { ...body, ...wish, ...extra });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  await gateway.settle();
  if (!stream) return [JSON.parse(text)];
  return text.split("\n").flatMap((line) => {
    const json = line.replace(/^data: /, "").trim();
    return json.startsWith("{") ? [JSON.parse(json)] : [];
  });
}

/** The last value that a stream or body has under a path. */
function last(items: readonly JsonObject[], ...path: readonly string[]): unknown {
  return items
    .map((item) => path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), item))
    .findLast((value) => value !== undefined && value !== null);
}

const WAYS = [false, true];

describe("counts of cached and reasoning tokens", () => {
  const stated = {
    id: "c1",
    choices: [],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 8 },
    },
  };
  const usages: Record<string, [path: string, usage: object | number]> = {
    "chat-completions": [
      "usage",
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 8 },
      },
    ],
    completions: [
      "usage",
      {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 8 },
      },
    ],
    responses: [
      "usage",
      {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 8 },
        total_tokens: 120,
      },
    ],
    messages: [
      "usage",
      {
        input_tokens: 30,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 10,
        output_tokens: 20,
        output_tokens_details: { thinking_tokens: 8 },
      },
    ],
    "content-generation": [
      "usageMetadata",
      {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 12,
        thoughtsTokenCount: 8,
        totalTokenCount: 120,
      },
    ],
    "model-runner": ["prompt_eval_count", 100],
  };

  it.each(Object.entries(usages))("%s", async (dialect, [path, usage]) => {
    for (const stream of WAYS) {
      const gateway = await backend(delta({ content: "Hi" }), stop, stated);
      const extra = dialect === "completions" && stream ? { stream_options: { include_usage: true } } : {};
      const items = await ask(gateway, dialect, stream, extra);
      const found = last(items, path) ?? last(items, "response", path);
      if (isObject(usage)) expect(found, `stream: ${stream}`).toMatchObject(usage);
      else expect(found).toBe(usage);
    }
  });

  it("are read from a provider of the sessions protocol, too", async () => {
    const usage = ["usage", { prompt_tokens: 9, completion_tokens: 3, cached_tokens: 4 }];
    const plan = { events: [["start", { message_id: "m" }], ["text", { text: "Hi" }], usage] };
    const turn = { body: [...events(plan), ...events({ events: [["finish", { reason: "stop" }]] })] };
    const gateway = await make({ upstream: new ScriptedUpstream(sessionsScript({ turns: [turn] })) });
    const items = await ask(gateway, "chat-completions", false);
    expect(last(items, "usage", "prompt_tokens_details", "cached_tokens")).toBe(4);
  });

  it("that the provider does not state are omitted", async () => {
    const gateway = await backend(delta({ content: "Hi" }), stop);
    const items = await ask(gateway, "messages", false);
    expect(last(items, "usage")).toMatchObject({
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    });
  });
});

describe("a refusal in the model's own words", () => {
  const REFUSAL = "I cannot help with that.";
  const refusing = () =>
    backend(delta({ refusal: "I cannot help" }), delta({ refusal: " with that." }), stop);
  const joined = (items: readonly JsonObject[], pick: (item: JsonObject) => unknown) =>
    items.map((item) => pick(item) ?? "").join("");
  const inside = (item: unknown, ...path: readonly (string | number)[]): unknown =>
    path.reduce<unknown>((value, name) => Object(value)[name], item);

  it("is in a field of its own in chat completions", async () => {
    const [whole] = await ask(await refusing(), "chat-completions", false);
    expect(whole).toMatchObject({
      choices: [{ message: { content: null, refusal: REFUSAL }, finish_reason: "stop" }],
    });
    const chunks = await ask(await refusing(), "chat-completions", true);
    expect(joined(chunks, (chunk) => inside(chunk, "choices", 0, "delta", "refusal"))).toBe(REFUSAL);
    expect(joined(chunks, (chunk) => inside(chunk, "choices", 0, "delta", "content"))).toBe("");
  });

  it("is in a part of its own in responses", async () => {
    const content = [{ type: "refusal", refusal: REFUSAL }];
    const [whole] = await ask(await refusing(), "responses", false);
    expect(whole).toMatchObject({ status: "completed", output: [{ type: "message", content }] });
    const stream = await ask(await refusing(), "responses", true);
    const kinds = stream.map(({ type }) => type);
    expect(kinds).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.refusal.delta",
      "response.refusal.delta",
      "response.refusal.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(stream.at(-4)).toMatchObject({ refusal: REFUSAL, content_index: 0, item_id: expect.any(String) });
    expect(stream.at(-1)).toMatchObject({ response: { output: [{ type: "message", content }] } });
  });

  it.each<[string, (item: JsonObject) => unknown, (items: readonly JsonObject[]) => unknown, string]>([
    [
      "messages",
      (item) => inside(item, "delta", "text") ?? inside(item, "content", 0, "text"),
      (items) => last(items, "stop_reason") ?? last(items, "delta", "stop_reason"),
      "refusal",
    ],
    [
      "content-generation",
      (item) => inside(item, "candidates", 0, "content", "parts", 0, "text"),
      (items) => inside(items.at(-1), "candidates", 0, "finishReason"),
      "SAFETY",
    ],
    [
      "completions",
      (item) => inside(item, "choices", 0, "text"),
      (items) => inside(items.at(-1), "choices", 0, "finish_reason"),
      "content_filter",
    ],
    [
      "model-runner",
      (item) => inside(item, "message", "content"),
      (items) => last(items, "done_reason"),
      "content_filter",
    ],
  ])("%s have its words, and say what they are", async (dialect, words, reason, expected) => {
    for (const stream of WAYS) {
      const items = await ask(await refusing(), dialect, stream);
      expect(joined(items, words), `stream: ${stream}`).toBe(REFUSAL);
      expect(reason(items)).toBe(expected);
    }
  });

  it("does not violate a demand for a call or a format", async () => {
    const tools = [{ type: "function", function: { name: "f" } }];
    for (const extra of [{ tools, tool_choice: "required" }, { response_format: { type: "json_object" } }]) {
      const gateway = await refusing();
      const [whole] = await ask(gateway, "chat-completions", false, extra);
      expect(whole).toMatchObject({ choices: [{ message: { refusal: REFUSAL } }] });
      expect(gateway.turns).toHaveLength(1);
    }
  });
});

describe("log probabilities", () => {
  const a = { token: "Hé", logprob: -0.25, bytes: [72, 195, 169] };
  const b = { token: "!", logprob: -0.5, bytes: null };
  const other = { token: "Ho", logprob: -3, bytes: [72, 111] };
  const stating = () =>
    backend(
      delta({ content: "Hé" }, { logprobs: { content: [{ ...a, top_logprobs: [a, other] }] } }),
      delta({ content: "!" }, { logprobs: { content: [{ ...b, top_logprobs: [] }] } }),
      stop,
    );
  const expectedLogprobs = [
    { ...a, top_logprobs: [a, other] },
    { token: "!", logprob: -0.5, bytes: [33], top_logprobs: [] },
  ];
  const at = (item: unknown, ...path: readonly (string | number)[]): unknown =>
    path.reduce<unknown>((value, name) => Object(value)[name], item);
  const gathered = (items: readonly JsonObject[], ...path: readonly (string | number)[]) =>
    items.flatMap((item) => at(item, ...path) ?? []);

  it("are requested and answered in chat completions", async () => {
    const wish = { logprobs: true, top_logprobs: 2 };
    for (const stream of WAYS) {
      const gateway = await stating();
      const items = await ask(gateway, "chat-completions", stream, wish);
      expect(gateway.turns[0]?.json()).toMatchObject(wish);
      expect(gathered(items, "choices", 0, "logprobs", "content")).toEqual(expectedLogprobs);
      if (stream) {
        // Each token comes with its text.
        expect(
          items
            .filter((item) => at(item, "choices", 0, "logprobs"))
            .map((item) => at(item, "choices", 0, "delta", "content")),
        ).toEqual(["Hé", "!"]);
      }
    }
  });

  it.each([{ top_logprobs: 2 }, { include: ["message.output_text.logprobs"] }])(
    "are requested and answered in responses: %j",
    async (wish) => {
      const gateway = await stating();
      const [whole] = await ask(gateway, "responses", false, wish);
      expect(gateway.turns[0]?.json()).toMatchObject({ logprobs: true });
      expect(at(whole, "output", 0, "content", 0, "logprobs")).toEqual(expectedLogprobs);
      const stream = await ask(await stating(), "responses", true, wish);
      const deltas = stream.filter(({ type }) => type === "response.output_text.delta");
      expect(gathered(deltas, "logprobs")).toEqual(expectedLogprobs);
      const done = stream.find(({ type }) => type === "response.output_text.done");
      expect(done).toMatchObject({ text: "Hé!", logprobs: expectedLogprobs });
      expect(at(stream.at(-1), "response", "output", 0, "content", 0, "logprobs")).toEqual(expectedLogprobs);
    },
  );

  it("are requested and answered in content generation", async () => {
    const wish = { generationConfig: { responseLogprobs: true, logprobs: 2 } };
    for (const stream of WAYS) {
      const items = await ask(await stating(), "content-generation", stream, wish);
      const chosen = gathered(items, "candidates", 0, "logprobsResult", "chosenCandidates");
      expect(chosen).toEqual([
        { token: "Hé", logProbability: -0.25 },
        { token: "!", logProbability: -0.5 },
      ]);
      expect(gathered(items, "candidates", 0, "logprobsResult", "topCandidates")[0]).toEqual({
        candidates: [
          { token: "Hé", logProbability: -0.25 },
          { token: "Ho", logProbability: -3 },
        ],
      });
    }
  });

  it("are requested and answered in the local runner's style", async () => {
    for (const stream of WAYS) {
      const items = await ask(await stating(), "model-runner", stream, { logprobs: true, top_logprobs: 2 });
      expect(gathered(items, "logprobs")).toEqual(expectedLogprobs);
    }
  });

  it("are requested and answered in text completions", async () => {
    const places = [0, 2];
    for (const [echo, start] of [
      [false, 0],
      [true, "Hello".length],
    ] as const) {
      for (const stream of WAYS) {
        const gateway = await stating();
        const items = await ask(gateway, "completions", stream, { logprobs: 2, echo });
        expect(gateway.turns[0]?.json()).toMatchObject({ logprobs: true, top_logprobs: 2 });
        const said = (name: string) => gathered(items, "choices", 0, "logprobs", name);
        expect(said("tokens")).toEqual(["Hé", "!"]);
        expect(said("token_logprobs")).toEqual([-0.25, -0.5]);
        expect(said("top_logprobs")).toEqual([{ Hé: -0.25, Ho: -3 }, {}]);
        expect(said("text_offset")).toEqual(places.map((place) => place + start));
      }
    }
    const [whole] = await ask(await stating(), "completions", false, { logprobs: 0 });
    expect(at(whole, "choices", 0, "logprobs")).toMatchObject({ tokens: ["Hé", "!"], top_logprobs: null });
  });

  it("are kept if an answer loses its code fence", async () => {
    const token = (text: string) => ({ token: text, logprob: -1, bytes: null });
    const pieces = ["```json\n", "{}", "\n```"];
    const chunks = pieces.map((text) =>
      delta({ content: text }, { logprobs: { content: [{ ...token(text), top_logprobs: [] }] } }),
    );
    const wish = { logprobs: true, response_format: { type: "json_object" } };
    const items = await ask(await backend(...chunks, stop), "chat-completions", true, wish);
    expect(gathered(items, "choices", 0, "delta", "content").join("")).toBe("{}");
    expect(gathered(items, "choices", 0, "logprobs", "content")).toContainEqual(
      expect.objectContaining({ token: "{}" }),
    );
  });

  it("are not requested unless the caller asks for them", async () => {
    const gateway = await backend(delta({ content: "Hi" }), stop);
    const [whole] = await ask(gateway, "chat-completions", false, { logprobs: false });
    expect(gateway.turns[0]?.json()).not.toHaveProperty("logprobs");
    expect(at(whole, "choices", 0, "logprobs")).toBeNull();
  });
});

describe("an option that a provider does not support", () => {
  it.each([
    ["chat-completions", { n: 2 }, "n"],
    ["chat-completions", { logprobs: true }, "logprobs"],
    ["chat-completions", { modalities: ["text", "audio"] }, "modalities"],
    ["responses", { top_logprobs: 3 }, "top_logprobs"],
    ["responses", { include: ["message.output_text.logprobs"] }, "top_logprobs"],
    ["content-generation", { generationConfig: { candidateCount: 2 } }, "generationConfig.candidateCount"],
    [
      "content-generation",
      { generationConfig: { responseLogprobs: true } },
      "generationConfig.responseLogprobs",
    ],
    [
      "content-generation",
      { generationConfig: { responseModalities: ["TEXT", "IMAGE"] } },
      "generationConfig.responseModalities",
    ],
    ["model-runner", { logprobs: true }, "logprobs"],
    ["completions", { logprobs: 3 }, "logprobs"],
    ["completions", { logprobs: 0 }, "logprobs"],
  ])("is a 400 that names it, and the provider is not asked: %s %j", async (dialect, extra, name) => {
    const { path, body } = SMALL_REQUESTS[dialect] ?? { path: "", body: {} };
    const gateway = await make();
    const response = await gateway.post(path, { ...body, ...extra });
    const text = await response.text();
    expect([response.status, text]).toEqual([400, expect.stringContaining(`${name} cannot be met`)]);
    if (!path.includes("v1beta") && !path.startsWith("/api")) {
      expect(JSON.parse(text)).toMatchObject({ error: { code: "invalid_request", param: name } });
    }
    expect(gateway.upstream.asked).toEqual([]);
  });

  it("is left out if the answer is of the same kind without it", async () => {
    const always = {
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      modalities: ["text"],
      logit_bias: { "1": 5 },
      presence_penalty: 1,
      frequency_penalty: 1,
      top_k: 5,
      min_p: 0.1,
      seed: 1,
      user: "ada",
      verbosity: "low",
      metadata: {},
      store: true,
      service_tier: "auto",
      prompt_cache_key: "k",
      parallel_tool_calls: true,
      thinking: { type: "enabled", budget_tokens: 2048 },
    };
    const gateway = await make();
    await ask(gateway, "chat-completions", false, always);
    expect(Object.keys(gateway.turns[0]?.json() ?? {}).sort()).toEqual([
      "file_ids",
      "model",
      "parent_message_id",
      "prompt",
      "search",
      "thinking",
    ]);
  });
});

describe("the local runner's options", () => {
  const options = {
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    min_p: 0.1,
    repeat_penalty: 1.1,
    presence_penalty: 1,
    frequency_penalty: 0.5,
    seed: 7,
    stop: ["END"],
    num_predict: 99,
    num_ctx: 4096,
    mirostat: 1,
  };

  it.each(["/api/chat", "/api/generate"])("are sent to backends that know them: %s", async (path) => {
    const gateway = await backend(delta({ content: "Hi" }), stop);
    const messages = [{ role: "user", content: "Hello" }];
    await gateway.post(path, {
      model: "provider-v4-flash",
      messages,
      prompt: "Hello",
      stream: false,
      options,
    });
    const {
      repeat_penalty: repetition_penalty,
      num_predict: max_tokens,
      num_ctx,
      mirostat,
      ...same
    } = options;
    const sent = gateway.turns[0]?.json();
    expect(sent).toMatchObject({ ...same, repetition_penalty, max_tokens });
    for (const name of ["repeat_penalty", "num_predict", "num_ctx", "mirostat"]) {
      expect(sent).not.toHaveProperty(name);
    }
  });

  it("are left out if the answer is of the same kind without them", async () => {
    const gateway = await make();
    const messages = [{ role: "user", content: "Hello" }];
    const response = await gateway.post("/api/chat", { model: "provider-v4-flash", messages, options });
    expect(response.status).toBe(200);
  });
});

describe("an error in the caller's request", () => {
  const error = {
    message: "Unsupported value: 7.",
    type: "invalid_request_error",
    code: "unsupported_value",
    param: "temperature",
  };
  const refusing = (said: object, status = 400, headers: Record<string, string> = {}) => {
    const turns = () => ({ status, json: { error: said }, headers });
    const upstream = new ScriptedUpstream(completionsScript({ turns }));
    return make({
      upstream,
      env: { PROVIDER_DRIVER: "openai", PROVIDER_NATIVE: "false" },
      config: { accounts: [{ token: "a-long-key" }] },
    });
  };
  const errorOf = async (gateway: MemoryGateway, dialect: string) => {
    const { path, body } = SMALL_REQUESTS[dialect] ?? { path: "", body: {} };
    const response = await gateway.post(path, { ...body, stream: false });
    return { status: response.status, ...JSON.parse(await response.text()) };
  };

  it.each([400, 422])("has the provider's own terms in each style's format (%s)", async (status) => {
    const describeError = async (dialect: string) => errorOf(await refusing(error, status), dialect);
    for (const dialect of ["chat-completions", "responses", "completions"]) {
      const { message: _, ...terms } = error;
      expect(await describeError(dialect)).toMatchObject({ status: 400, error: terms });
    }
    expect(await describeError("messages")).toMatchObject({
      error: { type: "invalid_request_error", code: "unsupported_value", param: "temperature" },
    });
    expect(await describeError("content-generation")).toMatchObject({
      error: {
        status: "INVALID_ARGUMENT",
        details: [{ reason: "UNSUPPORTED_VALUE" }, { fieldViolations: [{ field: "temperature" }] }],
      },
    });
    expect(await describeError("model-runner")).toMatchObject({
      error: expect.stringContaining("Unsupported value"),
    });
  });

  it.each([
    ["names that are none", { code: "a b", type: "Bad", param: { a: 1 } }],
    ["numbers", { code: 400, type: 7, param: 3 }],
    [
      "names that hold the account's token",
      { code: "a-long-key", type: "a-long-key_error", param: "x.a-long-key" },
    ],
  ])("keeps the gateway's terms for %s", async (_name, terms) => {
    const gateway = await refusing({ message: "No.", ...terms });
    expect(await errorOf(gateway, "chat-completions")).toMatchObject({
      error: { code: "invalid_request", type: "invalid_request_error", param: null },
    });
  });

  it.each([401, 403, 429])("is not confused with the refusal of an account (%s)", async (status) => {
    const text = JSON.stringify(await errorOf(await refusing(error, status), "chat-completions"));
    expect(text).not.toMatch(/unsupported_value|"temperature"/);
  });

  it("logs how long a limited provider asks to wait", async () => {
    const gateway = await refusing({ message: "Slow down." }, 429, { "retry-after": "7" });
    await errorOf(gateway, "chat-completions");
    await gateway.settle();
    expect(gateway.lines.at(-1)).toMatchObject({ error: "upstream_rate_limited", retry_after_seconds: 7 });
  });
});

describe("a prompt that is too long for the model", () => {
  const SAID = "This model's maximum context length is 4096 tokens.";
  const refusing = (error: object, status = 400) => {
    const turns = () => ({ status, json: { error } });
    const upstream = new ScriptedUpstream(completionsScript({ turns }));
    return make({
      upstream,
      env: { PROVIDER_DRIVER: "openai", PROVIDER_NATIVE: "false" },
      config: { accounts: [{ token: "key" }] },
    });
  };
  const errorOf = async (gateway: MemoryGateway, dialect: string, extra: object = {}) => {
    const { path, body } = SMALL_REQUESTS[dialect] ?? { path: "", body: {} };
    const response = await gateway.post(path, { ...body, ...extra });
    return { status: response.status, ...JSON.parse(await response.text()) };
  };

  it.each([
    ["the public API's code", { message: "too long", code: "context_length_exceeded" }],
    ["a type of llama.cpp's", { message: "too long", code: 400, type: "exceed_context_size_error" }],
    ["the words of vLLM", { message: SAID, type: "BadRequestError", code: 400 }],
    [
      "the words of the message style",
      { message: "prompt is too long: 210000 tokens > 200000 maximum", type: "invalid_request_error" },
    ],
    [
      "the words of SGLang",
      { message: "The input (9 tokens) is longer than the model's context length (4)" },
    ],
    [
      "the words of content generation",
      { message: "The input token count (9) exceeds the maximum number of tokens allowed (4)." },
    ],
  ])("is recognized by %s", async (_, error) => {
    const refused = await errorOf(await refusing(error), "chat-completions");
    expect(refused).toMatchObject({ status: 400, error: { code: "context_length_exceeded" } });
  });

  it("is reported in each style as its clients expect", async () => {
    const error = { message: SAID };
    for (const dialect of ["chat-completions", "completions", "responses"]) {
      const refused = await errorOf(await refusing(error), dialect, { stream: true });
      expect(refused).toMatchObject({ error: { code: "context_length_exceeded" } });
    }
    expect(await errorOf(await refusing(error), "messages")).toMatchObject({
      type: "error",
      error: {
        type: "invalid_request_error",
        code: "context_length_exceeded",
        message: `prompt is too long: the provider says: ${SAID}`,
      },
    });
    expect(await errorOf(await refusing(error), "content-generation")).toMatchObject({
      error: { status: "INVALID_ARGUMENT", details: [{ reason: "CONTEXT_LENGTH_EXCEEDED" }] },
    });
  });

  it("is not confused with other refusals", async () => {
    const refused = await errorOf(await refusing({ message: "temperature is too long" }), "chat-completions");
    expect(refused).toMatchObject({ status: 400, error: { code: "invalid_request" } });
  });
});
