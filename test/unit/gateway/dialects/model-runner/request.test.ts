import { describe, expect, it } from "vitest";
import {
  chatSchema,
  generateSchema,
  translateRunnerChatRequest,
  translateRunnerGenerateRequest,
} from "../../../../../src/gateway/dialects/model-runner/request.ts";
import { resolveModel } from "../../../../../src/gateway/models/resolve-model.ts";

const MODEL = resolveModel("provider-v4-flash", {});
const chat = (body: Record<string, unknown>) =>
  translateRunnerChatRequest(chatSchema.parse({ model: "provider-v4-flash", ...body }), MODEL);
const generate = (body: Record<string, unknown>) =>
  translateRunnerGenerateRequest(generateSchema.parse({ model: "provider-v4-flash", ...body }), MODEL);
const text = (value: string) => ({ type: "text", text: value });

describe("a local-runner request", () => {
  it("matches tool results without ids with the calls in their order", () => {
    const call = (name: string) => ({ function: { name, arguments: { a: 1 } } });
    const { messages } = chat({
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hello" },
        { role: "assistant", content: "", thinking: "hm", tool_calls: [call("a"), call("b")] },
        { role: "tool", content: "of b", tool_name: "b" },
        { role: "tool", content: "of a" },
      ],
    });
    const assistant = messages[2];
    if (assistant?.role !== "assistant") throw new Error("the third message is the assistant's");
    const [a, b] = assistant.toolCalls;
    expect(assistant).toMatchObject({
      reasoning: "hm",
      toolCalls: [{ arguments: '{"a":1}' }, { name: "b" }],
    });
    expect(messages.slice(3)).toEqual([
      { role: "tool", callId: b?.id, name: "b", parts: [text("of b")] },
      { role: "tool", callId: a?.id, name: "a", parts: [text("of a")] },
    ]);
  });

  it("accepts base64 images without a type, and finds it from their first bytes", () => {
    const { messages } = chat({
      messages: [{ role: "user", content: "see", images: ["/9j/AAAA", "iVBORw0K"] }],
    });
    expect(messages[0]?.parts).toEqual([
      text("see"),
      { type: "image", source: { kind: "inline", data: "/9j/AAAA", mediaType: "image/jpeg" } },
      { type: "image", source: { kind: "inline", data: "iVBORw0K", mediaType: "image/png" } },
    ]);
  });

  it("streams and thinks by default", () => {
    expect(chat({})).toMatchObject({ stream: true, thinking: true, showReasoning: true });
    expect(chat({ stream: false, think: false })).toMatchObject({ stream: false, thinking: false });
    expect(chat({ think: "high" })).toMatchObject({ thinking: true, options: { reasoningEffort: "high" } });
  });

  it("passes on options, tools and format", () => {
    const schema = { type: "object", properties: {} };
    const conversation = chat({
      tools: [{ type: "function", function: { name: "go", description: "goes", parameters: schema } }],
      options: { temperature: 0, top_p: 0.5, seed: 3, num_predict: 9, stop: ["END"], num_ctx: 4096 },
      format: schema,
      keep_alive: "5m",
    });
    expect(conversation.tools).toEqual([{ name: "go", description: "goes", parameters: schema }]);
    expect(conversation.options).toEqual({
      temperature: 0,
      topP: 0.5,
      seed: 3,
      maxTokens: 9,
      stop: ["END"],
    });
    expect(conversation.responseFormat).toEqual({ type: "json-schema", schema });
    expect(chat({ format: "json", options: { num_predict: -1 } })).toMatchObject({
      responseFormat: { type: "json" },
      options: {},
    });
  });

  it("converts a prompt to a user message after its system text", () => {
    expect(generate({ prompt: "hello", system: "be brief" }).messages).toEqual([
      { role: "system", parts: [text("be brief")] },
      { role: "user", parts: [text("hello")] },
    ]);
  });

  it("tells the model the suffix that follows its text", () => {
    const { messages } = generate({ prompt: "a", suffix: "b" });
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(messages[0]?.parts.at(-1)).toEqual(text("b"));
  });
});
