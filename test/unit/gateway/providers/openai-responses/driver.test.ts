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
import { provider, stream, text, user, WEATHER, whole } from "./fake.ts";

type Changes = Parameters<typeof conversation>[0];

/** Asks a provider, and reads its answer to the end. */
async function ask(driver: Provider, fake: FakeUpstream, changes: Changes): Promise<Record<string, unknown>> {
  const prepared = driver.prepare(conversation(changes), prepareOptions());
  const turn = await prepared.open(fake.account, neverAborted(), null);
  await readTurn(turn);
  return fake.seen.at(-1)?.json() ?? {};
}

/** A model that refuses what a test says it refuses, in the words of the real service. */
function picky(judge: (request: Record<string, unknown>) => string | undefined): FakeUpstream {
  return new FakeUpstream((request) => {
    const message = judge(request.json());
    if (message === undefined) return eventStream(stream("text"));
    const error = { message, type: "invalid_request_error", param: null, code: "unsupported_parameter" };
    return Response.json({ error }, { status: 400 });
  });
}

const effortOf = ({ reasoning }: Record<string, unknown>): unknown => Object(reasoning).effort;

describe("a model that refuses what others know", () => {
  it("and cannot but think is asked for as little as it offers, from then on at once", async () => {
    const fake = picky((request) =>
      effortOf(request) === "none"
        ? "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'minimal', 'low', 'medium', and 'high'."
        : undefined,
    );
    const driver = provider();
    expect(effortOf(await ask(driver, fake, { thinking: false }))).toBe("minimal");
    expect(fake.seen.length).toBe(2);
    expect(effortOf(await ask(driver, fake, { thinking: false }))).toBe("minimal");
    expect(effortOf(await ask(driver, fake, { thinking: true, sampling: { reasoningEffort: "high" } }))).toBe(
      "high",
    );
    expect(fake.seen.length).toBe(4);
    // What one model refuses another may know.
    await ask(driver, fake, { thinking: false, model: "provider-v4-pro" });
    expect(fake.seen.length).toBe(6);
  });

  it.each([[true], [false]])(
    "and does not think is not asked to, nor to stop (thinking: %s)",
    async (thinking) => {
      const fake = picky((request) => {
        if ("reasoning" in request)
          return "Unsupported parameter: 'reasoning.effort' is not supported with this model.";
        return "include" in request ? "Encrypted content is not supported with this model." : undefined;
      });
      const body = await ask(provider(), fake, { thinking });
      for (const field of ["reasoning", "include"]) expect(body).not.toHaveProperty(field);
    },
  );

  it("and keeps its summaries to itself still gets the effort", async () => {
    const fake = picky((request) =>
      "summary" in Object(request["reasoning"])
        ? "Your organization must be verified to generate reasoning summaries."
        : undefined,
    );
    const sampling = { reasoningEffort: "low" };
    expect((await ask(provider(), fake, { thinking: true, sampling }))["reasoning"]).toEqual({
      effort: "low",
    });
  });

  it("tells the caller of an effort that it does not have", async () => {
    const fake = picky((request) =>
      effortOf(request) === "xhigh"
        ? "Unsupported value: 'xhigh' is not supported with the 'm' model. Supported values are: 'low', 'medium', and 'high'. (reasoning.effort)"
        : undefined,
    );
    const asked = { thinking: true, sampling: { reasoningEffort: "xhigh" } };
    await expect(ask(provider(), fake, asked)).rejects.toMatchObject({ kind: "invalid_request" });
  });

  it.each([
    [{ sampling: { temperature: 0.2 } }, "temperature"],
    [{ sampling: { topP: 0.2 } }, "top_p"],
    [{ sampling: { presencePenalty: 0.2 } }, "presence_penalty"],
    [{ sampling: { user: "ada" } }, "user"],
    [{ sampling: { promptCacheKey: "k" } }, "prompt_cache_key"],
    [{ tools: [WEATHER], parallelToolCalls: false }, "parallel_tool_calls"],
    [{}, "store"],
  ])("gets the rest: %j", async (changes, field) => {
    for (const why of [
      `Unsupported parameter: '${field}' is not supported with this model.`,
      `Unknown parameter: '${field}'.`,
    ]) {
      const fake = picky((request) => (field in request ? why : undefined));
      expect(await ask(provider(), fake, changes)).not.toHaveProperty(field);
    }
  });

  it("and knows no schemas is asked for an object, and then in words alone", async () => {
    const asked: Changes = { responseFormat: { type: "json-schema", schema: { type: "object" } } };
    const format = (type: string) =>
      picky((request) =>
        JSON.stringify(request["text"] ?? {}).includes(type)
          ? `Unsupported parameter: 'text.format'.`
          : undefined,
      );
    expect((await ask(provider(), format("json_schema"), asked))["text"]).toEqual({
      format: { type: "json_object" },
    });
    const body = await ask(provider(), format("json_"), asked);
    expect(body).not.toHaveProperty("text");
    expect(JSON.stringify(body["input"])).toContain("JSON schema");
  });

  it("and knows no strict tools gets them as they are", async () => {
    const fake = picky((request) =>
      JSON.stringify(request["tools"]).includes("strict")
        ? "Unknown parameter: 'tools[0].strict'."
        : undefined,
    );
    const body = await ask(provider(), fake, { tools: [{ ...WEATHER, strict: true }] });
    expect(body).toMatchObject({ tools: [{ name: "get_weather", parameters: {} }] });
  });

  it("and has no short answers gives the shortest", async () => {
    const fake = picky((request) =>
      Number(request["max_output_tokens"]) < 16
        ? "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead."
        : undefined,
    );
    const driver = provider();
    const limit = async (maxTokens: number) =>
      (await ask(driver, fake, { sampling: { maxTokens } }))["max_output_tokens"];
    expect([await limit(1), await limit(3), await limit(17)]).toEqual([16, 16, 17]);
    expect(fake.seen.length).toBe(4);
  });

  it("and does not search answers from what it knows", async () => {
    const fake = picky((request) =>
      JSON.stringify(request["tools"] ?? "").includes("web_search")
        ? "Hosted tool 'web_search' is not supported with this model."
        : undefined,
    );
    const body = await ask(provider(), fake, { webSearch: {}, tools: [WEATHER] });
    expect(body["tools"]).toMatchObject([{ type: "function" }]);
  });

  it("and takes results as words alone gets the rest from the user", async () => {
    const image: Message["parts"][number] = {
      type: "image",
      source: { kind: "inline", data: "iVBORw0KGgo=", mediaType: "image/png" },
    };
    const messages: Message[] = [
      user("Look"),
      { role: "assistant", parts: [], toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
      { role: "tool", callId: "a", parts: [text("shot"), image] },
      { role: "assistant", parts: [text("Hm.")], toolCalls: [] },
    ];
    const fake = picky((request) =>
      Object(request["input"]).some((item: { output?: unknown }) => Array.isArray(item.output))
        ? "Input should be a valid string: input.2.function_call_output.output"
        : undefined,
    );
    expect((await ask(provider(), fake, { messages }))["input"]).toMatchObject([
      {},
      { type: "function_call" },
      { type: "function_call_output", call_id: "a", output: "shot" },
      { role: "user", content: [{ type: "input_text" }, { type: "input_image" }] },
      { role: "assistant", content: "Hm." },
    ]);
  });

  it("is believed when it refuses what the answer would not be itself without", async () => {
    const fake = picky(() => "Unsupported parameter: 'include' and 'top_logprobs' are not supported.");
    const asked = { sampling: { logprobs: 2 }, thinking: false };
    await expect(ask(provider(), fake, asked)).rejects.toMatchObject({ kind: "invalid_request" });
  });
});

describe("thoughts", () => {
  const CALLS = [
    { id: "call_Vd8kP2mQ7xLz3RtY9wNbC4Hj", name: "get_weather", arguments: '{"city": "Ørsta"}' },
    { id: "call_J5hT1cXe8ZqW6uKoS0gMfA2B", name: "get_time", arguments: "{}" },
  ];
  const THOUGHT = {
    type: "reasoning",
    id: "rs_01",
    summary: [{ type: "summary_text", text: "Oslo, and the time." }],
    encrypted_content: "gAAAAABsealed+one==",
  };
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

  it.each([
    ["streamed", streamed, true],
    ["whole", inOnePiece, false],
  ])(
    "go back with the results of the calls that they led to, sealed as they were (%s)",
    async (_, upstream, streams) => {
      const driver = provider();
      await ask(driver, upstream(), { ...asked, stream: streams });
      const body = await ask(driver, upstream(), { ...asked, stream: streams, messages: answered });
      expect(body["input"]).toEqual([
        { type: "message", role: "user", content: "Weather?" },
        THOUGHT,
        { type: "message", role: "assistant", content: "Let me look." },
        { type: "function_call", call_id: CALLS[0]?.id, name: "get_weather", arguments: '{"city": "Ørsta"}' },
        { type: "function_call", call_id: CALLS[1]?.id, name: "get_time", arguments: "{}" },
        { type: "function_call_output", call_id: CALLS[0]?.id, output: "cold" },
        { type: "function_call_output", call_id: CALLS[1]?.id, output: "late" },
      ]);
      expect(body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    },
  );

  it("are kept from a request that does not think, and from another model; what is not known is no failure", async () => {
    const driver = provider();
    const types = ({ input }: Record<string, unknown>) => JSON.stringify(input).includes('"reasoning"');
    await ask(driver, streamed(), asked);
    expect(types(await ask(driver, streamed(), { ...asked, messages: answered }))).toBe(true);
    const quiet = { ...asked, messages: answered, thinking: false };
    expect(types(await ask(driver, streamed(), quiet))).toBe(false);
    const other = { ...asked, messages: answered, model: "provider-v4-pro" };
    expect(types(await ask(driver, streamed(), other))).toBe(false);
    expect(types(await ask(provider(), streamed(), { ...asked, messages: answered }))).toBe(false);
  });

  it("that another organisation has sealed are left out of that request alone", async () => {
    const driver = provider();
    const refusing = new FakeUpstream((request) => {
      if (!request.body.includes("gAAAAABsealed")) return eventStream(stream("text"));
      const message =
        "The encrypted content gAAA... could not be verified. Reason: it could not be decrypted.";
      const error = {
        message,
        type: "invalid_request_error",
        param: null,
        code: "invalid_encrypted_content",
      };
      return Response.json({ error }, { status: 400 });
    });
    await ask(driver, streamed(), asked);
    const body = await ask(driver, refusing, { ...asked, messages: answered });
    expect([refusing.seen.length, body["include"]]).toEqual([2, ["reasoning.encrypted_content"]]);
    expect(JSON.stringify(body["input"])).not.toContain('"reasoning"');
    const again = await ask(driver, streamed(), { ...asked, messages: answered });
    expect(JSON.stringify(again["input"])).toContain("gAAAAABsealed");
  });
});

describe("a backend of the responses style that fails", () => {
  const failing = (respond: () => Response | Promise<Response>) =>
    provider()
      .prepare(conversation(), prepareOptions())
      .open(new FakeUpstream(respond).account, neverAborted(), null)
      .catch((error: unknown) => error);

  it.each([
    [400, { type: "invalid_request_error", code: null }, "invalid_request"],
    [400, { type: "invalid_request_error", code: "context_length_exceeded" }, "context_length"],
    [400, { type: "invalid_request_error", code: "invalid_prompt" }, "content_filter"],
    [400, { type: "image_generation_user_error", code: "content_policy_violation" }, "content_filter"],
    [401, { type: "invalid_request_error", code: "invalid_api_key" }, "token_expired"],
    [
      403,
      { type: "invalid_request_error", code: "unsupported_country_region_territory" },
      "account_suspended",
    ],
    [404, { type: "invalid_request_error", code: "model_not_found" }, "model_unavailable"],
    [404, { type: "invalid_request_error", code: null }, "model_unavailable"],
    [429, { type: "requests", code: "rate_limit_exceeded" }, "rate_limited"],
    [429, { type: "insufficient_quota", code: "insufficient_quota" }, "rate_limited"],
    [500, { type: "server_error", code: null }, "server_error"],
    [503, { type: "server_error", code: "server_is_overloaded" }, "model_unavailable"],
    [504, {}, "timeout"],
  ])("with %i %j is a failure of the kind %s", async (status, error, kind) => {
    const body = { error: { ...error, message: "no token-of-the-account", param: null } };
    const failure = await failing(() => Response.json(body, { status }));
    expect(failure).toMatchObject({ name: "ProviderError", kind, status });
    expect(String(failure)).not.toContain("token-of-the-account");
  });
});

describe("embeddings", () => {
  it("are asked for beside responses", async () => {
    const fake = new FakeUpstream(() =>
      Response.json({ data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 3 } }),
    );
    const wishes = { model: "provider-v4-pro", input: ["a"], dimensions: 1 };
    const embedded = await provider().embeddings?.embed(fake.account, wishes, neverAborted());
    expect(embedded).toEqual({ vectors: [[0.5]], tokens: 3 });
    expect(fake.only("/v1/embeddings").json()).toMatchObject({
      model: "big-model",
      input: ["a"],
      dimensions: 1,
    });
  });
});
