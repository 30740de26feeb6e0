import { describe, expect, it } from "vitest";
import { isListed } from "../../../../src/core/config/name-list.ts";
import { providerSchema } from "../../../../src/core/config/schemas/provider-schema.ts";
import {
  explainUnknownModel,
  suggestModelNames,
} from "../../../../src/gateway/models/explain-unknown-model.ts";
import { ModelNotFoundError } from "../../../../src/gateway/models/model-not-found.ts";

const ollama = providerSchema.parse({
  id: "ollama",
  driver: "openai",
  base_url: "http://127.0.0.1:11434/v1",
  models: { "llama3.2:3b": "llama3.2:3b", "qwen3-coder": "qwen3-coder" },
});
const names = { providers: [ollama], model_routes: { "team-model": ["provider-v4-flash"] } };

describe("the error of an unknown model", () => {
  it.each([
    ["provider-v4-flahs", "provider-v4-flash"],
    ["Provider-V4-Por", "provider-v4-pro"],
    ["gpt-4oo", "gpt-4o"],
    ["llama3.2:3b", "ollama/llama3.2:3b"],
    ["qwen3-codr", "ollama/qwen3-coder"],
    ["team-modle", "team-model"],
    ["olama/llama3.2:1b", "ollama/llama3.2:1b"],
    ["defualt/llama3.2", "default/llama3.2"],
  ])("suggests similar names for %s: %s", (requested, near) => {
    expect(suggestModelNames(requested, names)[0]).toBe(near);
  });

  it.each(["", "x", "llama-of-my-own", "a".repeat(5_000), "weather"])(
    "suggests nothing for %.20s",
    (requested) => {
      expect(suggestModelNames(requested, names)).toEqual([]);
    },
  );

  it("names the list of models, and suggests nothing to a caller without a key", () => {
    const error = new ModelNotFoundError("gpt-4oo", 'the model "gpt-4oo" does not exist');
    const sandbox = { providerDriver: "sessions", providerBaseUrl: "http://127.0.0.1:1" };
    expect(explainUnknownModel(error, names, sandbox, () => true).message).toMatch(
      /^the model "gpt-4oo" does not exist: did you mean "gpt-4o".*\? GET \/v1\/models lists the models$/,
    );
    expect(explainUnknownModel(error, names, sandbox, null).message).toBe(
      'the model "gpt-4oo" does not exist: GET /v1/models lists the models',
    );
  });

  it.each([
    ["qwen3-codr", "ollama/*", ["ollama/qwen3-coder"]],
    ["team-modle", "ollama/*", []],
    ["olama/llama3.2:1b", "provider-v4-*", []],
    ["team-modle", "team-model", ["team-model"]],
    ["gpt-4oo", "gpt-4o", ["gpt-4o"]],
    ["provider-v4-flahs", "ollama/*", []],
  ])("suggests for %s only what a key for %s may use", (requested, allowed, expected) => {
    const allows = (model: { requested: string; id: string }) =>
      isListed([allowed], model.requested) || isListed([allowed], model.id);
    const suggested = suggestModelNames(requested, names, allows);
    expect(suggested).toEqual(expected);
  });

  it("suggests the default provider's own name only if there is one", () => {
    const engine = { providerDriver: "openai", providerBaseUrl: "http://127.0.0.1:11434/v1" };
    const explain = (requested: string, variables = engine) =>
      explainUnknownModel(new ModelNotFoundError(requested, "unknown"), {}, variables, null).message;
    expect(explain("mine")).toContain('"default/mine"');
    expect(explain("default/mine")).not.toContain("default/default");
    const restricted = explainUnknownModel(new ModelNotFoundError("mine", ""), {}, engine, () => false);
    expect(restricted.message).not.toContain("default/");
    expect(explain("a".repeat(300))).not.toContain("default/");
  });
});
