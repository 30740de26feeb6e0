import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";
import { rejectHugeNumbers } from "../../../../../src/operator/admin/editing/number-bounds.ts";

const provider = { id: "cloud", driver: "chat", base_url: "https://cloud.example/v1" };

/** Configurations with a number that is a mistake, how the error names its field, and the bound of the field. */
const MISTAKES: readonly (readonly [field: string, max: number, config: object])[] = [
  [
    "api_keys[1].limits.requests_per_minute",
    1_000_000_000,
    { api_keys: [{ key: "a" }, { key: "b", limits: { requests_per_minute: 99_999_999_999 } }] },
  ],
  [
    "api_keys[0].limits.max_parallel",
    1_000_000_000,
    { api_keys: [{ key: "a", limits: { max_parallel: 1e10 } }] },
  ],
  [
    "teams[0].limits.tokens_per_day",
    1_000_000_000_000_000,
    { teams: [{ id: "a", limits: { tokens_per_day: 9e15 } }] },
  ],
  [
    "users[0].limits.tokens_per_minute",
    1_000_000_000_000_000,
    { users: [{ id: "a", limits: { tokens_per_minute: 9e15 } }] },
  ],
  [
    "tags[0].limits.cost_per_day",
    1_000_000_000_000,
    { tags: [{ id: "a", limits: { cost_per_day: 1e300 } }] },
  ],
  [
    "providers[0].limits.cost_per_month",
    1_000_000_000_000,
    { providers: [{ ...provider, limits: { cost_per_month: 1e13 } }] },
  ],
  [
    "default_provider.limits.requests_per_minute",
    1_000_000_000,
    { default_provider: { limits: { requests_per_minute: 1e10 } } },
  ],
  ["prices.best.output", 1_000_000_000_000, { prices: { best: { output: 1e300 } } }],
  [
    "providers[0].models.best.price.input",
    1_000_000_000_000,
    { providers: [{ ...provider, models: { best: { price: { input: 1e300 } } } }] },
  ],
];

describe("a number out of bounds", () => {
  it.each(MISTAKES)("is rejected by the name of its field: %s", (field, max, config) => {
    expect(() => rejectHugeNumbers(configSchema.parse({}), configSchema.parse(config))).toThrow(
      expect.objectContaining({ message: `${field}: must be at most ${max}` }),
    );
  });

  it.each(MISTAKES)("stays valid if it is already stored: %s", (_field, _max, config) => {
    const stored = configSchema.parse(config);
    expect(() => rejectHugeNumbers(stored, { ...stored, log: { sample: 0 } })).not.toThrow();
  });

  it("does not include the largest allowed number", () => {
    const limits = { requests_per_minute: 1e9, tokens_per_month: 1e15, cost_per_month: 1e12 };
    const config = configSchema.parse({ users: [{ id: "a", limits }], prices: { best: { input: 1e12 } } });
    expect(() => rejectHugeNumbers(configSchema.parse({}), config)).not.toThrow();
  });
});
