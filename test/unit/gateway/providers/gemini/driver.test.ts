import { describe, expect, it } from "vitest";
import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import type { Provider } from "../../../../../src/gateway/providers/provider.ts";
import type { ConversationChanges } from "../../../../support/conversations.ts";
import { answeredCalls, type Refusal, refusingModel } from "../driver-row.ts";
import {
  ask,
  conversation,
  eventStream,
  FakeUpstream,
  neverAborted,
  prepareOptions,
  system,
} from "../support.ts";
import { CALLS, geminiDriverRow, refuse } from "./driver-row.ts";
import { answer, provider, user, WEATHER } from "./fake.ts";

/** What only this protocol has. What every driver must do is tested in `../drivers.test.ts`. */

const picky = (judge: Refusal["judge"]) => refusingModel(geminiDriverRow, judge);

const configOf = (body: Record<string, unknown>): Record<string, unknown> => Object(body["generationConfig"]);

describe("a refusal that repeats the caller's words", () => {
  const kind: Message[] = [system("Be kind."), user("Hi")];
  /** What all other callers send afterwards. */
  const after = (driver: Provider, fake: FakeUpstream) =>
    ask(driver, fake, { messages: kind, options: { topK: 4 }, responseFormat: SHAPE });
  const SHAPE = { type: "json-schema", schema: { type: "object" } } as const;

  it.each([
    [
      "system_instruction",
      "GenerateContentRequest.generation_config.response_json_schema.properties[system_instruction].type: unknown type",
    ],
    ["top_k", "response_json_schema.properties[top_k]: the type 'strange' is not supported"],
    ["topK", "Invalid value at 'generation_config.response_json_schema.properties.topK': unknown type"],
    ["developer instruction", "response_json_schema: property 'developer instruction' has a strange type"],
  ])("does not affect other callers: %s", async (name, why) => {
    const driver = provider();
    const fake = picky((body) =>
      JSON.stringify(configOf(body)["responseJsonSchema"] ?? "").includes("strange") ? why : undefined,
    );
    const schema = { type: "object", properties: { [name]: { type: "strange" } } };
    const asked: ConversationChanges = { messages: kind, options: { topK: 4 } };
    await ask(driver, fake, { ...asked, responseFormat: { type: "json-schema", schema } });
    const body = await after(driver, fake);
    expect(body["systemInstruction"]).toMatchObject({
      parts: [{ text: expect.stringContaining("Be kind.") }],
    });
    expect(configOf(body)).toHaveProperty("topK");
    expect(configOf(body)).toHaveProperty("responseJsonSchema");
  });

  it.each(["topK", "seed"])("concerns the field without which the rest is accepted: %s", async (refused) => {
    const driver = provider();
    const both = "top_k is not supported with seed, which is not supported without";
    const fake = picky((body) => (refused in configOf(body) ? both : undefined));
    await ask(driver, fake, { options: { topK: 4, seed: 1 } });
    const { topK, seed } = configOf(await ask(driver, fake, { options: { topK: 4, seed: 1 } }));
    expect({ topK, seed }).toEqual({ topK: 4, seed: 1, [refused]: undefined });
  });
});

describe("thoughts", () => {
  const asked: ConversationChanges = { thinking: true, tools: [WEATHER] };
  const answered = answeredCalls(CALLS);
  const signaturesIn = (body: Record<string, unknown>): unknown[] =>
    Object(body["contents"]).flatMap(({ parts }: { parts: Record<string, unknown>[] }) =>
      parts.filter((part) => "functionCall" in part).map((part) => part["thoughtSignature"]),
    );

  it("are stated as unknown to a model that requires them", async () => {
    const driver = provider();
    const strict = new FakeUpstream(({ body }) =>
      body.includes("functionCall") && !body.includes("thoughtSignature")
        ? refuse(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
          )
        : eventStream(answer),
    );
    expect(signaturesIn(await ask(driver, strict, { ...asked, messages: answered }))).toEqual([
      "skip_thought_signature_validator",
      undefined,
    ]);
    await ask(driver, strict, { ...asked, messages: answered });
    expect(strict.seen.length).toBe(3);
  });

  it("need no ids of calls if the backend has none", async () => {
    const idless = picky((body) =>
      JSON.stringify(body).includes('"id"')
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

  it("reports the cause and the requested wait", async () => {
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

describe("the name of a model", () => {
  it("keeps names of models of other kinds", async () => {
    const fake = new FakeUpstream(() => eventStream(answer));
    const models = { "provider-v4-flash": "tunedModels/my tuned" };
    await ask(provider({ models }), fake, { stream: true });
    await ask(provider({ models }), fake, { stream: false }).catch(() => undefined);
    expect(fake.seen.map(({ url }) => new URL(url).pathname)).toEqual([
      "/v1beta/tunedModels/my%20tuned:streamGenerateContent",
      "/v1beta/tunedModels/my%20tuned:generateContent",
    ]);
  });

  it.each(["../../theirs/models/x", "a/../models/x", "a/./b", "a//b", "a\\b", "a%2fb", "\ud800", "models/x"])(
    "never leads out of the models' path: %j",
    (id) => {
      const fake = new FakeUpstream(() => eventStream(answer));
      const asked = conversation();
      const model = { ...asked.model, id, upstream: id, requested: id };
      expect(() => provider().prepare({ ...asked, model }, prepareOptions())).toThrow(
        expect.objectContaining({ status: 400, code: "model_not_found" }),
      );
      expect(fake.seen).toEqual([]);
    },
  );
});

describe("embeddings", () => {
  it("of one text use the request for one text", async () => {
    const fake = new FakeUpstream(() => Response.json({ embedding: { values: [0.5] } }));
    const one = { model: "provider-v4-pro", input: ["a"] };
    const embedded = await provider().embeddings?.embed(fake.account, one, neverAborted());
    expect(embedded).toEqual({
      ...{ vectors: [[0.5]], tokens: 0 },
      answer: { embedding: { values: [0.5] } },
    });
    expect(fake.only("/v1beta/models/big-model:embedContent").json()).toEqual({
      model: "models/big-model",
      content: { parts: [{ text: "a" }] },
    });
  });
});
