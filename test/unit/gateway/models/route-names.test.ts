import { describe, expect, it } from "vitest";
import { providerSchema } from "../../../../src/core/config/schemas/provider-schema.ts";
import { listAdditionalModels, resolveModel } from "../../../../src/gateway/models/resolve-model.ts";
import { refusalOf } from "../../../support/refusal.ts";

const config = {
  providers: [providerSchema.parse({ id: "vllm", driver: "openai", base_url: "http://vllm.test/v1" })],
  model_routes: {
    "gpt-*": ["provider-v4-flash"],
    "gpt-5*": ["provider-v4-pro"],
    "*-mini": ["vllm/small"],
    exact: ["vllm/exact"],
    "*": ["vllm/other"],
    "vllm/x-*": ["provider-v4-flash"],
    "**": ["provider-v4-vision"],
  },
  model_aliases: {
    best: "exact",
    "gpt-mine": "provider-v4-pro",
    lost: "no-such-route",
  },
};
const id = (name: string) => resolveModel(name, config).id;

describe("a route with a wildcard", () => {
  it.each([
    ["gpt-4o", "provider-v4-flash"],
    ["GPT-4o", "provider-v4-flash"],
    ["gpt-", "provider-v4-flash"],
    ["gpt-4o-nothinking", "provider-v4-flash-nothinking"],
  ])("leads %s to %s", (name, model) => expect(id(name)).toBe(model));

  it("has lower priority than a longer pattern, and than exact names of routes, aliases and models", () => {
    expect(id("gpt-5.1")).toBe("provider-v4-pro");
    expect(id("o9-mini")).toBe("vllm/small");
    expect(id("exact")).toBe("vllm/exact");
    expect(id("gpt-mine")).toBe("provider-v4-pro");
    expect(id("provider-v4-vision")).toBe("provider-v4-vision");
    expect(id("vllm/x-1")).toBe("vllm/x-1");
  });

  it("matches no slash, and only one part of a name", () => {
    expect(id("whatever")).toBe("vllm/other");
    expect(refusalOf(() => resolveModel("other/gpt-4o", config))).toMatchObject({ code: "model_not_found" });
  });

  it("matches no name that is too long to store", () => {
    expect(refusalOf(() => resolveModel(`gpt-${"4".repeat(300)}`, config))).toMatchObject({
      code: "model_not_found",
    });
  });

  it("is not in model lists", () => {
    const names = listAdditionalModels(config).map((model) => model.id);
    expect(names).toContain("exact");
    expect(names.filter((name) => name.includes("*"))).toEqual([]);
  });
});

it("may be the target of an alias, and an alias without a target is no model", () => {
  expect(id("best")).toBe("vllm/exact");
  expect(refusalOf(() => resolveModel("lost", config))).toMatchObject({ code: "model_not_found" });
});
