import { describe, expect, it } from "vitest";
import * as anthropic from "../anthropic/fake.ts";
import * as gemini from "../gemini/fake.ts";
import * as openai from "../openai/fake.ts";
import * as openaiResponses from "../openai-responses/fake.ts";
import { conversation, FakeUpstream, neverAborted, prepareOptions, readTurn } from "../support.ts";

/** What the public API of most drivers answers to texts. */
const EMBEDDINGS = {
  address: "/v1/embeddings",
  answer: { data: [1, 0].map((index) => ({ index, embedding: [index] })), usage: { prompt_tokens: 3 } },
  broken: [{}, { data: [{ embedding: [0.5] }] }, { data: [{ embedding: ["x"] }, {}] }],
  request: { model: "big-model", input: ["a", "b"], dimensions: 1 },
};

const backends = [
  {
    name: "openai",
    ...openai,
    key: ["authorization", "Bearer token-of-the-account"],
    whole: { choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }] },
    embeddings: EMBEDDINGS,
  },
  {
    name: "openai-responses",
    ...openaiResponses,
    key: ["authorization", "Bearer token-of-the-account"],
    whole: {
      status: "completed",
      output: [{ type: "message", content: [{ type: "output_text", text: "Hi" }] }],
    },
    embeddings: EMBEDDINGS,
  },
  {
    name: "anthropic",
    ...anthropic,
    key: ["x-api-key", "token-of-the-account"],
    whole: { content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn" },
    pages: "?limit=1000",
    embeddings: null,
  },
  {
    name: "gemini",
    ...gemini,
    key: ["x-goog-api-key", "token-of-the-account"],
    whole: { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] },
    version: "/v1beta",
    pages: "?pageSize=1000",
    listed: { models: [{ name: "models/a" }, { name: 5 }, "b", { name: "models/c" }] },
    unlisted: { models: "a" },
    embeddings: {
      address: "/v1beta/models/big-model:batchEmbedContents",
      answer: { embeddings: [{ values: [0] }, { values: [1] }], usageMetadata: { promptTokenCount: 3 } },
      broken: [{}, { embeddings: [{ values: [0.5] }] }, { embeddings: [{ values: ["x"] }, {}] }],
      request: {
        requests: ["a", "b"].map((said) => ({
          model: "models/big-model",
          content: { parts: [{ text: said }] },
          outputDimensionality: 1,
        })),
      },
    },
  },
] as const;

/** What the public API of most drivers lists. */
const LISTED = { data: [{ id: "a", object: "model" }, { id: 5 }, "b", { id: "c" }] };

describe.each(backends)("a backend with an API key, driver $name", (backend) => {
  const { provider, key, whole } = backend;
  const [header, shown] = key;
  const version = "version" in backend ? backend.version : "/v1";
  const open = (respond: () => Response | Promise<Response>) =>
    provider()
      .prepare(conversation(), prepareOptions())
      .open(new FakeUpstream(respond).account, neverAborted(), null);

  it("uses the account's token, or the deployment's, as its key", async () => {
    const driver = provider();
    const credentials = { email: "a@b.example", mobile: "", password: "p", token: "" };
    const fake = new FakeUpstream(() => Response.json({ data: [] }));
    const signal = neverAborted();
    expect(await driver.signIn(credentials, fake.fetch, signal)).toEqual({
      token: "key-of-the-deployment",
      expiresAt: 0,
    });
    expect(await driver.signIn({ ...credentials, token: "own" }, fake.fetch, signal)).toEqual({
      token: "own",
      expiresAt: 0,
    });
    expect(fake.seen).toEqual([]);
  });

  it("has no sessions", () => {
    const driver = provider();
    expect([driver.sessions, driver.resume]).toEqual([undefined, undefined]);
  });

  it("checks a key by listing the models", async () => {
    const outcomes = [200, 404, 405, 401, 500].map((status) => {
      const fake = new FakeUpstream(() => Response.json({}, { status }));
      return provider()
        .checkAccount(fake.account, neverAborted())
        .then(
          () => fake.only(`${version}/models`).headers.get(header),
          (error: unknown) => (error instanceof Error ? error.message : error),
        );
    });
    const refused = "the provider refused the account's token";
    expect(await Promise.all(outcomes)).toEqual([
      shown,
      shown,
      shown,
      refused,
      "the provider failed (status 500)",
    ]);
  });

  it("has the models that it lists", async () => {
    const listed = "listed" in backend ? backend.listed : LISTED;
    const fake = new FakeUpstream(() => Response.json(listed));
    const models = await provider().models?.list(fake.account, neverAborted());
    expect(models?.map(({ name }) => name)).toEqual(["a", "c"]);
    expect(new URL(fake.seen[0]?.url ?? "").search).toBe("pages" in backend ? backend.pages : "");
    const broken = new FakeUpstream(() =>
      Response.json("unlisted" in backend ? backend.unlisted : { data: "a" }),
    );
    await expect(provider().models?.list(broken.account, neverAborted())).rejects.toMatchObject({
      kind: "malformed",
    });
  });

  it.runIf(!("pages" in backend))("has the models of a bare list", async () => {
    const fake = new FakeUpstream(() => Response.json(LISTED.data));
    const models = await provider().models?.list(fake.account, neverAborted());
    expect(models?.map(({ name }) => name)).toEqual(["a", "c"]);
  });

  it("is malformed if it sends something else, and may be unreachable", async () => {
    const page = () => new Response("<html>", { headers: { "content-type": "text/html" } });
    await expect(open(page)).rejects.toMatchObject({ kind: "malformed" });
    const gone = () => Promise.reject(new TypeError("fetch failed"));
    await expect(open(gone)).rejects.toMatchObject({ kind: "unreachable" });
  });

  it("is understood although it does not stream", async () => {
    const turn = await open(() => Response.json(whole));
    expect((await readTurn(turn)).events).toContainEqual({ type: "text", text: "Hi" });
  });

  it("is understood although it does not call its stream an event stream", async () => {
    const headers = { "content-type": "text/plain; charset=utf-8" };
    const { events, failure } = await readTurn(await open(() => new Response(backend.answer, { headers })));
    expect([failure, events.at(-1)]).toEqual([null, { type: "finish", reason: "stop" }]);
  });

  const { embeddings } = backend;
  const wishes = { model: "provider-v4-pro", input: ["a", "b"], dimensions: 1 };
  if (embeddings === null) {
    it("has no embeddings", () => {
      expect(provider().embeddings).toBeUndefined();
    });
  } else {
    it("embeds texts in order", async () => {
      const fake = new FakeUpstream(() => Response.json(embeddings.answer));
      const embedded = await provider().embeddings?.embed(fake.account, wishes, neverAborted());
      expect(embedded).toEqual({ vectors: [[0], [1]], tokens: 3, answer: embeddings.answer });
      expect(fake.only(embeddings.address).json()).toMatchObject(embeddings.request);
    });

    it.each(embeddings.broken)("is malformed unless it has a vector for each text: %j", async (body) => {
      const fake = new FakeUpstream(() => Response.json(body));
      const embedded = provider().embeddings?.embed(fake.account, wishes, neverAborted());
      await expect(embedded).rejects.toMatchObject({ kind: "malformed" });
    });
  }
});
