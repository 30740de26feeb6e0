import { GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { useGateway } from "../support/use-gateway.ts";

const test = useGateway();
const { post } = test;
const configured = useGateway({
  vars: { GATEWAY_CONFIG_JSON: JSON.stringify({ keys: ["sk-dev"], embeddings: { provider: "builtin" } }) },
});

interface Embeddings {
  object: string;
  model: string;
  data: { object: string; index: number; embedding: number[] | string }[];
  usage: { prompt_tokens: number; total_tokens: number };
}

const embed = async (extra: Record<string, unknown>): Promise<Embeddings> => {
  const response = await configured.post("/v1/embeddings", { model: "text-embedding-3-small", ...extra });
  expect(response.status).toBe(200);
  return response.json();
};

describe("POST /v1/embeddings", () => {
  it("answers 501 in the standard error format without embeddings.provider", async () => {
    const response = await post("/v1/embeddings", { model: "gpt-4o", input: "x" });
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({
      error: {
        message: expect.stringMatching(/set embeddings\.provider to upstream .+ or builtin /),
        code: "embeddings_not_configured",
      },
    });
  });

  it.each([
    ["/v1/embeddings", { model: "text-embedding-3-small", input: "x" }],
    ["/v1/messages/count_tokens", { model: "claude-sonnet-5", messages: [{ role: "user", content: "x" }] }],
    ["/v1/responses/input_tokens", { model: "gpt-5", input: "x" }],
    ["/v1beta/models/gemini-2.5-pro:countTokens", { contents: [{ parts: [{ text: "x" }] }] }],
  ])("accepts any token at %s, where no provider is asked", async (path, body) => {
    const headers = { authorization: "Bearer totally-wrong", "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    expect((await configured.fetch(path, init)).status).toBe(200);
  });

  it.each([
    ["a string", "hello", 1],
    ["an array of strings", ["a", "b", "c"], 3],
    ["a token array", [1, 2, 3], 1],
    ["an array of token arrays", [[1, 2], [3]], 2],
  ])("embeds %s", async (_name, input, count) => {
    const body = await embed({ input });
    expect(body.object).toBe("list");
    expect(body.data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(body.usage.prompt_tokens).toBeGreaterThan(0);
  });

  it("has the requested dimensions, and states the requested model", async () => {
    const body = await embed({ input: "x", dimensions: 64 });
    expect(body.data[0]?.embedding).toHaveLength(64);
    expect(body.model).toBe("text-embedding-3-small");
  });

  it.each([
    ["text-embedding-3-small", 1536],
    ["text-embedding-3-large", 3072],
    ["text-embedding-ada-002", 1536],
    ["gemini-embedding-001", 3072],
    ["nomic-embed-text", 768],
    ["gpt-4o", 1536],
  ])("has the usual dimensions of %s by default: %i", async (model, dimensions) => {
    const body = await embed({ input: "x", model });
    expect(body.data[0]?.embedding).toHaveLength(dimensions);
    expect(body.model).toBe(model);
  });

  it("refuses a body that is not UTF-8 for any setting", async () => {
    const body = new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]);
    for (const { fetch } of [test, configured]) {
      const headers = { authorization: "Bearer sk-dev" };
      const response = await fetch("/v1/embeddings", { method: "POST", headers, body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: "invalid json" } });
    }
  });

  it.each([
    { input: [] },
    { input: "" },
    { input: 7 },
    { input: "x", dimensions: 0 },
    { input: "x", encoding_format: "hex" },
    { input: Array(2048).fill("x"), dimensions: 3072 },
    { input: "word ".repeat(400_000) },
  ])("answers 400 to %.80j", async (extra) => {
    const response = await configured.post("/v1/embeddings", { model: "gpt-4o", ...extra });
    expect(response.status).toBe(400);
    await response.body?.cancel();
  });

  it("gives the openai SDK the same numbers as base64 and as float", async () => {
    const client = new OpenAI({ apiKey: "sk-dev", baseURL: `${configured.gateway.url}/v1` });
    const input = "same text";
    const viaBase64 = await client.embeddings.create({
      model: "text-embedding-3-small",
      input,
      dimensions: 16,
    });
    const viaFloat = await embed({ input, dimensions: 16, encoding_format: "float" });
    const floats = viaFloat.data[0]?.embedding;
    if (!Array.isArray(floats)) throw new Error("no float array");
    viaBase64.data[0]?.embedding.forEach((value, index) => {
      expect(value).toBeCloseTo(floats[index] ?? Number.NaN, 6);
    });
  });
});

/** The length of a vector in space. */
const norm = (vector: readonly number[]) => Math.hypot(...vector);

describe("embeddings in the local-runner style", () => {
  const client = () =>
    new Ollama({ host: configured.gateway.url, headers: { authorization: "Bearer sk-dev" } });

  it("work with the ollama SDK for several texts, and for one", async () => {
    const many = await client().embed({ model: "nomic-embed-text:latest", input: ["one", "two"] });
    expect(many).toMatchObject({ model: "nomic-embed-text:latest", load_duration: 0 });
    expect(many.embeddings.map(({ length }) => length)).toEqual([768, 768]);
    expect(many.embeddings.map(norm)).toEqual([expect.closeTo(1, 6), expect.closeTo(1, 6)]);
    expect(many.prompt_eval_count).toBeGreaterThan(0);
    expect(many.total_duration).toBeGreaterThan(0);
    const one = await client().embed({ model: "all-minilm", input: "one", dimensions: 32 });
    expect(one.embeddings.map(({ length }) => length)).toEqual([32]);
    const old = await client().embeddings({ model: "nomic-embed-text", prompt: "one" });
    expect(old.embedding).toEqual(many.embeddings[0]);
  });

  it("are empty if there is nothing to embed", async () => {
    expect((await client().embed({ model: "nomic-embed-text", input: "" })).embeddings).toEqual([]);
    expect((await client().embeddings({ model: "nomic-embed-text", prompt: "" })).embedding).toEqual([]);
  });

  it("fail in the style's format for unknown models, wrong inputs and a missing configuration", async () => {
    await expect(client().embed({ model: "no-such-model", input: "x" })).rejects.toMatchObject({
      status_code: 404,
    });
    const wrong = await configured.post("/api/embed", { model: "all-minilm", input: 7 });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toEqual({ error: expect.stringContaining("input") });
    const missing = await post("/api/embed", { model: "all-minilm", input: "x" });
    expect(missing.status).toBe(501);
    expect(await missing.json()).toEqual({ error: expect.stringContaining("embeddings.provider") });
  });
});

describe("embeddings in the content-generation style", () => {
  const client = () =>
    new GoogleGenAI({ apiKey: "sk-dev", httpOptions: { baseUrl: configured.gateway.url } });

  it("work with the google SDK for several contents, and for one", async () => {
    const config = { taskType: "RETRIEVAL_QUERY" };
    const many = await client().models.embedContent({
      model: "gemini-embedding-001",
      contents: ["one", "two"],
      config,
    });
    expect(many.embeddings?.map(({ values }) => values?.length)).toEqual([3072, 3072]);
    const one = await client().models.embedContent({
      model: "text-embedding-004",
      contents: "one",
      config: { outputDimensionality: 64 },
    });
    expect(one.embeddings?.map(({ values }) => values?.length)).toEqual([64]);
  });

  it("consist of one vector for embedContent, the same as in the other styles", async () => {
    const response = await configured.post("/v1beta/models/text-embedding-004:embedContent", {
      model: "models/text-embedding-004",
      content: { parts: [{ text: "same" }] },
    });
    const { embedding }: { embedding: { values: number[] } } = await response.json();
    const other = await embed({ model: "text-embedding-004", input: "same" });
    expect(embedding.values).toEqual(other.data[0]?.embedding);
  });

  it.each([
    [
      "an image",
      "embedContent",
      { content: { parts: [{ inlineData: { mimeType: "image/png", data: "AA==" } }] } },
    ],
    ["no text", "embedContent", { content: { parts: [] } }],
    [
      "another model than the path's",
      "batchEmbedContents",
      { requests: [{ model: "models/x", content: { parts: [{ text: "x" }] } }] },
    ],
    ["no requests", "batchEmbedContents", { requests: [] }],
  ])("are a 400: %s", async (_, verb, body) => {
    const response = await configured.post(`/v1beta/models/gemini-embedding-001:${verb}`, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { status: "INVALID_ARGUMENT" } });
  });
});
