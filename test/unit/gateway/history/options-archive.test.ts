import { describe, expect, it } from "vitest";
import type { GenerationOptions } from "../../../../src/core/conversation/conversation.ts";
import { serializeOptions } from "../../../../src/gateway/history/options-archive.ts";
import { historyRecordSchema } from "../../../../src/operator/admin/history/archive-answers.ts";
import { conversation } from "../../../support/conversations.ts";

const keep = (text: string) => text;
const tool = { name: "look_up", description: "Mail ada@example.com", parameters: { type: "object" } };

const OPTIONS: Required<GenerationOptions> = {
  temperature: 0.1,
  topP: 0.2,
  topK: 3,
  minP: 0.3,
  presencePenalty: 0.4,
  frequencyPenalty: 0.5,
  repetitionPenalty: 4,
  logitBias: { 5: 6 },
  stop: ["end"],
  maxTokens: 7,
  seed: 9,
  reasoningEffort: "low",
  thinkingBudget: 6,
  verbosity: "long",
  user: "chen",
  promptCacheKey: "shared",
  logprobs: 8,
  n: 2,
  modalities: ["audio"],
};

describe("the archived tools and parameters of a request", () => {
  it("are those that it set, as the API describes", () => {
    const options = JSON.parse(
      serializeOptions(
        conversation({
          tools: [tool],
          toolChoice: { type: "function", name: "look_up" },
          options: { temperature: 0, maxTokens: 5, stop: ["end"] },
          responseFormat: { type: "json-schema", name: "answer", schema: { type: "object" } },
        }),
        keep,
      ),
    );
    expect(options).toEqual({
      tools: [tool],
      tool_choice: { function: "look_up" },
      response_format: { type: "json_schema", name: "answer", schema: { type: "object" } },
      temperature: 0,
      max_tokens: 5,
      stop: ["end"],
    });
    expect(historyRecordSchema().shape.options.parse(options)).toEqual(options);
    expect(JSON.parse(serializeOptions(conversation(), null))).toEqual({ tools: [] });
  });

  it("include every parameter except the end user, which is in the summary", () => {
    const options = JSON.parse(
      serializeOptions(
        conversation({ tools: [tool], options: OPTIONS, parallelToolCalls: false, webSearch: {} }),
        keep,
      ),
    );
    const { tools, parallel_tool_calls, web_search, ...parameters } = options;
    expect({ tools, parallel_tool_calls, web_search }).toEqual({
      ...{ tools: [tool], parallel_tool_calls: false, web_search: true },
    });
    expect(Object.keys(parameters)).toHaveLength(Object.keys(OPTIONS).length - 1);
    expect(Object.values(parameters)).toEqual(expect.arrayContaining([0.1, 4, 6, 8, "long", "shared", 2]));
    expect(historyRecordSchema().shape.options.parse(options)).toEqual(options);
  });

  it("leave out biases that are not for tokens", () => {
    const options = { logitBias: { 50256: -100, "ada@example.com": 1 } };
    expect(JSON.parse(serializeOptions(conversation({ options }), keep)).logit_bias).toEqual({
      50256: -100,
    });
  });

  it("are not stored if they are too long even without the tools", () => {
    const options = { stop: ["x".repeat(300_000)] };
    expect(serializeOptions(conversation({ options }), keep)).toBe("");
  });

  it("are redacted, and stay JSON", () => {
    const hide = (text: string) => text.replace(/\S+@\S+/, "[email]");
    const { tools } = JSON.parse(serializeOptions(conversation({ tools: [tool] }), hide));
    expect(tools).toEqual([{ ...tool, description: "Mail [email]" }]);
  });

  it("are redacted in the names of members, too", () => {
    const hide = (text: string) => text.replace(/\w+@[\w.]+/, "[email]");
    const schema = (properties: object) => ({ type: "object", properties, required: ["ada@example.com"] });
    const own = schema({ "ada@example.com": { type: "string", enum: [1, null] }, city: { type: "number" } });
    const options = JSON.parse(
      serializeOptions(
        conversation({
          tools: [{ name: "look_up", parameters: own }],
          responseFormat: { type: "json-schema", name: "answer", schema: own },
        }),
        hide,
      ),
    );
    const stored = {
      ...schema({ "[email]": { type: "string", enum: [1, null] }, city: { type: "number" } }),
      required: ["[email]"],
    };
    expect(options.tools).toEqual([{ name: "look_up", description: "", parameters: stored }]);
    expect(options.response_format.schema).toEqual(stored);
  });

  it("leave out tools that are too long to store", () => {
    const long = { ...tool, description: "x".repeat(300_000) };
    const text = serializeOptions(conversation({ tools: [long], options: { temperature: 1 } }), keep);
    expect(JSON.parse(text)).toEqual({ tools: [], tools_omitted: true, temperature: 1 });
  });
});
