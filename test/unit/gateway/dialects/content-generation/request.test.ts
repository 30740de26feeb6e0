import { describe, expect, it } from "vitest";
import { parseWith } from "../../../../../src/core/http/json-body.ts";
import { toJsonSchema } from "../../../../../src/gateway/dialects/content-generation/json-schema.ts";
import {
  contentRequestSchema,
  toConversation,
} from "../../../../../src/gateway/dialects/content-generation/request.ts";
import { selectCapableModel } from "../../../../../src/gateway/generation/routes/model-selection.ts";
import { refusalOf } from "../../../../support/refusal.ts";

const USER = { role: "user", parts: [{ text: "hello" }] };

function convert(body: Record<string, unknown>, path = "gemini-2.5-flash") {
  return toConversation(parseWith(contentRequestSchema, { contents: [USER], ...body }), path, false, {});
}

const FUNCTION = [{ functionDeclarations: [{ name: "shell" }] }];
const text = (value: string) => ({ type: "text", text: value });
const messagesOf = (...contents: unknown[]) => convert({ contents }).messages;

describe("a content-generation request", () => {
  it.each(["gemini-2.5-flash", "models/gemini-2.5-flash", "publishers/google/models/gemini-2.5-flash"])(
    "resolves the model %s (assertion 38)",
    (path) => {
      expect(convert({}, path).model).toMatchObject({ id: "provider-v4-flash" });
    },
  );

  it("accepts systemInstruction with and without a role, as parts or as text (assertion 37)", () => {
    const system = { role: "system", parts: [text("be brief")] };
    for (const systemInstruction of [
      { parts: [{ text: "be brief" }] },
      { role: "user", parts: [{ text: "be brief" }] },
      { parts: { text: "be brief" } },
      "be brief",
    ]) {
      expect(convert({ systemInstruction }).messages[0]).toEqual(system);
    }
  });

  it("converts inlineData and fileData to images and files (assertion 39)", () => {
    const [message] = messagesOf({
      role: "user",
      parts: [
        { inlineData: { mimeType: "image/png", data: "AAAA" } },
        { inlineData: { mimeType: "application/pdf", data: "BBBB", displayName: "a.pdf" } },
        { fileData: { fileUri: "https://example.org/a.png", mimeType: "image/png" } },
        { fileData: { fileUri: "files/abc", mimeType: "application/pdf" } },
      ],
    });
    expect(message?.parts).toEqual([
      { type: "image", source: { kind: "inline", data: "AAAA", mediaType: "image/png" } },
      {
        type: "file",
        source: { kind: "inline", data: "BBBB", mediaType: "application/pdf" },
        filename: "a.pdf",
        mediaType: "application/pdf",
      },
      { type: "image", source: { kind: "url", url: "https://example.org/a.png" } },
      { type: "file", source: { kind: "file", fileId: "abc" }, mediaType: "application/pdf" },
    ]);
  });

  it("matches responses with their calls with and without ids, and keeps the function's result (assertion 40)", () => {
    const call = (name: string, id?: string) => ({
      functionCall: { name, args: { a: 1 }, ...(id ? { id } : {}) },
    });
    const response = (name: string, value: unknown, id?: string) => ({
      functionResponse: { name, response: value, ...(id ? { id } : {}) },
    });
    const messages = messagesOf(
      { role: "model", parts: [call("a"), call("a"), call("b", "x1")] },
      {
        role: "user",
        parts: [
          response("b", { error: "boom" }, "x1"),
          response("a", { output: "first" }),
          response("a", { name: "a", content: "second" }),
          { text: "go on" },
        ],
      },
    );
    const assistant = messages[0];
    if (assistant?.role !== "assistant") throw new Error("the first message is the assistant's");
    const ids = assistant.toolCalls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(messages.slice(1)).toEqual([
      { role: "tool", callId: "x1", name: "b", parts: [text("boom")], isError: true },
      { role: "tool", callId: ids[0], name: "a", parts: [text("first")] },
      { role: "tool", callId: ids[1], name: "a", parts: [text("second")] },
      { role: "user", parts: [text("go on")] },
    ]);
  });

  it("keeps any response object as JSON, with the role function or user (assertions 40 and 47)", () => {
    const parts = [{ functionResponse: { name: "a", response: { temperature: 21, sky: "blue" } } }];
    for (const role of ["user", "function"]) {
      expect(messagesOf({ role, parts })).toMatchObject([
        { role: "tool", name: "a", parts: [text('{"temperature":21,"sky":"blue"}')] },
      ]);
    }
  });

  it("accepts thoughts and their signatures (assertion 41)", () => {
    expect(
      messagesOf({
        role: "model",
        parts: [
          { text: "hm", thought: true, thoughtSignature: "skip_thought_signature_validator" },
          { text: "so" },
        ],
      }),
    ).toEqual([{ role: "assistant", parts: [text("so")], toolCalls: [], reasoning: "hm" }]);
  });

  it("accepts declarations with upper-case types or JSON Schema, and search (assertion 42)", () => {
    const schema = { type: "object", properties: { n: { type: "integer" } } };
    const { tools } = convert({
      tools: [
        {
          functionDeclarations: [
            {
              name: "a",
              description: "does a",
              parameters: { type: "OBJECT", properties: { n: { type: "INTEGER" } } },
            },
            { name: "b", parametersJsonSchema: { ...schema, $schema: "x" } },
            { name: "c" },
          ],
        },
        { googleSearch: {} },
      ],
    });
    expect(tools).toEqual([
      { name: "a", description: "does a", parameters: schema },
      { name: "b", parameters: { ...schema, $schema: "x" } },
      { name: "c" },
    ]);
  });

  it.each([
    [
      "beside functions is left out where another model would have to search",
      FUNCTION,
      "gemini-2.5-flash",
      false,
    ],
    ["beside functions searches with a model that does anyhow", FUNCTION, "provider-v4-flash-search", true],
    ["beside an empty list of functions is alone", [{ functionDeclarations: [] }], "gemini-2.5-flash", true],
    ["alone searches", [], "gemini-2.5-flash", true],
  ])("requests a web search: googleSearch %s", (_, others, path, searches) => {
    for (const search of [{ googleSearch: {} }, { googleSearchRetrieval: {} }]) {
      const asked = convert({ tools: [...others, search] }, path);
      const { model, tools, webSearch } = selectCapableModel(asked, {
        images: "catalogue",
        search: "catalogue",
      });
      expect(model.id).toBe(searches ? "provider-v4-flash-search" : "provider-v4-flash");
      expect(webSearch !== undefined).toBe(searches);
      expect(tools).toEqual(asked.tools);
    }
  });

  const both = [{ functionDeclarations: [{ name: "a" }, { name: "b" }, { name: "c" }] }];
  it.each([
    [undefined, { type: "auto" }, 3],
    [{ mode: "AUTO" }, { type: "auto" }, 3],
    [{ mode: "VALIDATED" }, { type: "auto" }, 3],
    [{ mode: "NONE" }, { type: "none" }, 3],
    [{ mode: "ANY" }, { type: "required" }, 3],
    [{ mode: "ANY", allowedFunctionNames: ["b"] }, { type: "function", name: "b" }, 1],
    [{ allowedFunctionNames: ["b"] }, { type: "auto" }, 1],
    [{ mode: "VALIDATED", allowedFunctionNames: ["b"] }, { type: "auto" }, 1],
    [{ mode: "ANY", allowedFunctionNames: ["a", "b"] }, { type: "required" }, 2],
  ])("converts functionCallingConfig %j (assertion 43)", (functionCallingConfig, toolChoice, offered) => {
    const conversation = convert({ tools: both, toolConfig: { functionCallingConfig } });
    expect(conversation.toolChoice).toEqual(toolChoice);
    expect(conversation.tools).toHaveLength(offered);
  });

  it.each([
    [undefined, true, false],
    [{ includeThoughts: true, thinkingBudget: -1 }, true, true],
    [{ include_thoughts: true }, true, true],
    [{ includeThoughts: false }, true, false],
    [{ thinkingBudget: 0, includeThoughts: true }, false, false],
    [{ thinkingLevel: "HIGH" }, true, false],
  ])("converts thinkingConfig %j (assertion 44)", (thinkingConfig, thinks, shows) => {
    const conversation = convert({ generationConfig: { thinkingConfig } });
    expect([conversation.thinking, conversation.showReasoning]).toEqual([thinks, shows]);
  });

  it.each([[null], [""], [undefined]])("ignores the cachedContent %j", (cachedContent) => {
    expect(convert({ cachedContent }).messages).toHaveLength(1);
  });

  it("passes on sampling options and formats, and accepts the rest (assertions 44 and 45)", () => {
    const conversation = convert({
      generationConfig: {
        temperature: 0.2,
        topP: 0.9,
        topK: 40,
        maxOutputTokens: 100,
        stopSequences: ["END"],
        seed: 7,
        thinkingConfig: { thinkingLevel: "LOW" },
        responseMimeType: "application/json",
        responseSchema: { type: "ARRAY", items: { type: "STRING", nullable: true } },
      },
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    });
    expect(conversation.options).toEqual({
      temperature: 0.2,
      topP: 0.9,
      topK: 40,
      stop: ["END"],
      maxTokens: 100,
      seed: 7,
      reasoningEffort: "low",
    });
    expect(conversation.responseFormat).toEqual({
      type: "json-schema",
      schema: { type: "array", items: { type: ["string", "null"] } },
    });
    expect(convert({ generationConfig: {} }).responseFormat).toEqual({ type: "text" });
    expect(convert({ generationConfig: { responseMimeType: "application/json" } }).responseFormat).toEqual({
      type: "json",
    });
  });

  it("accepts members in snake case, and keeps the caller's own names unchanged", () => {
    const conversation = convert({
      system_instruction: { parts: [{ text: "be brief" }] },
      contents: [
        { parts: [{ inline_data: { mime_type: "image/png", data: "AAAA" } }] },
        { role: "model", parts: [{ function_call: { name: "a", args: { snake_case: 1 } } }] },
      ],
      tools: [
        {
          function_declarations: [
            { name: "a", parameters: { type: "OBJECT", properties: { snake_case: { type: "STRING" } } } },
          ],
        },
      ],
      tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["a"] } },
      generation_config: { max_output_tokens: 5 },
    });
    expect(conversation.messages).toMatchObject([
      { role: "system", parts: [text("be brief")] },
      { role: "user", parts: [{ type: "image" }] },
      { role: "assistant", toolCalls: [{ arguments: '{"snake_case":1}' }] },
    ]);
    expect(conversation.tools[0]?.parameters).toMatchObject({
      properties: { snake_case: { type: "string" } },
    });
    expect(conversation.toolChoice).toEqual({ type: "function", name: "a" });
    expect(conversation.options).toEqual({ maxTokens: 5 });
  });

  it("does not treat a schema's property names as keywords", () => {
    expect(
      toJsonSchema({
        type: "OBJECT",
        properties: { type: { type: "STRING", format: "enum", enum: ["A"] }, nullable: { type: "BOOLEAN" } },
        propertyOrdering: ["type"],
        minProperties: "1",
      }),
    ).toEqual({
      type: "object",
      properties: { type: { type: "string", enum: ["A"] }, nullable: { type: "boolean" } },
      minProperties: 1,
    });
  });

  it.each([
    [{ contents: [] }, "contents"],
    [{ contents: [{ role: "robot", parts: [{ text: "x" }] }] }, "contents[0].role"],
    [{ contents: [{ parts: [{ functionCall: { args: {} } }] }] }, "contents[0].parts[0].functionCall.name"],
    [{ toolConfig: { functionCallingConfig: { mode: "MAYBE" } } }, "toolConfig.functionCallingConfig.mode"],
    [
      {
        tools: [{ functionDeclarations: [{ name: "a" }] }],
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["a", "b"] } },
      },
      "toolConfig.functionCallingConfig.allowedFunctionNames",
    ],
    [{ cachedContent: "cachedContents/1" }, "cachedContent"],
    [{ cached_content: "cachedContents/1" }, "cachedContent"],
  ])("refuses %j, naming the field", (body, param) => {
    expect(refusalOf(() => convert(body))).toMatchObject({ status: 400, param });
  });
});
