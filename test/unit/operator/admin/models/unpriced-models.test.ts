import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";
import {
  countUnpricedModels,
  countUnpricedProviderModels,
  listUnservedModels,
} from "../../../../../src/operator/admin/models/unpriced-models.ts";

const limits = { cost_per_day: 5 };
const provider = {
  id: "vendor",
  driver: "openai",
  base_url: "https://vendor.example/v1",
  models: { free: "free", paid: { price: { input: 1, output: 2 } } },
};
const config = configSchema.parse({
  providers: [provider],
  model_aliases: { cheap: "vendor/free", dear: "vendor/paid" },
  model_routes: { any: ["vendor/paid", "vendor/free"], priced: ["vendor/free"] },
  prices: { priced: { input: 1, output: 1 } },
  teams: [
    { id: "careful", models: ["vendor/paid"] },
    { id: "careless", models: ["any"] },
  ],
});

/** A deployment with the provider of the variables, which serves the built-in models, and one without it. */
const WITH_DEFAULT = { providerBaseUrl: "https://backend.example" };
const WITHOUT_DEFAULT = { providerBaseUrl: null };

describe("the number of models without a price under a budget of cost", () => {
  it.each([
    ["by its id", { models: ["vendor/free"] }, 1],
    ["by a pattern", { models: ["vendor/*"] }, 1],
    ["by an alias", { models: ["cheap"] }, 1],
    [
      "and its variant without thinking once",
      { models: ["provider-v4-pro", "provider-v4-pro-nothinking"] },
      1,
    ],
    ["by a route that leads to it", { models: ["any"] }, 1],
    ["by a route that has a price itself", { models: ["priced"] }, 0],
    ["with a price", { models: ["vendor/paid", "dear"] }, 0],
    ["that the team of the key does not allow", { models: ["vendor/*"], team: "careful" }, 0],
    ["by a route of the team, for a key without a list", { team: "careless" }, 1],
  ])("counts a model %s", (_, subject, count) => {
    expect(countUnpricedModels(config, { ...subject, limits }, WITH_DEFAULT)).toBe(count);
    expect(countUnpricedModels(config, subject, WITH_DEFAULT)).toBe(0);
  });

  it("is that of its models for a provider", () => {
    expect(countUnpricedProviderModels(config, { limits }, "vendor")).toBe(1);
    expect(countUnpricedProviderModels(config, {}, "vendor")).toBe(0);
  });

  it("is that of all models for a key without a list: those of each provider together", () => {
    const own = countUnpricedProviderModels(config, { limits }, undefined);
    expect(own).toBeGreaterThan(0);
    expect(countUnpricedModels(config, { limits }, WITH_DEFAULT)).toBe(own + 1);
  });

  it("leaves out built-in names if no provider serves them", () => {
    expect(countUnpricedModels(config, { limits }, WITHOUT_DEFAULT)).toBe(1);
  });
});

it("built-in names are not served without the provider of the variables, unless a route leads them elsewhere", () => {
  const routed = configSchema.parse({
    providers: [provider],
    model_routes: { "provider-v4-pro": ["vendor/paid"], mixed: ["provider-v4-flash", "vendor/paid"] },
  });
  expect(listUnservedModels(routed, WITH_DEFAULT)).toEqual([]);
  const unserved = listUnservedModels(routed, WITHOUT_DEFAULT);
  expect(unserved).toContain("provider-v4-flash");
  for (const served of ["provider-v4-pro", "mixed", "vendor/paid"]) expect(unserved).not.toContain(served);
});
