import OpenAI from "openai";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  events,
  json,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from "../support/passthrough-vendor.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

/** Contract, Response cache: embeddings, and requests that pass through. The vendor's SDK is in front, a vendor behind. */

const SPEECH = Uint8Array.from({ length: 3_000 }, (_, index) => index % 251);

function answer({ path, body, headers }: VendorRequest): VendorAnswer {
  if (headers["content-type"]?.startsWith("multipart/form-data")) return json({ text: "Hello." });
  const { stream, response_format, input }: { stream?: boolean; response_format?: string; input?: unknown } =
    JSON.parse(body.toString());
  if (JSON.stringify(input ?? "").includes("fail")) return json({ error: { message: "no" } }, 500);
  if (JSON.stringify(input ?? "").includes("broken")) return { type: "application/json", body: '{"id":' };
  switch (path) {
    case "/v1/moderations":
      return json({ id: "modr-1", model: "m", results: [{ flagged: false, categories: {} }] });
    case "/v1/rerank":
      return json({
        results: [{ index: 1, relevance_score: 0.9 }],
        meta: { billed_units: { search_units: 1 } },
      });
    case "/v1/images/generations":
      if (stream === true) return events([{ type: "image_generation.completed", b64_json: "aQ==" }]);
      return json({
        created: 1,
        data: [response_format === "url" ? { url: "https://vendor.test/i.png" } : { b64_json: "aQ==" }],
      });
    case "/v1/audio/speech":
      return { type: "audio/mpeg", body: SPEECH };
    case "/v1/embeddings": {
      const count = Array.isArray(input) ? input.length : 1;
      return json({
        data: Array.from({ length: count }, (_, index) => ({ index, embedding: [1, index] })),
        usage: { prompt_tokens: 4 },
      });
    }
    default:
      return json({ error: { message: `no ${path}` } }, 404);
  }
}

const vendor = await startVendor(answer);
afterAll(() => vendor.close());
beforeEach(() => {
  vendor.received.length = 0;
});

const gateway = useAdmin({
  vars: {
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY],
      api_keys: [{ key: "sk-private", name: "private", history: "no_texts" }],
      embeddings: { provider: "builtin" },
      providers: [
        {
          ...{ id: "oa", driver: "openai", base_url: `${vendor.url}/v1`, token: "sk-of-the-vendor" },
          ...{ models: { mine: "real-name" }, cache: { ttl_seconds: 3_600 } },
        },
      ],
    }),
    GATEWAY_CONFIG_WRITEBACK: "true",
  },
});
const { admin, post } = gateway;

const result = (response: Response) => response.headers.get("x-gateway-cache");
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());
const model = "oa/mine";

/** A text that no other test sends. */
const unique = (text: string) => `${text} ${crypto.randomUUID()}`;

describe("an equal request gets the stored answer", () => {
  it.each([
    ["a moderation", "/v1/moderations", () => ({ model, input: unique("mild") })],
    ["a ranking", "/v1/rerank", () => ({ model, query: unique("q"), documents: ["a", "b"] })],
    ["an image", "/v1/images/generations", () => ({ model, prompt: unique("a cat") })],
    ["speech", "/v1/audio/speech", () => ({ model, input: unique("Hello"), voice: "alloy" })],
    ["embeddings", "/v1/embeddings", () => ({ model, input: [unique("a"), "b"] })],
    [
      "embeddings, content generation",
      `/v1beta/models/${model}:batchEmbedContents`,
      () => ({
        requests: [{ model: `models/${model}`, content: { parts: [{ text: unique("a") }] } }],
      }),
    ],
    ["embeddings, model runner", "/api/embed", () => ({ model, input: unique("a") })],
  ])("%s", async (_, path, createBody) => {
    const body = createBody();
    const first = await post(path, body);
    const bytes = await bytesOf(first);
    expect([first.status, result(first), first.headers.get("age")]).toEqual([200, "miss", null]);
    const hit = await until(
      async () => {
        const response = await post(path, body);
        return { response, bytes: await bytesOf(response) };
      },
      ({ response }) => result(response) === "hit",
    );
    const asked = vendor.received.length;
    const again = await post(path, { ...body, ...(path.startsWith("/v1/") ? { user: "ada" } : {}) });
    expect([result(again), await bytesOf(again)]).toEqual(["hit", hit.bytes]);
    expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(Number(again.headers.get("age"))).toBeGreaterThanOrEqual(0);
    if (path !== "/api/embed") expect(hit.bytes).toEqual(bytes);
    expect(vendor.received.length).toBe(asked);
    const fresh = await post(path, body, { "cache-control": "no-cache" });
    expect([result(fresh), (await bytesOf(fresh)).length > 0]).toEqual(["miss", true]);
    expect(vendor.received.length).toBe(asked + 1);
  });

  it("in the format that the OpenAI SDK reads", async () => {
    const client = new OpenAI({ apiKey: DEV_KEY, baseURL: `${gateway.gateway.url}/v1`, maxRetries: 0 });
    const input = unique("read");
    const moderate = () => client.moderations.create({ model, input }).withResponse();
    const first = await moderate();
    const second = await until(moderate, ({ response }) => result(response) === "hit");
    expect(second.data).toEqual(first.data);
    const embed = () => client.embeddings.create({ model, input }).withResponse();
    const vectors = await embed();
    expect((await until(embed, ({ response }) => result(response) === "hit")).data).toEqual(vectors.data);
  });
});

describe("an answer is not stored", () => {
  const cases: readonly [what: string, path: string, body: object, headers?: Record<string, string>][] = [
    ["with an address that expires", "/v1/images/generations", { prompt: "x", response_format: "url" }],
    ["that is a stream", "/v1/images/generations", { prompt: "x", stream: true }],
    ["that is an error", "/v1/moderations", { input: "fail" }],
    ["that is broken", "/v1/moderations", { input: "broken" }],
    ["for a request that names a file", "/v1/images/edits", { prompt: "x", images: [{ file_id: "file-1" }] }],
    ["for a request with no-store", "/v1/moderations", { input: "mild" }, { "cache-control": "no-store" }],
    [
      "for a key whose texts must not be kept",
      "/v1/moderations",
      { input: "mild" },
      { authorization: "Bearer sk-private" },
    ],
  ];
  it.each(cases)("%s", async (_, path, body, headers = {}) => {
    for (let count = 0; count < 3; count += 1) {
      const response = await post(path, { model, ...body }, headers);
      await response.text();
      expect(result(response)).toBe("miss");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  it("for a form", async () => {
    for (let count = 0; count < 2; count += 1) {
      const form = new FormData();
      form.set("model", model);
      form.set("file", new Blob(["sound"]), "a.mp3");
      const response = await gateway.fetch("/v1/audio/transcriptions", {
        method: "POST",
        headers: { authorization: `Bearer ${DEV_KEY}` },
        body: form,
      });
      expect([response.status, result(response)]).toEqual([200, null]);
      await response.text();
    }
  });

  it("for vectors that the gateway computes itself", async () => {
    const response = await post("/v1/embeddings", { model: "text-embedding-3-small", input: "x" });
    expect([response.status, result(response)]).toEqual([200, null]);
  });
});

describe("a cached answer", () => {
  it("counts as a request of its key alone, and is in history and usage", async () => {
    const limits = { requests_per_minute: 3, tokens_per_day: 1_000_000 };
    const { body: added } = await admin("POST", "/admin/keys", { name: "limited", limits });
    const headers = { authorization: `Bearer ${added["key"]}` };
    const input = unique("counted");
    const ask = () => post("/v1/moderations", { model, input }, headers);
    expect(result(await ask())).toBe("miss");
    await new Promise((resolve) => setTimeout(resolve, 200));
    const hits = [await ask(), await ask()];
    expect(hits.map(result)).toEqual(["hit", "hit"]);
    const refused = await ask();
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { error: { code: "rate_limit_exceeded" } },
    ]);
    const usage = await until(
      async () => {
        const { items } = (await admin("GET", "/admin/usage?granularity=total&group_by=key")).body;
        const all: readonly { key: string; requests: number }[] = Object(items);
        return all.find(({ key }) => key === added["id"]);
      },
      (item) => item?.requests === 4,
    );
    expect(usage).toMatchObject({ succeeded: 3, cache_hits: 2 });
    const { body: history } = await admin("GET", "/admin/chat-history?page_size=100");
    const all: readonly { key: string; cached?: boolean; status_code: number }[] = Object(history["items"]);
    const records = all.filter(({ key }) => key === added["id"]);
    expect(records.map(({ cached = false, status_code }) => [cached, status_code])).toEqual([
      [false, 429],
      [true, 200],
      [true, 200],
      [false, 200],
    ]);
  });
});
