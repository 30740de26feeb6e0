import { describe, expect, it } from "vitest";
import { providerSchema } from "../../../../src/core/config/schemas/provider-schema.ts";
import { CATALOGUE } from "../../../../src/gateway/models/catalogue.ts";
import { DEFAULT_ALIASES } from "../../../../src/gateway/models/default-aliases.ts";
import { resolveModel } from "../../../../src/gateway/models/resolve-model.ts";
import { refusalOf } from "../../../support/refusal.ts";

const id = (name: string, model_aliases: Record<string, string> = {}) =>
  resolveModel(name, { model_aliases }).id;
const refusal = (name: string) => refusalOf(() => resolveModel(name, {}));

describe("model alias resolution", () => {
  it("prefers a canonical id to aliases (rule 1)", () => {
    for (const model of CATALOGUE) expect(id(model.id, { [model.id]: "provider-v4-vision" })).toBe(model.id);
  });

  it("adds configured aliases to the default ones, which they override (rule 2)", () => {
    expect(id("gpt-4o", { "gpt-4o": "provider-v4-pro" })).toBe("provider-v4-pro");
    expect(id("mine", { mine: "provider-v4-flash-search" })).toBe("provider-v4-flash-search");
  });

  it.each(["gpt-4o", "gpt-5", "o3", "gpt-5-codex", "claude-sonnet-4-5", "modelb-opus-4-1", "gemini-2.5-pro"])(
    "has a default alias for %s (rule 2)",
    (name) => expect(id(name)).toMatch(/^provider-v4-/),
  );

  it("finds a configured alias in any case, like a built-in one (rule 2)", () => {
    expect(id("MY-Model", { "my-model": "provider-v4-pro" })).toBe("provider-v4-pro");
    expect(id("my-model", { "My-Model": "provider-v4-pro" })).toBe("provider-v4-pro");
    expect(id("my-model-NoThinking", { "My-Model": "provider-v4-pro" })).toBe("provider-v4-pro-nothinking");
    expect(id("GPT-4o", { "gpt-4O": "provider-v4-pro" })).toBe("provider-v4-pro");
    expect(id("Provider-V4-Flash", { "PROVIDER-v4-flash": "provider-v4-pro" })).toBe("provider-v4-flash");
  });

  it("prefers the exact spelling of two aliases that differ only in case, else the first (rule 2)", () => {
    const aliases = { Mine: "provider-v4-pro", mine: "provider-v4-vision", MINE: "provider-v4-flash" };
    expect(id("Mine", aliases)).toBe("provider-v4-pro");
    expect(id("mine", aliases)).toBe("provider-v4-vision");
    expect(id("MINE", aliases)).toBe("provider-v4-flash");
    expect(id("mInE", aliases)).toBe("provider-v4-pro");
    expect(id("mInE-nothinking", aliases)).toBe("provider-v4-pro-nothinking");
  });

  it("leads every default alias to a canonical model (rule 2)", () => {
    for (const [name, target] of DEFAULT_ALIASES) {
      expect([name, CATALOGUE.some((model) => model.id === target)]).toEqual([name, true]);
    }
  });

  it("leads -nothinking to the variant without thinking (rule 3)", () => {
    expect(id("gpt-4o-nothinking")).toBe("provider-v4-flash-nothinking");
    expect(id("mine-nothinking", { mine: "provider-v4-pro-search" })).toBe(
      "provider-v4-pro-search-nothinking",
    );
    expect(resolveModel("claude-opus-4-1-nothinking", {}).thinking).toBe(false);
  });

  it("applies -nothinking to a configured alias whose own name ends so (rule 3)", () => {
    expect(id("mine-nothinking", { "mine-nothinking": "provider-v4-pro" })).toBe(
      "provider-v4-pro-nothinking",
    );
    expect(
      id("mine-nothinking", { mine: "provider-v4-flash", "mine-nothinking": "provider-v4-pro-nothinking" }),
    ).toBe("provider-v4-pro-nothinking");
  });

  it("fails for any other name, without guessing by family (rule 4)", () => {
    for (const name of [
      "gpt-99",
      "claude-future",
      "provider-v4",
      "nope-nothinking",
      "__proto__",
      "constructor",
    ]) {
      expect(refusal(name)).toMatchObject({ status: 400, code: "model_not_found", param: "model" });
    }
  });

  it.each([
    "claude-1.3",
    "claude-2",
    "claude-2.1",
    "claude-instant-1.2",
    "modelb-instant-1",
    "gpt-3.5-turbo",
    "openai/gpt-3.5-turbo",
    "anthropic/claude-2.1",
    "Anthropic/Claude-Instant-1",
    "vendorb/modelb-instant-1",
  ])("rejects a retired model (rule 5): %s", (name) => expect(refusal(name).message).toContain("retired"));

  it("has no variant with vision and search", () => {
    expect(refusal("provider-v4-vision-search").code).toBe("model_not_found");
  });
});

describe("a model name of a provider that has names in its addresses", () => {
  const provider = (driver: string, models = {}) =>
    providerSchema.parse({ id: "g", driver, base_url: "http://g.test/v1", models });
  const inPaths = { providers: [provider("gemini", { "models/own": "x" })] };

  it.each([
    "g/../../../theirs/models/x",
    "g/gemini-flash/../models/gemini-ultra",
    "g/./gemini-ultra",
    "g/models/../gemini-ultra",
    "g/models//gemini-ultra",
    "g/gemini-flash/",
    "g/models/",
    "g/..",
    "g/..\\models",
    "g/%2e%2e/x",
    "g/x?y",
    "g/x#y",
    "g/a\tb",
    "g/.\n./x",
    "g/\ud800",
    "g/../x-nothinking",
  ])("is rejected if it would change the address: %j", (name) => {
    const refused = expect.objectContaining({ status: 400, code: "model_not_found" });
    expect(() => resolveModel(name, inPaths)).toThrow(refused);
    const unknown_models = { provider: "g" };
    expect(() => resolveModel(name, { ...inPaths, unknown_models })).toThrow(refused);
    expect(() => resolveModel(name.slice(2), { ...inPaths, unknown_models })).toThrow(refused);
  });

  it("may have parts of its path before it", () => {
    for (const name of ["g/gemini-ultra", "g/models/gemini-ultra", "g/models/models/gemini-ultra"]) {
      expect(resolveModel(name, inPaths)).toMatchObject({ id: "g/gemini-ultra", upstream: "gemini-ultra" });
    }
    const unknown_models = { provider: "g" };
    expect(resolveModel("models/gemini-ultra", { ...inPaths, unknown_models }).id).toBe("g/gemini-ultra");
    expect(resolveModel("g/tunedModels/mine", inPaths).upstream).toBe("tunedModels/mine");
    expect(resolveModel("g/models/own", inPaths)).toMatchObject({ id: "g/models/own", upstream: "x" });
  });

  it("has at most 200 characters, including the provider's name", () => {
    const providers = [provider("openai")];
    const longest = `g/${"x".repeat(198)}`;
    expect(resolveModel(longest, { providers }).id).toBe(longest);
    for (const name of [`${longest}x`, "x".repeat(500_000)]) {
      const unknown_models = { provider: "default" };
      expect(() => resolveModel(name, { providers, unknown_models })).toThrow(
        expect.objectContaining({
          status: 400,
          code: "model_not_found",
          message: "the name of a model has at most 200 characters",
        }),
      );
    }
  });

  it("may be longer if the operator has configured it", () => {
    const long = "x".repeat(300);
    for (const name of [long, `${long}-nothinking`]) {
      const { id } = resolveModel(name, { model_aliases: { [long]: "provider-v4-pro" } });
      expect(id).toMatch(/^provider-v4-pro/);
    }
  });

  it("may be any text if it is not in addresses, because servers name models by their files", () => {
    const providers = [provider("openai")];
    for (const name of ["/models/llama.gguf", "C:\\models\\llama.gguf", "models/llama", "../llama#1"]) {
      expect(resolveModel(`g/${name}`, { providers }).upstream).toBe(name);
    }
  });
});
