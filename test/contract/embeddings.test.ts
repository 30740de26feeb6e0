import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { useGateway } from "../support/use-gateway.ts";

const { post } = useGateway();
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
  it("without embeddings.provider: 501 with the standard error structure", async () => {
    const response = await post("/v1/embeddings", { model: "gpt-4o", input: "x" });
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({
      error: { message: expect.any(String), code: expect.any(String) },
    });
  });

  it.each([
    ["a string", "hello", 1],
    ["an array of strings", ["a", "b", "c"], 3],
    ["a token array", [1, 2, 3], 1],
    ["an array of token arrays", [[1, 2], [3]], 2],
  ])("%s", async (_name, input, count) => {
    const body = await embed({ input });
    expect(body.object).toBe("list");
    expect(body.data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(body.usage.prompt_tokens).toBeGreaterThan(0);
  });

  it("dimensions are honoured, and the alias mapping applies to model", async () => {
    const body = await embed({ input: "x", dimensions: 64 });
    expect(body.data[0]?.embedding).toHaveLength(64);
    expect(body.model).toBe("provider-v4-flash");
  });

  it.each([
    { input: [] },
    { input: "" },
    { input: 7 },
    { input: "x", dimensions: 0 },
    { input: "x", encoding_format: "hex" },
    { input: Array(2048).fill("x"), dimensions: 3072 },
    { input: "word ".repeat(400_000) },
  ])("%.80j is a 400", async (extra) => {
    const response = await configured.post("/v1/embeddings", { model: "gpt-4o", ...extra });
    expect(response.status).toBe(400);
    await response.body?.cancel();
  });

  it("the openai SDK gets the same numbers by base64 and by float", async () => {
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
