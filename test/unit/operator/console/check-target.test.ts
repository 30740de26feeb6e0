import { describe, expect, it } from "vitest";
import { checkTarget } from "../../../../src/operator/console/shared/check-target.ts";

const provider = (fields: object) => ({ id: "", models: {}, enabled: true, ...fields });

const vllm = provider({
  id: "vllm",
  models: { "qwen3:8b": "qwen3:8b", small: { upstream: "org/small", enabled: false } },
});

const check = (name: string, resolved = name) =>
  checkTarget(name, resolved, {
    models: ["provider-v4-pro", "house-route", "vllm/qwen3:8b"],
    providers: [vllm, provider({ id: "off", enabled: false }), provider({ id: "closed" })],
    readOffered: async (id) => {
      if (id === "closed") throw new Error("its protocol has no model list");
      return ["llama4:70b"];
    },
  });

describe("a model of a route", () => {
  it.each([
    ["a model of the gateway", "provider-v4-pro", "provider-v4-pro"],
    ["a route, in another case", "House-Route", "House-Route"],
    ["an alias", "gpt-4o", "provider-v4-pro"],
    ["a listed model of a provider", "vllm/qwen3:8b", "vllm/qwen3:8b"],
    ["a model that the provider offers", "VLLM/Llama4:70b", "vllm/Llama4:70b"],
  ])("is known: %s", async (_, name, resolved) => {
    expect(await check(name, resolved)).toEqual({ isKnown: true, problem: "" });
  });

  it.each([
    ["a typing error in the model", "vllm/qwen3:8", /has no model “qwen3:8”/],
    ["a typing error in the provider", "vlm/qwen3:8b", /no provider “vlm”/],
    ["a model that is disabled", "vllm/small", /“small” is disabled/],
    ["a provider that is disabled", "off/any", /“off” is disabled/],
    ["a name that the provider cannot be asked for", "closed/any", /does not list “any”/],
    ["a name that is passed on as unknown", "qwen-3", /No model has the name “qwen-3”/],
  ])("is unknown: %s", async (_, name, problem) => {
    const found = await check(name);
    expect(found.isKnown).toBe(false);
    expect(found.problem).toMatch(problem);
  });
});
