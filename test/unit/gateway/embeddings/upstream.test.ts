import { describe, expect, test } from "vitest";
import { configSchema } from "../../../../src/core/config/schema.ts";
import { pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { completionsScript } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const isEmbedding = ({ path }: UpstreamRequest): boolean => path.endsWith("/embeddings");

/** A gateway whose provider embeds: with these answers in order, the last one again and again. */
function embedding(...replies: readonly Reply[]) {
  const rest = [...replies];
  const next = () => (rest.length > 1 ? rest.shift() : rest[0]);
  const upstream = new ScriptedUpstream(
    completionsScript({ other: (asked) => (isEmbedding(asked) ? next() : undefined) }),
  );
  return createGateway({
    upstream,
    env: { PROVIDER_DRIVER: "openai" },
    config: { embeddings: { provider: "upstream" }, accounts: [{ token: "key-a" }, { token: "key-b" }] },
  });
}

const BACKEND = {
  id: "backend",
  driver: "openai",
  base_url: "http://backend.test/v1/",
  token: "sk-backend-token",
  models: { embed: "embed-1" },
};

const VECTORS: Reply = {
  json: {
    data: [{ index: 0, embedding: [0.5, -0.5] }],
    usage: { prompt_tokens: 3, total_tokens: 3 },
  },
};
const refusal = (status: number, code: string): Reply => ({
  status,
  json: { error: { code, message: "no" } },
});
const BODY = { model: "provider-v4-flash", input: "Hello" };

describe("an embedding model of a configured provider", () => {
  const open = (providers: readonly object[], replies: Reply) => {
    const upstream = new ScriptedUpstream(
      completionsScript({ other: (asked) => (isEmbedding(asked) ? replies : undefined) }),
    );
    const config = {
      embeddings: { provider: "builtin" },
      providers: [...providers],
      model_aliases: { mine: "backend/embed" },
    };
    return createGateway({ upstream, config: configSchema.parse({ ...config, keys: [KEY] }) });
  };

  test.each(["backend/embed", "mine"])("is used also with local embeddings: %s", async (model) => {
    const gateway = await open([BACKEND], VECTORS);
    const answer = await gateway.post("/v1/embeddings", { model, input: "Hello" });
    expect([answer.status, await answer.json()]).toMatchObject([200, { data: [{ embedding: [0.5, -0.5] }] }]);
    expect(gateway.upstream.asked.map(({ host, token }) => [host, token])).toEqual([
      ["backend.test", "sk-backend-token"],
    ]);
    const local = await gateway.post("/v1/embeddings", { model: "text-embedding-3-small", input: "Hello" });
    expect(Object(await local.json()).data[0].embedding).toHaveLength(1536);
    expect(gateway.upstream.asked).toHaveLength(1);
  });

  test("is a 501 if its protocol has no embeddings", async () => {
    const gateway = await open([{ ...BACKEND, driver: "anthropic" }], VECTORS);
    const refused = await gateway.post("/v1/embeddings", { model: "backend/embed", input: "Hello" });
    expect([refused.status, await refused.text()]).toEqual([501, expect.stringContaining("no embeddings")]);
  });
});

describe("embeddings of the provider", () => {
  test("get all members and tokens where the protocol is the same", async () => {
    const gateway = await embedding(VECTORS);
    const stated = { user: "u-1", input_type: "query", future: { deep: [1] }, dimensions: 2 };
    const body = { ...BODY, input: [1, 2, 3], encoding_format: "base64", ...stated };
    const answer = await gateway.post("/v1/embeddings", body);
    expect(answer.status, await answer.clone().text()).toBe(200);
    // This engine knows no base64.
    expect(Object(await answer.json()).data[0].embedding).toBe("AAAAPwAAAL8=");
    expect(gateway.upstream.asked[0]?.json()).toEqual(body);
  });

  test.each([
    { input: "Hello" },
    { input: ["Hello"] },
    { input: [[1, 2, 3]] },
    { input: ["Hello"], encoding_format: "float" },
    { input: [{ image: "https://example.com/cat.png" }] },
  ])("get nothing that the caller did not state: %j", async (stated) => {
    const gateway = await embedding(VECTORS);
    const body = { model: BODY.model, ...stated };
    expect((await gateway.post("/v1/embeddings", body)).status).toBe(200);
    expect(gateway.upstream.asked[0]?.json()).toEqual(body);
  });

  test.each([
    [{ models: ["provider-v4-pro"] }, 403],
    [{ Model: "provider-v4-pro" }, 403],
    [{ fallbacks: [{ model: "provider-v4-pro" }] }, 403],
    [{ extra: { model: "provider-v4-pro" } }, 403],
    [{ input: [{ model: "provider-v4-pro" }] }, 200],
    [{ user: "u", input_type: "query" }, 200],
  ])("name no model that the key may not use: %j is a %i", async (stated, status) => {
    const upstream = new ScriptedUpstream(() => VECTORS);
    const gateway = await createGateway({
      upstream,
      env: { PROVIDER_DRIVER: "openai" },
      config: {
        embeddings: { provider: "upstream" },
        accounts: [{ token: "key-a" }],
        api_keys: [{ key: "sk-few", models: [BODY.model] }],
      },
    });
    const headers = { authorization: "Bearer sk-few" };
    const answer = await gateway.post("/v1/embeddings", { ...BODY, ...stated }, { headers });
    expect(answer.status, await answer.text()).toBe(status);
    expect(upstream.asked).toHaveLength(status === 200 ? 1 : 0);
    expect((await gateway.post("/v1/embeddings", { ...BODY, ...stated })).status).toBe(200);
  });

  test("answer in base64 as the provider does, with all of its members", async () => {
    const usage = { prompt_tokens: 3, total_tokens: 4, prompt_tokens_details: { image_tokens: 1 } };
    const data = [
      { index: 1, embedding: "AAAAAA==" },
      { index: 0, embedding: "AAAAPwAAAL8=", object: "embedding", text: "a" },
    ];
    const answer = { object: "list", id: "emb-1", model: "their-name", data, usage };
    const gateway = await embedding({ json: answer });
    const ask = async (body: object, path = "/v1/embeddings") =>
      Object(await (await gateway.post(path, { ...BODY, input: ["a", "b"], ...body })).json());
    const sorted = data.toReversed().map((entry) => ({ object: "embedding", ...entry }));
    const expected = { ...answer, model: BODY.model };
    expect(await ask({ encoding_format: "base64" })).toEqual({ ...expected, data: sorted });
    // An engine that ignores the format.
    const numbers = sorted.map((entry, index) => ({ ...entry, embedding: index === 0 ? [0.5, -0.5] : [0] }));
    expect(await ask({ encoding_format: "float" })).toEqual({ ...expected, data: numbers });
    expect((await ask({}, "/api/embed")).embeddings).toEqual([[0.5, -0.5], [0]]);
    expect(gateway.upstream.asked[2]?.json()).toMatchObject({ encoding_format: "float" });
  });

  test.each(["AAAA", "!", "AADAfw==", ""])("are an error if base64 is no vector: %s", async (embedded) => {
    const gateway = await embedding({ json: { data: [{ index: 0, embedding: embedded }] } });
    const answer = await gateway.post("/v1/embeddings", { ...BODY, encoding_format: "base64" });
    expect(answer.status).toBe(503);
  });

  /** A gateway whose provider speaks the content-generation protocol. */
  const openGoogle = async (reply: Reply) => {
    const upstream = new ScriptedUpstream(() => reply);
    const gateway = await createGateway({
      upstream,
      env: { PROVIDER_DRIVER: "gemini" },
      config: { embeddings: { provider: "upstream" }, accounts: [{ token: "key-a" }] },
    });
    const ask = (verb: string, body: object) =>
      gateway.post(`/v1beta/models/gemini-embedding-2:${verb}`, body);
    return { post: gateway.post.bind(gateway), upstream, ask };
  };
  const IMAGE = { inlineData: { mimeType: "image/png", data: "AAAA" } };
  const MODEL = "models/gemini-embedding-2";

  test("of images reach a provider of the same protocol as they are", async () => {
    const usageMetadata = {
      promptTokenCount: 7,
      promptTokensDetails: [{ modality: "IMAGE", tokenCount: 7 }],
    };
    const reply = { embedding: { values: [1], shape: [1] }, usageMetadata, future: true };
    const gateway = await openGoogle({ json: reply });
    const content = { role: "user", parts: [IMAGE, { text: "a cat" }] };
    const answer = await gateway.ask("embedContent", { content, taskType: "RETRIEVAL_QUERY" });
    expect([answer.status, await answer.json()]).toEqual([200, reply]);
    expect(gateway.upstream.asked[0]?.path).toMatch(/:embedContent$/);
    expect(gateway.upstream.asked[0]?.json()).toEqual({ content, taskType: "RETRIEVAL_QUERY", model: MODEL });
  });

  test("of a batch stay a batch there, each with its own size", async () => {
    const gateway = await openGoogle({ json: { embeddings: [{ values: [1] }, { values: [1, 2] }] } });
    const requests = [
      { model: MODEL, content: { parts: [IMAGE] }, outputDimensionality: 1 },
      { model: MODEL, content: { parts: [{ text: "b" }] }, outputDimensionality: 2 },
    ];
    const answer = await gateway.ask("batchEmbedContents", { requests });
    expect(answer.status, await answer.text()).toBe(200);
    expect(gateway.upstream.asked[0]?.json()).toEqual({ requests });
    const one = await openGoogle({ json: { embeddings: [{ values: [1] }] } });
    expect((await one.ask("batchEmbedContents", { requests: requests.slice(0, 1) })).status).toBe(200);
    expect(one.upstream.asked[0]?.path).toMatch(/:batchEmbedContents$/);
  });

  test("of media are a 400 at a provider of another protocol", async () => {
    const google = await openGoogle({ json: { embedding: { values: [1] } } });
    const body = { ...BODY, input: [{ image: "https://example.com/cat.png" }] };
    const refused = await google.post("/v1/embeddings", body);
    const reason = "is no text: this model embeds only texts";
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining(`input[0] ${reason}`),
    ]);
    const gateway = await embedding(VECTORS);
    const path = "/v1beta/models/gemini-embedding-2:embedContent";
    const image = await gateway.post(path, { content: { parts: [{ text: "a" }, IMAGE] } });
    expect([image.status, await image.text()]).toEqual([
      400,
      expect.stringContaining(`content.parts[1] ${reason}`),
    ]);
    expect([...google.upstream.asked, ...gateway.upstream.asked]).toEqual([]);
  });

  test("are texts alone at a provider of another protocol", async () => {
    const upstream = new ScriptedUpstream(() => ({ json: { embeddings: [{ values: [1] }] } }));
    const gateway = await createGateway({
      upstream,
      env: { PROVIDER_DRIVER: "gemini" },
      config: { embeddings: { provider: "upstream" }, accounts: [{ token: "key-a" }] },
    });
    const refused = await gateway.post("/v1/embeddings", { ...BODY, input: [1, 2, 3] });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("texts, not tokens"),
    ]);
    expect(upstream.asked).toEqual([]);
    await gateway.post("/v1/embeddings", { ...BODY, user: "u-1" });
    expect(upstream.asked[0]?.body).not.toContain("u-1");
  });

  test("get the members of each content where the protocol is the same", async () => {
    const upstream = new ScriptedUpstream(() => ({
      json: { embeddings: [{ values: [1] }, { values: [2] }] },
    }));
    const gateway = await createGateway({
      upstream,
      env: { PROVIDER_DRIVER: "gemini" },
      config: { embeddings: { provider: "upstream" }, accounts: [{ token: "key-a" }] },
    });
    const content = (text: string) => ({ content: { parts: [{ text }] } });
    const first = {
      ...content("one"),
      taskType: "RETRIEVAL_DOCUMENT",
      title: "First",
      outputDimensionality: 1,
    };
    const second = { ...content("two"), outputDimensionality: 1 };
    const requests = [first, { ...second, task_type: "RETRIEVAL_QUERY" }];
    const answer = await gateway.post("/v1beta/models/gemini-embedding-001:batchEmbedContents", { requests });
    expect(answer.status, await answer.text()).toBe(200);
    const model = "models/gemini-embedding-001";
    expect(upstream.asked[0]?.json()).toEqual({
      requests: [
        { ...first, model },
        { ...second, taskType: "RETRIEVAL_QUERY", model },
      ],
    });
  });

  test("use a slot of an account", async () => {
    const gateway = await embedding(VECTORS);
    const response = await gateway.post("/v1/embeddings", BODY);
    expect(await response.json()).toMatchObject({
      data: [{ embedding: [0.5, -0.5] }],
      usage: { prompt_tokens: 3 },
    });
    expect(gateway.upstream.asked.map(({ token }) => token)).toEqual(["key-a"]);
  });

  test.each([2 ** 53, 1e30, 1e308, -5, "12", null, undefined])(
    "are counted by an estimate if the provider states %s tokens",
    async (tokens) => {
      const data = [{ index: 0, embedding: [0.5, -0.5] }];
      const gateway = await embedding({ json: { data, usage: { prompt_tokens: tokens } } });
      const { usage } = Object(await (await gateway.post("/v1/embeddings", BODY)).json());
      expect(usage).toEqual({ prompt_tokens: 1, total_tokens: 1 });
    },
  );

  test("are an error if a vector has an invalid number", async () => {
    const body = '{"data":[{"index":0,"embedding":[0.5,2e308]}]}';
    const gateway = await embedding({ body: [body], type: "application/json" });
    const answer = await gateway.post("/v1/embeddings", BODY);
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: "upstream_error" } }]);
  });

  test("use another account if one is refused", async () => {
    const gateway = await embedding(refusal(429, "rate_limited"), VECTORS);
    expect((await gateway.post("/v1/embeddings", BODY)).status).toBe(200);
    expect(gateway.upstream.asked.map(({ token }) => token)).toEqual(["key-a", "key-b"]);
  });

  test("are a 503 when the provider does not answer within 120 s", async () => {
    const gateway = await embedding("hang");
    const answer = gateway.post("/v1/embeddings", BODY);
    // Two accounts are asked.
    await pass(240_000);
    expect(await (await answer).json()).toMatchObject({ error: { code: "upstream_timeout" } });
    expect(gateway.upstream.asked).toHaveLength(2);
  });

  test("end when the client leaves", async () => {
    const gateway = await embedding("hang");
    const client = new AbortController();
    const answer = gateway.post("/v1/embeddings", BODY, { signal: client.signal });
    await pass(1_000);
    client.abort();
    expect((await answer).status).toBe(499);
    expect(gateway.upstream.asked).toMatchObject([{ outcome: "cancelled" }]);
  });
});
