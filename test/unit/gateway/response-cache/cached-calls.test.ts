import { describe, expect, it } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";

const make = useMemoryGateway();

const ANSWERS: Readonly<Record<string, object>> = {
  "/v1/moderations": { id: "modr-1", model: "m", results: [{ flagged: false }] },
  "/v1/rerank": { results: [], meta: { billed_units: { search_units: 2 } } },
  "/v1/images/generations": { created: 1, data: [{ b64_json: "aQ==" }] },
  "/v1/embeddings": { data: [{ index: 0, embedding: [1, 0] }], usage: { prompt_tokens: 4 } },
};

/** A gateway with a provider whose answers are cached, and a client of it. */
async function createClient(more: object = {}, rules: object = {}) {
  let asked = 0;
  const upstream = new ScriptedUpstream(({ path }) => {
    asked += 1;
    return { json: ANSWERS[path] ?? {} };
  });
  const engine = { id: "engine", driver: "openai", base_url: "http://engine.test/v1", token: "token" };
  const gateway = await make({
    upstream,
    config: {
      keys: [],
      api_keys: [{ key: KEY, ...rules }],
      embeddings: { provider: "builtin" },
      providers: [{ ...engine, models: { m: {} }, cache: { ttl_seconds: 600 }, ...more }],
    },
  });
  const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await gateway.post(path, { model: "engine/m", ...body }, { headers });
    const text = await response.text();
    await gateway.settle();
    return { status: response.status, cache: response.headers.get("x-gateway-cache"), text };
  };
  return { gateway, ask, count: () => asked };
}

describe("an equal request without a conversation", () => {
  it.each([
    ["/v1/moderations", { input: "mild" }],
    ["/v1/rerank", { query: "q", documents: ["a"] }],
    ["/v1/images/generations", { prompt: "a cat" }],
    ["/v1/embeddings", { input: ["a"] }],
  ])("gets the stored answer of %s", async (path, body) => {
    const { gateway, ask, count } = await createClient();
    const first = await ask(path, body);
    expect(first).toMatchObject({ status: 200, cache: "miss" });
    expect(await ask(path, { ...body, user: "ada" })).toEqual({ ...first, cache: "hit" });
    expect(count()).toBe(1);
    expect(await ask(path, { ...body, more: 1 })).toMatchObject({ cache: "miss" });
    expect(await ask(path, body, { "cache-control": "no-store" })).toMatchObject({ cache: "miss" });
    expect(await ask(path, body, { "x-gateway-tags": "nightly" })).toMatchObject({ cache: "hit" });
    await gateway.expectIdle();
  });

  it("gets a new answer if none is stored", async () => {
    const off = await createClient({ cache: { ttl_seconds: 0 } });
    expect(await off.ask("/v1/moderations", { input: "x" })).toMatchObject({ cache: null });
    for (const rules of [{ history: "no_texts" }, { cache: { ttl_seconds: 0 } }]) {
      const { ask, count } = await createClient({}, rules);
      for (let time = 0; time < 2; time += 1) await ask("/v1/moderations", { input: "x" });
      expect(count()).toBe(2);
    }
    const { ask, count } = await createClient();
    for (let time = 0; time < 2; time += 1) await ask("/v1/images/edits", { images: [{ file_id: "f" }] });
    for (let time = 0; time < 2; time += 1) await ask("/v1/moderations", { input: "x", stream: true });
    expect(count()).toBe(4);
  });

  it("counts as a request of its key, but its tokens do not", async () => {
    const { gateway, ask } = await createClient(
      {},
      { limits: { requests_per_minute: 2, tokens_per_day: 1_000 } },
    );
    expect((await ask("/v1/embeddings", { input: "a" })).cache).toBe("miss");
    expect((await ask("/v1/embeddings", { input: "a" })).cache).toBe("hit");
    expect((await ask("/v1/embeddings", { input: "a" })).status).toBe(429);
    const [use] = await gateway.platform.accounts.listSubjectUsage();
    expect(use).toMatchObject({ minute: { requests: 2 }, day: { tokens: 4 } });
  });
});
