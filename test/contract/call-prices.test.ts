import { calcPrice } from "@pydantic/genai-prices";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, startVendor, type VendorAnswer } from "../support/passthrough-vendor.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Prices of known models: images, sound, rankings and embeddings cost what the package of the prices says. */

const IMAGE_USAGE = {
  ...{ input_tokens: 100, output_tokens: 4_000, total_tokens: 4_100 },
  input_tokens_details: { text_tokens: 40, image_tokens: 60 },
};
const SPEECH_USAGE = {
  ...{ type: "tokens", input_tokens: 100, output_tokens: 20, total_tokens: 120 },
  input_token_details: { text_tokens: 20, audio_tokens: 80 },
};

function answer(path: string, form: string): VendorAnswer {
  switch (path) {
    case "/v1/images/generations":
      return json({ created: 1, data: [{ b64_json: "aQ==" }], usage: IMAGE_USAGE });
    case "/v1/audio/transcriptions":
      return json({
        text: "Hello.",
        usage: form.includes("whisper-1") ? { type: "duration", seconds: 90 } : SPEECH_USAGE,
      });
    case "/v1/audio/speech":
      return { type: "audio/mpeg", body: new Uint8Array(100) };
    case "/v1/rerank":
      return json({ results: [], meta: { billed_units: { search_units: 2 } } });
    case "/v1/embeddings":
      return json({
        data: [{ index: 0, embedding: [1] }],
        usage: { prompt_tokens: 4_000, total_tokens: 4_000 },
      });
    default:
      return json({ error: { message: `no ${path}` } }, 404);
  }
}

const vendor = await startVendor(({ path, body }) => answer(path, body.toString("latin1")));
afterAll(() => vendor.close());

const gateway = useAdmin({});
const { admin, post } = gateway;

const MODELS = ["gpt-image-1", "gpt-4o-transcribe", "whisper-1", "text-embedding-3-small", "tts-of-ours"];

/** The cost by the package that the prices come from. */
const priceOf = (model: string, usage: Parameters<typeof calcPrice>[0]) =>
  calcPrice(usage, model, { providerId: "openai" })?.total_price ?? Number.NaN;

beforeAll(async () => {
  const provider = {
    id: "vendor",
    driver: "openai",
    base_url: "https://api.openai.com/v1",
    token: "sk-vendor",
  };
  await admin("PUT", "/admin/settings", { embeddings: { provider: "builtin" } });
  await admin("POST", "/admin/providers", provider);
  await admin("POST", "/admin/providers/vendor/models", { models: MODELS });
  // The vendor's prices stay with its models when the address changes.
  await admin("PUT", "/admin/providers/vendor", { base_url: `${vendor.url}/v1` });
});

interface Found {
  readonly key: string;
  readonly requests: number;
}

/** The usage of a key, when it is counted. */
const usageOf = (id: unknown) =>
  until(
    async () => {
      const { items } = (await admin("GET", "/admin/usage?granularity=total&group_by=key")).body;
      const all: readonly Found[] = Object(items);
      return all.find(({ key }) => key === id);
    },
    (item) => item?.requests === 1,
  );

/** The records of a key in the history. */
async function recordsOf(id: unknown) {
  const { items } = (await admin("GET", "/admin/chat-history?page_size=100")).body;
  const all: readonly { key: string; status: string; unpriced?: readonly string[] }[] = Object(items);
  return all.filter(({ key }) => key === id);
}

async function transcribe(model: string, headers: Record<string, string>): Promise<Response> {
  const form = new FormData();
  form.set("model", `vendor/${model}`);
  form.set("file", new Blob(["sound"]), "a.mp3");
  return gateway.fetch("/v1/audio/transcriptions", { method: "POST", headers, body: form });
}

describe("the cost of a request equals its vendor's price list", () => {
  it.each([
    {
      model: "gpt-image-1",
      send: (model: string, headers: Record<string, string>) =>
        post("/v1/images/generations", { model, prompt: "a cat" }, headers),
      cost: priceOf("gpt-image-1", { input_tokens: 100, input_image_tokens: 60, output_tokens: 4_000 }),
      usage: { prompt_tokens: 100, completion_tokens: 4_000, image_input_tokens: 60 },
    },
    {
      model: "gpt-4o-transcribe",
      send: (_: string, headers: Record<string, string>) => transcribe("gpt-4o-transcribe", headers),
      cost: priceOf("gpt-4o-transcribe", { input_tokens: 100, input_audio_tokens: 80, output_tokens: 20 }),
      usage: { prompt_tokens: 100, completion_tokens: 20, audio_input_tokens: 80 },
    },
    {
      model: "whisper-1",
      send: (_: string, headers: Record<string, string>) => transcribe("whisper-1", headers),
      cost: priceOf("whisper-1", { audio_seconds: 90 }),
      usage: { audio_seconds: 90 },
    },
    {
      model: "text-embedding-3-small",
      send: (model: string, headers: Record<string, string>) =>
        post("/v1/embeddings", { model, input: "word ".repeat(4_000) }, headers),
      cost: priceOf("text-embedding-3-small", { input_tokens: 4_000 }),
      usage: { prompt_tokens: 4_000 },
    },
  ])("$model", async ({ model, send, cost, usage }) => {
    const { body: key } = await admin("POST", "/admin/keys", {
      name: model,
      limits: { cost_per_month: 1_000 },
    });
    const response = await send(`vendor/${model}`, { authorization: `Bearer ${key["key"]}` });
    await response.text();
    expect(response.status).toBe(200);
    expect(await usageOf(key["id"])).toMatchObject({ ...usage, cost: expect.closeTo(cost, 9) });
    expect(Number(response.headers.get("x-gateway-cost"))).toBeCloseTo(cost, 9);
    if (model === "text-embedding-3-small") return;
    const [record] = await recordsOf(key["id"]);
    expect(record).toMatchObject({ cost: expect.closeTo(cost, 9) });
    expect(record?.unpriced).toBeUndefined();
  });
});

describe("missing prices", () => {
  it("are named in the history", async () => {
    const { body: key } = await admin("POST", "/admin/keys", { name: "parts" });
    const headers = { authorization: `Bearer ${key["key"]}` };
    const priceTts = await admin("PUT", "/admin/providers/vendor/models/tts-of-ours", {
      price: { input: 1, output: 1 },
    });
    expect(priceTts.status).toBe(200);
    const model = "vendor/tts-of-ours";
    for (const [path, body] of [
      ["/v1/audio/speech", { model, input: "Hello", voice: "alloy" }],
      ["/v1/rerank", { model, query: "q", documents: ["d"] }],
    ] as const) {
      const response = await post(path, body, headers);
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    }
    const records = await until(
      () => recordsOf(key["id"]),
      (items) => items.filter(({ status }) => status === "success").length === 2,
    );
    expect(records.map(({ unpriced }) => unpriced).sort()).toEqual([["answer"], ["search_units"]]);
    await admin("PUT", "/admin/providers/vendor/models/tts-of-ours", {
      price: { input: 0, output: 0, search_units_1k: 2 },
    });
    const { body: spender } = await admin("POST", "/admin/keys", { name: "priced parts" });
    const priced = await post(
      "/v1/rerank",
      { model, query: "q", documents: ["d"] },
      { authorization: `Bearer ${spender["key"]}` },
    );
    await priced.text();
    const totals = await usageOf(spender["id"]);
    expect(totals).toMatchObject({ search_units: 2, cost: expect.closeTo(0.004, 9) });
  });

  it("are counted by model for an entry with a budget of cost", async () => {
    await admin("PUT", "/admin/providers/vendor/models/free", { enabled: true });
    const limits = { cost_per_day: 5 };
    const { body: key } = await admin("POST", "/admin/keys", {
      limits,
      models: ["vendor/free", "vendor/whisper-1"],
    });
    expect(key).toMatchObject({ unpriced_models: 1 });
    const path = `/admin/keys/${key["id"]}`;
    expect((await admin("GET", path)).body).toMatchObject({ unpriced_models: 1 });
    const { body: priced } = await admin("PUT", path, { models: ["vendor/whisper-1"] });
    expect(priced).not.toHaveProperty("unpriced_models");
    const { body: unlimited } = await admin("PUT", path, { models: [], limits: {} });
    expect(unlimited).not.toHaveProperty("unpriced_models");
    expect((await admin("PUT", "/admin/providers/vendor", { limits })).body).toMatchObject({
      unpriced_models: 1,
    });
    const { body: team } = await admin("POST", "/admin/teams", {
      id: "spenders",
      limits,
      models: ["vendor/free"],
    });
    expect(team).toMatchObject({ unpriced_models: 1 });
    await admin("PUT", "/admin/settings", { default_provider: { limits } });
    const { body: own } = await admin("GET", "/admin/providers/default");
    expect(Number(own["unpriced_models"])).toBeGreaterThan(0);
    expect(own["used"]).toMatchObject({ cost_per_day: 0 });
    await admin("PUT", "/admin/settings", { default_provider: { limits: {} } });
  });
});
