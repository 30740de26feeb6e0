import { describe, expect, it } from "vitest";
import { providerSchema } from "../../../../src/core/config/schemas/provider-schema.ts";
import type { ModelNameConfig } from "../../../../src/gateway/models/configured-models.ts";
import { listAllModels, resolveModel } from "../../../../src/gateway/models/resolve-model.ts";

const providerWith = (models: object) =>
  providerSchema.parse({ id: "vllm", driver: "openai", base_url: "http://vllm.test/v1", models });

const naming = (models: object, model_routes: ModelNameConfig["model_routes"] = {}): ModelNameConfig => ({
  providers: [providerWith(models)],
  model_routes,
});

const refused = (name: string, models: object) => () => resolveModel(name, naming(models));

describe("a model of a provider", () => {
  it("has the configured properties, and unknown ones otherwise", () => {
    const small = { upstream: "qwen3:8b", thinking: false, vision: false, context: 32_768, output: 4_096 };
    const found = resolveModel("vllm/small", naming({ small }));
    expect(found).toMatchObject({ ...small, id: "vllm/small", search: false });
    const known = { thinking: true, vision: true, upstream: "llama3:70b" };
    for (const model of [{}, { upstream: "llama3:70b" }, "llama3:70b"]) {
      const plain = resolveModel("vllm/llama3:70b", naming({ "llama3:70b": model }));
      expect(plain).toMatchObject(known);
      expect([plain.context, plain.output]).toEqual([undefined, undefined]);
    }
  });

  it.each(["provider-v4-pro", "provider-v4-flash-search"])(
    "with the name %s is requested by that name",
    (name) => {
      for (const models of [{}, { [name]: {} }]) {
        expect(resolveModel(`vllm/${name}`, naming(models))).toMatchObject({
          upstream: name,
          thinking: true,
          search: false,
          vision: true,
        });
      }
      expect(resolveModel(`vllm/${name}-nothinking`, naming({}))).toMatchObject({
        upstream: name,
        thinking: false,
      });
    },
  );

  it("of the sessions protocol has the short name of the canonical model, and its abilities", () => {
    const provider = { ...providerWith({}), driver: "sessions" };
    const pro = { upstream: "pro", thinking: true, search: true, vision: false };
    expect(resolveModel("vllm/provider-v4-pro-search", { providers: [provider] })).toMatchObject(pro);
  });

  it("is found in any case, and by the provider's name", () => {
    const models = { Small: { upstream: "qwen3:8b", context: 8_192 } };
    expect(resolveModel("VLLM/small", naming(models))).toMatchObject({ id: "vllm/Small", context: 8_192 });
    expect(resolveModel("vllm/qwen3:8b", naming(models))).toMatchObject({
      id: "vllm/qwen3:8b",
      upstream: "qwen3:8b",
      context: 8_192,
    });
  });

  it("is not available while it is disabled, by any name", () => {
    const models = { small: { upstream: "qwen3:8b", enabled: false } };
    for (const name of ["small", "SMALL", "qwen3:8b", "small-nothinking", "qwen3:8b-NoThinking"]) {
      expect(refused(`vllm/${name}`, models), name).toThrow(/does not exist/);
    }
    expect(resolveModel("vllm/other", naming(models)).upstream).toBe("other");
    // Another name for the same one is on.
    expect(resolveModel("vllm/qwen3:8b", naming({ ...models, on: "qwen3:8b" })).id).toBe("vllm/qwen3:8b");
  });

  it.each([
    { context: 0 },
    { output: 1.5 },
    { vision: "yes" },
    { upstream: "" },
    { price: { input: -1 } },
    7,
    "",
  ])("is refused with an invalid value: %j", (model) => {
    expect(providerSchema.shape.models.safeParse({ small: model }).error?.issues[0]?.path).toEqual(
      expect.arrayContaining(["small"]),
    );
  });

  it("keeps unknown fields", () => {
    const models = { small: { upstream: "a", family: "qwen" } };
    expect(providerWith(models).models).toEqual(models);
  });

  it("names its replacement for vision or search, also for the variant without thinking", () => {
    const models = {
      blind: { vision: false, search: false },
      off: { vision: true, enabled: false },
      eyes: { upstream: "qwen-vl", vision: true },
      finder: { search: true },
    };
    const blind = resolveModel("vllm/blind", naming(models));
    expect(blind.visionVariant).toMatchObject({ id: "vllm/eyes", upstream: "qwen-vl", thinking: true });
    expect(blind.searchVariant).toMatchObject({ id: "vllm/finder" });
    const silent = resolveModel("vllm/blind-nothinking", naming(models));
    expect(silent.visionVariant).toMatchObject({ id: "vllm/eyes-nothinking", thinking: false });
    expect(resolveModel("vllm/eyes", naming(models))).not.toHaveProperty("sighted");
  });
});

describe("lists of models", () => {
  it("have canonical models first, then enabled ones, then routes with an available model", () => {
    const models = { small: "qwen3:8b", off: { enabled: false }, large: { context: 200_000 } };
    const model_routes = {
      best: ["vllm/large", "vllm/small"],
      nowhere: ["vllm/off"],
      "provider-v4-pro": ["vllm/large"],
      "silent-nothinking": ["vllm/large"],
    };
    const listed = listAllModels(naming(models, model_routes));
    const names = ["vllm/small", "vllm/large", "best", "silent-nothinking"];
    expect(listed.slice(10).map(({ id }) => id)).toEqual(names);
    expect(listed.find(({ id }) => id === "best")).toMatchObject({ provider: "vllm", context: 200_000 });
    for (const name of names) expect(resolveModel(name, naming(models, model_routes)).requested).toBe(name);
    expect(listAllModels({})).toHaveLength(10);
  });
});
