import { describe, expect, it } from "vitest";
import { MESSAGE_MODEL_IDS } from "../../../../src/gateway/models/default-aliases.ts";
import { resolveModel } from "../../../../src/gateway/models/resolve-model.ts";

const id = (name: string) => resolveModel(name, {}).id;

describe("names as people type them", () => {
  it.each([
    ["openai/gpt-5.1", "gpt-5.1"],
    ["openai/gpt-oss-120b", "gpt-oss-120b"],
    ["openai/o3", "o3"],
    ["anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"],
    ["anthropic/claude-opus-4.1", "claude-opus-4-1"],
    ["vendorb/modelb-sonnet-4.5", "modelb-sonnet-4-5"],
    ["google/gemini-2.5-pro", "gemini-2.5-pro"],
    ["google/gemma-3-27b-it", "gemma-3-27b-it"],
    ["meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct"],
    ["Qwen/Qwen3-32B", "qwen3-32b"],
    ["mistralai/codestral-latest", "codestral-latest"],
    ["deepseek/deepseek-chat", "deepseek-chat"],
    ["deepseek-ai/DeepSeek-V3", "deepseek-v3"],
    ["x-ai/grok-4", "grok-4"],
  ])("may have their vendor before them: %s is %s", (typed, name) => expect(id(typed)).toBe(id(name)));

  it.each([
    ["claude-sonnet-4.5", "claude-sonnet-4-5"],
    ["claude-sonnet-4.5-20250929", "claude-sonnet-4-5-20250929"],
    ["modelb-haiku-4.5", "modelb-haiku-4-5"],
    ["claude-3.5-sonnet", "claude-3-5-sonnet-latest"],
    ["claude-3.7-sonnet-latest", "claude-3-7-sonnet-latest"],
    ["claude-3-opus", "claude-3-opus-latest"],
  ])("may have points and dates: %s is %s", (typed, name) => expect(id(typed)).toBe(id(name)));

  it.each([
    ["deepseek-chat", "provider-v4-flash"],
    ["deepseek-reasoner", "provider-v4-pro"],
    ["deepseek-v3", "provider-v4-flash"],
    ["deepseek-v3.2", "provider-v4-flash"],
    ["deepseek-r1", "provider-v4-pro"],
    ["deepseek-r1:8b", "provider-v4-pro"],
    ["gpt-oss:20b", "provider-v4-flash"],
    ["gpt-oss:120b-cloud", "provider-v4-flash"],
    ["llama3.1:8b", "provider-v4-flash"],
    ["llama3.2:latest", "provider-v4-flash"],
    ["llama3.2-vision:11b", "provider-v4-vision"],
    ["qwen3:8b", "provider-v4-flash"],
    ["qwen2.5vl:7b", "provider-v4-vision"],
    ["qwen3-coder:30b", "provider-v4-pro"],
    ["gemma3:12b", "provider-v4-flash"],
    ["mistral-small:24b", "provider-v4-flash"],
  ])("include names of other models: %s leads to %s", (typed, target) => expect(id(typed)).toBe(target));

  it("may end with -nothinking", () => {
    expect(id("anthropic/claude-sonnet-4.5-nothinking")).toBe("provider-v4-flash-nothinking");
    expect(id("qwen3:8b-nothinking")).toBe("provider-v4-flash-nothinking");
  });

  it("are not guessed: an unknown vendor, tag or version is refused", () => {
    for (const name of [
      "openai/claude-sonnet-4.5",
      "google/gpt-5",
      "acme/gpt-5",
      "openai/",
      "/gpt-5",
      "openai/gpt-99",
      "openai/openai/gpt-5",
      "claude-sonnet-9.9",
      "llama3.1:9b",
      "qwen3:",
    ]) {
      expect(() => resolveModel(name, {}), name).toThrow("does not exist");
    }
  });

  it("do not appear in the message-style list", () => {
    expect(MESSAGE_MODEL_IDS.filter((name) => /[./:]/.test(name))).toEqual([]);
  });
});
