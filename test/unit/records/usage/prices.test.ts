import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../src/core/config/schema.ts";
import {
  computeCostNano,
  findModelPrice,
  findPrice,
  fromNano,
} from "../../../../src/records/usage/prices.ts";

describe("prices", () => {
  const tokens = { prompt: 1_000_000, cached: 400_000, completion: 100_000 };

  it("are for a million tokens: fresh, from the cache, and answered", () => {
    const nano = computeCostNano({ input: 2, cached_input: 0.5, output: 10 }, tokens);
    expect(fromNano(nano)).toBe(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10);
  });

  it("of what was cached are those of the rest unless they are given", () => {
    expect(fromNano(computeCostNano({ input: 2, output: 10 }, tokens))).toBe(3);
  });

  it("of the model that was used count before those of the name that was asked for", () => {
    const prices = { flash: { input: 1, output: 1 }, alias: { input: 2, output: 2 } };
    expect(findPrice(prices, "flash", "alias")?.input).toBe(1);
    expect(findPrice(prices, "vision", "alias")?.input).toBe(2);
    expect(findPrice(prices, "vision", "toString")).toBeNull();
    expect(findPrice(prices, "FLASH", "x")?.input).toBe(1);
    expect(findPrice(prices, "vision", "Alias")?.input).toBe(2);
    expect(findPrice(prices, "flash-nothinking", "Flash-NoThinking")?.input).toBe(1);
    expect(computeCostNano(null, tokens)).toBe(0);
  });

  it("of cents for a million do not get lost: a token costs whole billionths", () => {
    expect(computeCostNano({ input: 0.075, output: 0 }, { prompt: 1, cached: 0, completion: 0 })).toBe(75);
  });

  it("of a provider's model are those that are said of it, where there are no others", () => {
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
