import { describe, expect, it } from "vitest";
import { addListedModels } from "../../../../src/core/config/provider-models.ts";
import type { JsonObject } from "../../../../src/core/encoding/json.ts";
import { ProviderKnowledge } from "../../../../src/gateway/models/known-models.ts";
import { KNOWN_MODELS } from "../../../../src/gateway/models/known-models-data.ts";
import { createModelDescriber, readStatedModel } from "../../../../src/gateway/models/stated-model.ts";

/** Entries in the form of each vendor's list of models. */
const LISTED = {
  openrouter: {
    id: "anthropic/claude-sonnet-4",
    canonical_slug: "anthropic/claude-4-sonnet-20250522",
    context_length: 1_000_000,
    architecture: {
      modality: "text+image->text",
      input_modalities: ["image", "text", "file"],
      output_modalities: ["text"],
      tokenizer: "Claude",
      instruct_type: null,
    },
    pricing: {
      prompt: "0.000003",
      completion: "0.000015",
      image: "0.0048",
      request: "0",
      web_search: "0",
      internal_reasoning: "0",
      input_cache_read: "0.0000003",
      input_cache_write: "0.00000375",
    },
    top_provider: { context_length: 1_000_000, max_completion_tokens: 64_000, is_moderated: false },
    per_request_limits: null,
    supported_parameters: ["include_reasoning", "max_tokens", "reasoning", "temperature", "tools"],
  },
  openrouterFree: {
    id: "google/gemma-3-4b-it:free",
    context_length: 32_768,
    architecture: { input_modalities: ["text"] },
    pricing: { prompt: "0", completion: "0", image: "0", request: "0", input_cache_read: "0" },
    top_provider: { context_length: 32_768, max_completion_tokens: null },
    supported_parameters: ["max_tokens", "temperature"],
  },
  openrouterAuto: {
    id: "openrouter/auto",
    context_length: 2_000_000,
    pricing: { prompt: "-1", completion: "-1" },
    supported_parameters: [],
  },
  gemini: {
    name: "models/gemini-2.5-flash",
    displayName: "Gemini 2.5 Flash",
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ["generateContent", "countTokens"],
    thinking: true,
  },
  vllm: {
    id: "Qwen/Qwen3-8B",
    object: "model",
    owned_by: "vllm",
    root: "Qwen/Qwen3-8B",
    max_model_len: 40_960,
  },
  groq: {
    id: "llama-3.3-70b-versatile",
    owned_by: "Meta",
    active: true,
    context_window: 131_072,
    max_completion_tokens: 32_768,
    public_apps: null,
  },
  mistral: {
    id: "pixtral-12b-2409",
    capabilities: { completion_chat: true, function_calling: true, vision: true, fine_tuning: false },
    max_context_length: 131_072,
    aliases: ["pixtral-12b"],
  },
  anthropic: {
    type: "model",
    id: "claude-next",
    display_name: "Claude Next",
    max_input_tokens: 200_000,
    max_tokens: 64_000,
    capabilities: { image_input: { supported: true }, thinking: { supported: true, types: {} } },
  },
  litellm: {
    id: "my-model",
    model_info: {
      max_input_tokens: 128_000,
      max_output_tokens: 16_384,
      input_cost_per_token: 0.0000025,
      output_cost_per_token: 0.00001,
      cache_read_input_token_cost: 0.00000125,
      supports_vision: true,
      supports_reasoning: null,
    },
  },
  perMillion: {
    id: "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    context_length: 131_072,
    pricing: { hourly: 0, input: 0.88, output: 0.88, base: 0, finetune: 0 },
  },
  deepinfra: {
    id: "deepseek-ai/DeepSeek-R1",
    metadata: {
      context_length: 163_840,
      max_tokens: 163_840,
      pricing: { input_tokens: 0.45, output_tokens: 2.15, cache_read_tokens: 0 },
    },
  },
  openai: { id: "gpt-4o", object: "model", created: 1_715_367_049, owned_by: "system" },
} as const;

describe("what a provider's list states of a model", () => {
  it.each<[keyof typeof LISTED, object]>([
    [
      "openrouter",
      {
        context: 1_000_000,
        output: 64_000,
        vision: true,
        thinking: true,
        price: { input: 3, output: 15, cache_read: 0.3, cache_write_5m: 3.75 },
      },
    ],
    ["openrouterFree", { context: 32_768, vision: false, thinking: false, price: { input: 0, output: 0 } }],
    ["openrouterAuto", { context: 2_000_000 }],
    ["gemini", { context: 1_048_576, output: 65_536, thinking: true }],
    ["vllm", { context: 40_960 }],
    ["groq", { context: 131_072, output: 32_768 }],
    ["mistral", { context: 131_072, vision: true }],
    ["anthropic", { context: 200_000, output: 64_000, vision: true, thinking: true }],
    [
      "litellm",
      {
        context: 128_000,
        output: 16_384,
        vision: true,
        price: { input: 2.5, output: 10, cache_read: 1.25 },
      },
    ],
    ["perMillion", { context: 131_072, price: { input: 0.88, output: 0.88 } }],
    ["deepinfra", { context: 163_840, output: 163_840, price: { input: 0.45, output: 2.15 } }],
    ["openai", {}],
  ])("is read from an entry in the form of %s", (vendor, expected) => {
    expect(readStatedModel(LISTED[vendor])).toEqual(expected);
  });

  it("ignores invalid sizes, prices and abilities", () => {
    const odd = {
      context_length: "131072",
      max_model_len: -1,
      context_window: 1.5,
      max_completion_tokens: 1e300,
      pricing: { prompt: "", completion: "free" },
      architecture: [],
      capabilities: { vision: "yes" },
      supported_parameters: "reasoning",
      top_provider: null,
      thinking: { supported: 1 },
    };
    expect(readStatedModel(odd)).toEqual({});
    for (const price of [null, "", " ", Number.POSITIVE_INFINITY, 1e9, "-1", [], {}]) {
      expect(readStatedModel({ pricing: { prompt: price, completion: "0.000001" } })).toEqual({});
    }
  });
});

describe("a model that is added from a provider's list", () => {
  const openai = new ProviderKnowledge(KNOWN_MODELS, "https://api.openai.com/v1");
  const describeFrom = (...offered: ({ readonly id: string } & JsonObject)[]) =>
    createModelDescriber(
      offered.map((entry) => ({ name: entry.id, entry })),
      openai,
    );

  it("has what the list states, completed by known properties", () => {
    const known = openai.describe("gpt-4o");
    const stated = { id: "gpt-4o", context_window: 64_000, supports_vision: false };
    const describeModel = describeFrom(stated, LISTED.vllm, { id: "nothing" });
    expect(describeModel("gpt-4o")).toEqual({ ...known, context: 64_000, vision: false });
    expect(describeModel("Qwen/Qwen3-8B")).toEqual({ context: 40_960 });
    expect([describeModel("nothing"), describeModel("not listed")]).toEqual([null, null]);
  });

  it("keeps known prices of caches and searches only if the list states the same price", () => {
    const known = openai.describe("gpt-4o")?.price;
    const same = describeFrom({ ...LISTED.openai, pricing: { prompt: "0.0000025", completion: "0.00001" } });
    expect(same("gpt-4o")?.price).toEqual(known);
    const cheaper = describeFrom({
      ...LISTED.openai,
      pricing: { prompt: "0.000001", completion: "0.00001" },
    });
    expect(cheaper("gpt-4o")?.price).toEqual({ input: 1, output: 10 });
  });

  it("does not change listed models", () => {
    const edited = { price: { input: 1, output: 1 } };
    const describeModel = describeFrom({ ...LISTED.openai, context_window: 64_000 });
    expect(addListedModels({ "gpt-4o": edited }, ["gpt-4o"], true, describeModel)).toEqual({
      "gpt-4o": edited,
    });
  });
});
