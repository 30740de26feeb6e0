import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../src/core/config/schema.ts";
import {
  computeCostNano,
  findModelPrice,
  findPrice,
  fromNano,
  listUnpricedParts,
} from "../../../../src/records/usage/prices.ts";

describe("prices", () => {
  const tokens = { promptTokens: 1_000_000, cachedTokens: 400_000, completionTokens: 100_000 };

  it("apply to a million tokens: uncached input, cached input, and output", () => {
    const nano = computeCostNano({ input: 2, cache_read: 0.5, output: 10 }, tokens);
    expect(fromNano(nano)).toBe(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10);
  });

  it("for cached tokens may have their older name, unless the current one is set", () => {
    const older = { input: 2, cached_input: 0.5, output: 10 };
    expect(computeCostNano(older, tokens)).toBe(
      computeCostNano({ input: 2, cache_read: 0.5, output: 10 }, tokens),
    );
    expect(computeCostNano({ ...older, cache_read: 1 }, tokens)).toBe(
      computeCostNano({ input: 2, cache_read: 1, output: 10 }, tokens),
    );
  });

  it("for cache writes depend on the lifetime of the cache entry", () => {
    const written = { promptTokens: 1_000_000, cacheWrite5mTokens: 100_000, cacheWrite1hTokens: 200_000 };
    const cost = (prices: object) => fromNano(computeCostNano({ input: 2, output: 10, ...prices }, written));
    expect(cost({ cache_write_5m: 2.5, cache_write_1h: 4 })).toBeCloseTo(0.7 * 2 + 0.1 * 2.5 + 0.2 * 4, 9);
    expect(cost({ cache_write_5m: 2.5 })).toBeCloseTo(0.7 * 2 + 0.3 * 2.5, 9);
    expect(cost({ cache_write_1h: 4 })).toBeCloseTo(0.8 * 2 + 0.2 * 4, 9);
    expect(cost({})).toBeCloseTo(2, 9);
  });

  it("for cached tokens are those for input unless set", () => {
    expect(fromNano(computeCostNano({ input: 2, output: 10 }, tokens))).toBe(3);
  });

  it("of the model used take precedence over those of the requested name", () => {
    const prices = { flash: { input: 1, output: 1 }, alias: { input: 2, output: 2 } };
    expect(findPrice(prices, "flash", "alias")?.input).toBe(1);
    expect(findPrice(prices, "vision", "alias")?.input).toBe(2);
    expect(findPrice(prices, "vision", "toString")).toBeNull();
    expect(findPrice(prices, "FLASH", "x")?.input).toBe(1);
    expect(findPrice(prices, "vision", "Alias")?.input).toBe(2);
    expect(findPrice(prices, "flash-nothinking", "Flash-NoThinking")?.input).toBe(1);
    expect(computeCostNano(null, tokens)).toBe(0);
  });

  it("of a model of the default provider also apply with the provider's id before the name", () => {
    const prices = { "llama3.2": { input: 1, output: 1 }, "default/mine": { input: 2, output: 2 } };
    const config = configSchema.parse({ prices });
    expect(findModelPrice(config, "default/llama3.2")?.input).toBe(1);
    expect(findModelPrice(config, "default/Llama3.2-nothinking", "my-route")?.input).toBe(1);
    expect(findModelPrice(config, "default/mine")?.input).toBe(2);
    expect(findModelPrice(config, "default/other")).toBeNull();
  });

  it("are exact for small amounts: a token costs whole billionths", () => {
    expect(computeCostNano({ input: 0.075, output: 0 }, { promptTokens: 1 })).toBe(75);
  });

  it("for audio, images and reasoning are those for other tokens unless set", () => {
    const used = {
      ...{
        promptTokens: 1_000_000,
        cachedTokens: 100_000,
        audioInputTokens: 200_000,
        imageInputTokens: 300_000,
      },
      ...{ completionTokens: 1_000_000, reasoningTokens: 100_000 },
      ...{ audioOutputTokens: 200_000, imageOutputTokens: 300_000 },
    };
    const cost = (prices: object) => fromNano(computeCostNano({ input: 1, output: 10, ...prices }, used));
    expect(cost({})).toBeCloseTo(11, 9);
    expect(cost({ audio_input: 2 })).toBeCloseTo(11.2, 9);
    expect(cost({ image_input: 3 })).toBeCloseTo(11.6, 9);
    expect(cost({ reasoning: 11 })).toBeCloseTo(11.1, 9);
    expect(cost({ audio_output: 20, image_output: 30 })).toBeCloseTo(19, 9);
    // Parts are never more than the whole.
    const odd = { promptTokens: 10, audioInputTokens: 50, completionTokens: 10, imageOutputTokens: 50 };
    const price = { input: 1, output: 1, audio_input: 1_000_000, image_output: 1_000_000 };
    expect(fromNano(computeCostNano(price, odd))).toBe(20);
  });

  it("also apply to seconds of audio and to searches, and missing ones are listed", () => {
    const price = { input: 0, output: 0, audio_hour: 0.36, search_units_1k: 2, web_searches_1k: 10 };
    const used = { audioSeconds: 100, searchUnits: 3, webSearches: 4 };
    expect(fromNano(computeCostNano(price, used))).toBeCloseTo(0.01 + 0.006 + 0.04, 9);
    const prices = { priced: price, plain: { input: 1, output: 1 } };
    const config = configSchema.parse({ prices });
    const partsOf = (model: string, more = {}) => listUnpricedParts(config, { model, ...used, ...more });
    expect(partsOf("priced")).toEqual([]);
    expect(partsOf("priced", { hasUncountedAnswer: true })).toEqual(["answer"]);
    expect(partsOf("plain")).toEqual(["audio_seconds", "search_units", "web_searches"]);
    expect(partsOf("unknown")).toEqual([]);
  });

  it("of a provider's model apply if the list of prices has none", () => {
    const models = { small: { upstream: "qwen3:8b", price: { input: 1, output: 2 } }, free: "gemma" };
    const provider = { id: "vllm", driver: "openai", base_url: "http://vllm.test/v1", models };
    const config = configSchema.parse({ providers: [provider] });
    for (const name of ["vllm/small", "vllm/qwen3:8b", "vllm/small-nothinking"]) {
      expect(findModelPrice(config, name, "alias"), name).toEqual({ input: 1, output: 2 });
    }
    for (const name of ["vllm/free", "small", "other/small"]) expect(findModelPrice(config, name)).toBeNull();
    const priced = { ...config, prices: { alias: { input: 7, output: 7 } } };
    expect(findModelPrice(priced, "vllm/small", "alias")?.input).toBe(7);
  });
});
