import { describe, expect, it } from "vitest";
import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import {
  conversation,
  eventStream,
  FakeUpstream,
  neverAborted,
  prepareOptions,
  readTurn,
} from "../support.ts";

import { ANSWER, provider, text, user, WEATHER } from "./fake.ts";

describe("a backend that refuses a field by its name", () => {
  function picky(...unknown: string[]): FakeUpstream {
    return new FakeUpstream((request) => {
      const field = unknown.find((name) => request.body.includes(`"${name}"`));
      if (field === undefined) return eventStream(ANSWER);
      return Response.json(
        { error: { message: `Unrecognized request argument supplied: ${field}` } },
        { status: 400 },
      );
    });
  }

  it("gets the request without it, and is not asked twice", async () => {
    const fake = picky("stream_options", "chat_template_kwargs", "reasoning_content", "parallel_tool_calls");
    const driver = provider();
    const messages: Message[] = [
      user("a"),
      { role: "assistant", parts: [text("b")], reasoning: "r", toolCalls: [] },
      user("c"),
    ];
    const prepared = driver.prepare(
      conversation({ messages, tools: [WEATHER], parallelToolCalls: false }),
      prepareOptions(),
    );
    await prepared.open(fake.account, neverAborted(), null);
    const before = fake.seen.length;
    await prepared.open(fake.account, neverAborted(), null);
    expect(fake.seen.length).toBe(before + 1);
    expect(fake.seen.at(-1)?.json()).toMatchObject({
      reasoning_effort: "none",
      messages: [{ content: "a" }, { role: "assistant", content: "b" }, { content: "c" }],
    });
  });

  it("gets the limit of tokens under its new name", async () => {
    const fake = new FakeUpstream((request) =>
      "max_tokens" in request.json()
        ? Response.json({ error: { message: "Use 'max_completion_tokens' instead." } }, { status: 400 })
        : eventStream(ANSWER),
    );
    await provider()
      .prepare(conversation({ sampling: { maxTokens: 7 } }), prepareOptions())
      .open(fake.account, neverAborted(), null);
    expect(fake.seen.at(-1)?.json()).toMatchObject({ max_completion_tokens: 7 });
  });

  const refusing = (name: string, message: string, present = (body: object) => name in body) =>
    new FakeUpstream((request) =>
      present(request.json()) ? Response.json({ error: { message } }, { status: 400 }) : eventStream(ANSWER),
    );
  const asking = (fake: FakeUpstream, changes: Parameters<typeof conversation>[0]) =>
    provider().prepare(conversation(changes), prepareOptions()).open(fake.account, neverAborted(), null);

  it.each([
    ["top_k", "Unrecognized request argument supplied: top_k"],
    ["top_k", '[{"type":"extra_forbidden","loc":["body","top_k"],"msg":"Extra inputs are not permitted"}]'],
    ["min_p", "Unknown parameter: 'min_p'."],
    ["presence_penalty", "Unsupported parameter: 'presence_penalty' is not supported with this model."],
    ["frequency_penalty", "property 'frequency_penalty' is unsupported"],
    ["logit_bias", "logit_bias is not supported by this model"],
    ["seed", "seed is not supported"],
    ["user", "Unknown name 'user'"],
    ["verbosity", "Unrecognized request argument supplied: verbosity"],
    ["prompt_cache_key", "unexpected keyword argument prompt_cache_key"],
    [
      "temperature",
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    ],
    ["top_p", "Unsupported value: 'top_p' does not support 0.9 with this model."],
    ["top_p", "Unsupported parameter: 'top_p' is not supported with this model."],
  ])("is asked without %s, which only shapes the answer: %s", async (name, message) => {
    const fake = refusing(name, message);
    const sampling = {
      temperature: 0.2,
      topP: 0.9,
      topK: 4,
      minP: 0.1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      logitBias: { "1": 2 },
      seed: 1,
      user: "u",
      verbosity: "low",
      promptCacheKey: "k",
    };
    await asking(fake, { sampling });
    expect(fake.seen).toHaveLength(2);
    const [before = "", after = ""] = fake.seen.map((seen) => Object.keys(seen.json()).join());
    expect(before.replace(`,${name}`, "")).toBe(after);
  });

  it("is believed when it says that a temperature is too high: the caller must correct it", async () => {
    const fake = refusing("temperature", "temperature must be between 0 and 2");
    await expect(asking(fake, { sampling: { temperature: 3 } })).rejects.toMatchObject({
      kind: "invalid_request",
    });
    expect(fake.seen).toHaveLength(1);
  });

  it("with a value that it will not have is the caller's to correct", async () => {
    const fake = refusing("presence_penalty", "presence_penalty must be at most 2");
    await expect(asking(fake, { sampling: { presencePenalty: 5 } })).rejects.toMatchObject({
      kind: "invalid_request",
    });
    expect(fake.seen).toHaveLength(1);
  });

  it("is never asked without log probabilities that the caller wants: that would be another answer", async () => {
    const fake = refusing("logprobs", "logprobs is not supported by this model");
    await expect(asking(fake, { sampling: { logprobs: 2 } })).rejects.toMatchObject({
      kind: "invalid_request",
      message: "the provider says: logprobs is not supported by this model",
    });
  });

  it("gets the nearest response format that it takes; a schema of the caller's at fault is no such refusal", async () => {
    const responseFormat = { type: "json-schema", schema: { type: "object" } } as const;
    const typeOf = (body: object) => Object(Object(body)["response_format"])["type"];
    const plain = refusing("response_format", "This response_format type is unavailable now", (body) =>
      ["json_schema", "json_object"].includes(typeOf(body)),
    );
    await asking(plain, { responseFormat });
    expect(plain.seen.map((seen) => typeOf(seen.json()))).toEqual(["json_schema", "json_object", undefined]);
    const wrong = refusing("response_format", "Invalid schema for response_format 'answer': 'a' is no type.");
    await expect(asking(wrong, { responseFormat })).rejects.toMatchObject({ kind: "invalid_request" });
    expect(wrong.seen).toHaveLength(1);
  });

  it("is remembered for its model alone", async () => {
    const fake = refusing("top_k", "Unknown parameter: 'top_k'.", (body) => {
      const { model, top_k: topK } = Object(body);
      return model === "big-model" && topK !== undefined;
    });
    const made = provider();
    const ask = (model: string) =>
      made
        .prepare(conversation({ model, sampling: { topK: 4 } }), prepareOptions())
        .open(fake.account, neverAborted(), null);
    await ask("provider-v4-pro");
    await ask("provider-v4-pro");
    await ask("provider-v4-flash");
    expect(fake.seen.map((seen) => "top_k" in seen.json())).toEqual([true, false, false, true]);
  });

  it("is remembered for 200 models, and names that nothing was learnt of take nobody's place", async () => {
    const fake = refusing("top_k", "Unknown parameter: 'top_k'.", (body) => {
      const { model, top_k: topK } = Object(body);
      return String(model).startsWith("picky") && topK !== undefined;
    });
    const made = provider();
    /** How often the backend is asked. */
    const ask = async (upstream: string): Promise<number> => {
      const before = fake.seen.length;
      const asked = conversation({ sampling: { topK: 4 } });
      const model = { ...asked.model, id: `g/${upstream}`, upstream, provider: "g" };
      await made.prepare({ ...asked, model }, prepareOptions()).open(fake.account, neverAborted(), null);
      return fake.seen.length - before;
    };
    expect(await ask("picky")).toBe(2);
    for (let n = 0; n < 250; n += 1) await ask(`made-up-${n}`);
    expect(await ask("picky")).toBe(1);
    for (let n = 0; n < 200; n += 1) await ask(`picky-${n}`);
    expect([await ask("picky-199"), await ask("picky")]).toEqual([1, 2]);
  });

  it("is believed when it refuses the request for another reason", async () => {
    const fake = new FakeUpstream(() =>
      Response.json({ error: { message: "context too long" } }, { status: 400 }),
    );
    const opened = provider()
      .prepare(conversation(), prepareOptions())
      .open(fake.account, neverAborted(), null);
    await expect(opened).rejects.toMatchObject({
      kind: "invalid_request",
      message: "the provider says: context too long",
    });
    expect(fake.seen).toHaveLength(1);
  });

  it("does not lose a field for good because a hopeless refusal mentioned it", async () => {
    let hopeless = true;
    const fake = new FakeUpstream(() =>
      hopeless
        ? Response.json({ error: "stream_options and all is wrong" }, { status: 400 })
        : eventStream(ANSWER),
    );
    const prepared = provider().prepare(conversation(), prepareOptions());
    await expect(prepared.open(fake.account, neverAborted(), null)).rejects.toMatchObject({
      kind: "invalid_request",
    });
    hopeless = false;
    await prepared.open(fake.account, neverAborted(), null);
    expect(fake.seen.at(-1)?.json()).toHaveProperty("stream_options");
  });
});

describe("a backend that fails", () => {
  const failing = (respond: () => Response | Promise<Response>) =>
    provider()
      .prepare(conversation(), prepareOptions())
      .open(new FakeUpstream(respond).account, neverAborted(), null)
      .catch((error: unknown) => error);

  it.each([
    [400, { error: { message: "x", code: "content_policy_violation" } }, "content_filter"],
    [
      401,
      { error: { message: "Incorrect API key provided: token-*count", code: "invalid_api_key" } },
      "token_expired",
    ],
    [402, { error: { message: "Insufficient balance" } }, "account_suspended"],
    [404, { error: { message: "The model does not exist", code: "model_not_found" } }, "model_unavailable"],
    [404, { detail: "Not Found" }, "model_unavailable"],
    [422, { detail: "bad" }, "invalid_request"],
    [429, { error: { message: "x", code: "insufficient_quota" } }, "rate_limited"],
    [500, { object: "error", message: "boom" }, "server_error"],
  ])("with %i %j is a failure of the kind %s", async (status, body, kind) => {
    const failure = await failing(() => Response.json(body, { status }));
    expect(failure).toMatchObject({ name: "ProviderError", kind, status });
    expect(String(failure)).not.toContain("token-*count");
  });

  it("to call its stream an event stream is understood: some servers say text/plain", async () => {
    const headers = { "content-type": "text/plain; charset=utf-8" };
    const fake = new FakeUpstream(() => new Response(ANSWER, { headers }));
    const turn = await provider()
      .prepare(conversation(), prepareOptions())
      .open(fake.account, neverAborted(), null);
    expect(await readTurn(turn)).toMatchObject({ failure: null, events: { length: 3 } });
  });
});
