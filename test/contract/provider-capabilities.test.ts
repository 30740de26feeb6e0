import { text } from "node:stream/consumers";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const MODELS = ["qwen3:8b", "nomic-embed-text"];

/** A chat-completions backend that lists its models and embeds each input as its length. */
function startBackend(): Promise<LocalServer> {
  return serve(async (request, response) => {
    const body = await text(request);
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url === "/v1/models") return answer(200, { data: MODELS.map((id) => ({ id })) });
    if (request.url !== "/v1/embeddings") return answer(404, { error: { message: "not here" } });
    const { model, input } = JSON.parse(body);
    if (model !== "nomic-embed-text") return answer(404, { error: { message: `no model ${model}` } });
    // A single text, or the tokens of one, may come without a list.
    const inputs = typeof input === "string" || typeof input[0] === "number" ? [input] : input;
    const data = inputs.map((entry: string, index: number) => ({ index, embedding: [entry.length, 0.5] }));
    return answer(200, { data: data.toReversed(), usage: { prompt_tokens: 7, total_tokens: 7 } });
  });
}

describe("a chat-completions backend", () => {
  let backend: LocalServer;
  let gateway: Gateway | undefined;

  const started = (): Gateway => {
    if (gateway === undefined) throw new Error("the gateway is not running");
    return gateway;
  };

  beforeAll(async () => {
    backend = await startBackend();
    gateway = await startGateway({
      vars: {
        PROVIDER_DRIVER: "openai",
        PROVIDER_BASE_URL: `${backend.origin}/v1`,
        GATEWAY_CONFIG_JSON: JSON.stringify({
          keys: [DEV_KEY],
          accounts: [{ token: "key-of-the-backend" }],
          embeddings: { provider: "upstream" },
        }),
      },
    });
  });

  afterAll(async () => {
    await gateway?.close();
    await backend.close();
  });

  const embed = (body: Record<string, unknown>) =>
    started().fetch("/v1/embeddings", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${DEV_KEY}` },
      body: JSON.stringify({ model: "nomic-embed-text", ...body }),
    });

  it("gets embeddings passed on, in the order of the inputs", async () => {
    const response = await embed({ input: ["a", "bbb"] });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      data: [
        { index: 0, embedding: [1, 0.5] },
        { index: 1, embedding: [3, 0.5] },
      ],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
  });

  it("gives embeddings that the openai SDK reads", async () => {
    const client = new OpenAI({ baseURL: `${started().url}/v1`, apiKey: DEV_KEY, maxRetries: 0 });
    const { data } = await client.embeddings.create({ model: "nomic-embed-text", input: "four" });
    expect(data[0]?.embedding).toEqual([4, 0.5]);
  });

  it("gets tokens as they are, which are those of the caller's tokenizer", async () => {
    const response = await embed({ input: [1, 2, 3] });
    expect(await response.json()).toMatchObject({ data: [{ embedding: [3, 0.5] }] });
  });

  it("has its refusal reported as 503, and holds no slot", async () => {
    const response = await embed({ model: "gpt-4o", input: "x" });
    expect(response.status).toBe(503);
    const headers = { authorization: "Bearer admin" };
    const status = await (await started().fetch("/admin/queue/status", { headers })).json();
    expect(status).toMatchObject({ in_use: 0, waiting: 0 });
  });

  it("has its models listed for administrators", async () => {
    const headers = { authorization: "Bearer admin" };
    const response = await started().fetch("/admin/provider/models", { headers });
    expect(await response.json()).toEqual({ driver: "openai", models: MODELS });
  });
});

describe("a provider without embeddings and a list of models", () => {
  const { fetch, post } = useGateway({
    vars: {
      GATEWAY_CONFIG_JSON: JSON.stringify({ keys: [DEV_KEY], embeddings: { provider: "upstream" } }),
    },
  });

  it("answers 501 for embeddings", async () => {
    const response = await post("/v1/embeddings", { model: "gpt-4o", input: "x" });
    expect(response.status).toBe(501);
  });

  it("answers 501 for the list of its models", async () => {
    const response = await fetch("/admin/provider/models", { headers: { authorization: "Bearer admin" } });
    expect([response.status, await response.json()]).toEqual([501, { detail: expect.any(String) }]);
  });
});
