import { describe, expect, it } from "vitest";
import {
  type MessageRequest,
  messageRequestSchema,
  toConversation,
} from "../../../../../src/gateway/dialects/messages/request.ts";
import { refusalOf } from "../../../../support/refusal.ts";

const BASE = { model: "claude-sonnet-4-5", messages: [{ role: "user", content: "hello" }] };

function convert(body: Record<string, unknown>) {
  const parsed: MessageRequest = messageRequestSchema.parse({ ...BASE, ...body });
  return toConversation(parsed, {});
}

const messagesOf = (...messages: unknown[]) => convert({ messages }).messages;
const text = (value: string) => ({ type: "text", text: value });

describe("a message-style request", () => {
  it("may have very many blocks", () => {
    const text = { type: "text", text: "x" };
    const result = { type: "tool_result", tool_use_id: "a", content: "x" };
    const many = <T>(block: T) => Array.from({ length: 300_000 }, () => block);
    const { messages } = convert({
      messages: [
        { role: "user", content: many(result) },
        { role: "user", content: [{ type: "search_result", title: "t", source: "s", content: many(text) }] },
      ],
    });
    expect(messages).toHaveLength(300_001);
    expect(messages.at(-1)?.parts.length).toBeGreaterThan(299_999);
  });

  it("accepts system as a string or blocks with cache_control (assertion 22)", () => {
    expect(convert({ system: "be brief" }).messages[0]).toEqual({
      role: "system",
      parts: [text("be brief")],
    });
    const cached = { ...text("a"), cache_control: { type: "ephemeral", ttl: "1h" } };
    expect(convert({ system: [cached, text("b")] }).messages[0]).toEqual({
      role: "system",
      parts: [{ ...text("a"), cache: { ttl: "1h" } }, text("b")],
    });
  });

  it("accepts content as a string or blocks, each with cache_control (assertion 23)", () => {
    const cache_control = { type: "ephemeral" };
    expect(
      messagesOf(
        { role: "user", content: [{ ...text("a"), cache_control }] },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "t1", name: "go", input: {}, cache_control }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "ok", cache_control }] },
      ),
    ).toEqual([
      { role: "user", parts: [{ ...text("a"), cache: {} }] },
      { role: "assistant", parts: [], toolCalls: [{ id: "t1", name: "go", arguments: "{}", cache: {} }] },
      { role: "tool", callId: "t1", parts: [text("ok")], cache: {} },
    ]);
  });

  it("accepts images and documents by base64, url and file, and text documents as text (assertion 24)", () => {
    const [message] = messagesOf({
      role: "user",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "BBBB" } },
        { type: "document", source: { type: "file", file_id: "file_1" }, title: "report.pdf" },
        {
          type: "document",
          source: { type: "text", media_type: "text/plain", data: "words" },
          title: "Notes",
        },
        { type: "document", source: { type: "content", content: [text("inner")] } },
      ],
    });
    expect(message?.parts).toEqual([
      { type: "image", source: { kind: "inline", data: "AAAA", mediaType: "image/png" } },
      { type: "image", source: { kind: "url", url: "https://example.org/a.png" } },
      { type: "file", source: { kind: "inline", data: "BBBB", mediaType: "application/pdf" } },
      { type: "file", source: { kind: "file", fileId: "file_1" }, filename: "report.pdf" },
      text("Notes\n\n"),
      text("words"),
      text("inner"),
    ]);
  });

  it("accepts tool results as a string, blocks with images, nothing or an error (assertion 25)", () => {
    const result = (extra: Record<string, unknown>) => ({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", ...extra }],
    });
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const parts = (extra: Record<string, unknown>) => messagesOf(result(extra))[0];
    expect(parts({ content: "42" })).toEqual({ role: "tool", callId: "t1", parts: [text("42")] });
    expect(parts({ content: [text("see"), image] })).toEqual({
      role: "tool",
      callId: "t1",
      parts: [
        text("see"),
        { type: "image", source: { kind: "inline", data: "AAAA", mediaType: "image/png" } },
      ],
    });
    expect(parts({})).toEqual({ role: "tool", callId: "t1", parts: [] });
    expect(parts({ content: "boom", is_error: true })).toMatchObject({
      isError: true,
      parts: [text("boom")],
    });
  });

  it("keeps the order of several calls and results, also with text around them (assertion 26)", () => {
    expect(
      messagesOf(
        {
          role: "assistant",
          content: [
            text("let me see"),
            { type: "tool_use", id: "t1", name: "a", input: { x: 1 } },
            { type: "tool_use", id: "t2", name: "b", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t2", content: "second" },
            { type: "tool_result", tool_use_id: "t1", content: "first" },
            text("go on"),
          ],
        },
      ),
    ).toEqual([
      {
        role: "assistant",
        parts: [text("let me see")],
        toolCalls: [
          { id: "t1", name: "a", arguments: '{"x":1}' },
          { id: "t2", name: "b", arguments: "{}" },
        ],
      },
      { role: "tool", callId: "t2", parts: [text("second")] },
      { role: "tool", callId: "t1", parts: [text("first")] },
      { role: "user", parts: [text("go on")] },
    ]);
  });

  it("accepts earlier thinking with any signature, redacted or not (assertion 27)", () => {
    expect(
      messagesOf({
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "" },
          { type: "redacted_thinking", data: "xyz" },
          { type: "thinking", thinking: "m", signature: "abc" },
          text("so"),
        ],
      }),
    ).toEqual([{ role: "assistant", parts: [text("so")], toolCalls: [], reasoning: "hmm" }]);
  });

  it("may end with a message of the assistant (assertion 28)", () => {
    expect(
      messagesOf({ role: "user", content: "a" }, { role: "assistant", content: "The answer is" }).at(-1),
    ).toEqual({ role: "assistant", parts: [text("The answer is")], toolCalls: [] });
  });

  it("may have system messages among the others (assertion 29)", () => {
    expect(messagesOf({ role: "user", content: "a" }, { role: "system", content: [text("now")] })).toEqual([
      { role: "user", parts: [text("a")] },
      { role: "system", parts: [text("now")] },
    ]);
  });

  it.each([
    [undefined, true, false],
    [null, true, false],
    [{}, true, false],
    [{ type: "enabled", budget_tokens: 2000 }, true, true],
    [{ type: "enabled", budget_tokens: 2000, display: "omitted" }, true, false],
    [{ type: "adaptive" }, true, true],
    [{ type: "adaptive", display: "summarized" }, true, true],
    [{ type: "disabled" }, false, false],
  ])("converts thinking %j (assertion 30)", (thinking, thinks, shows) => {
    const conversation = convert({ thinking });
    expect([conversation.thinking, conversation.showReasoning]).toEqual([thinks, shows]);
  });

  it("never thinks with a -nothinking model", () => {
    const conversation = convert({ model: "claude-sonnet-4-5-nothinking", thinking: { type: "enabled" } });
    expect([conversation.thinking, conversation.showReasoning]).toEqual([false, false]);
  });

  it("passes on effort, format and stop sequences, and accepts the rest (assertion 31)", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    const conversation = convert({
      output_config: { effort: "high", format: { type: "json_schema", schema } },
      context_management: { edits: [] },
      metadata: { user_id: "u" },
      service_tier: "auto",
      top_k: 5,
      stop_sequences: ["END"],
      max_tokens: 10,
    });
    expect(conversation.options).toEqual({
      stop: ["END"],
      reasoningEffort: "high",
      topK: 5,
      user: "u",
    });
    expect(conversation.expectedTokens).toBe(10);
    expect(conversation.responseFormat).toEqual({ type: "json-schema", schema });
  });

  it("treats max_tokens as an estimate, not as a limit", () => {
    expect(convert({}).expectedTokens).toBeUndefined();
    expect(convert({ max_tokens: "many" }).expectedTokens).toBeUndefined();
    expect(convert({ max_tokens: 32_000 })).toMatchObject({ expectedTokens: 32_000, options: {} });
  });

  it("uses top_p only without temperature", () => {
    expect(convert({ temperature: 0, top_p: 0.5 }).options).toEqual({ temperature: 0 });
    expect(convert({ top_p: 0.5 }).options).toEqual({ topP: 0.5 });
  });

  it.each([
    [undefined, { type: "auto" }],
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    [{ type: "auto" }, { type: "auto" }],
    [{ type: "any" }, { type: "required" }],
    [{ type: "none" }, { type: "none" }],
    [
      { type: "tool", name: "go" },
      { type: "function", name: "go" },
    ],
    [
      { type: "function", function: { name: "go" } },
      { type: "function", name: "go" },
    ],
  ])("converts tool_choice %j (assertion 32)", (tool_choice, expected) => {
    expect(convert({ tools: [{ name: "go" }], tool_choice }).toolChoice).toEqual(expected);
  });

  it("cannot force a server tool, which is not offered (assertion 32)", () => {
    const tools = [{ name: "go" }, { type: "web_search_20250305", name: "web_search" }];
    const tool_choice = { type: "tool", name: "web_search" };
    expect(convert({ tools, tool_choice }).toolChoice).toEqual({ type: "auto" });
  });

  it("requests a forced web search, and otherwise leaves it to the model (assertion 32)", () => {
    const tools = [{ name: "go" }, { type: "web_search_20250305", name: "web_search", max_uses: 3 }];
    const tool_choice = { type: "tool", name: "web_search" };
    expect(convert({ tools, tool_choice }).webSearch).toEqual({ maxUses: 3, isRequested: true });
    expect(convert({ tools }).webSearch).toEqual({ maxUses: 3 });
    expect(convert({ tools, tool_choice: { type: "tool", name: "go" } }).webSearch).toEqual({ maxUses: 3 });
    expect(convert({ tools, tool_choice: { type: "none" } }).webSearch).toBeUndefined();
  });

  it("accepts disable_parallel_tool_use (assertion 32)", () => {
    expect(
      convert({ tool_choice: { type: "auto", disable_parallel_tool_use: true } }).parallelToolCalls,
    ).toBe(false);
    expect(convert({}).parallelToolCalls).toBe(true);
  });

  it("offers custom tools and vendor tools, but no server tools (assertion 33)", () => {
    const input_schema = { type: "object", properties: { to: { type: "string" } } };
    const { tools } = convert({
      tools: [
        { name: "go", description: "goes", input_schema, cache_control: { type: "ephemeral" } },
        { type: "custom", name: "stay", input_schema, eager_input_streaming: true },
        { type: "web_search_20250305", name: "web_search", max_uses: 3 },
        { type: "bash_20250124", name: "bash" },
      ],
    });
    expect(tools.map(({ name }) => name)).toEqual(["go", "stay", "bash"]);
    expect(tools[0]).toEqual({ name: "go", description: "goes", parameters: input_schema, cache: {} });
    expect(tools[2]?.parameters).toMatchObject({ properties: { command: { type: "string" } } });
  });

  describe("a deferred tool (assertion 33)", () => {
    const LATER = { name: "later", input_schema: { type: "object" }, defer_loading: true };
    const offered = (body: Record<string, unknown>) => convert(body).tools.map(({ name }) => name);
    const found = {
      type: "tool_result",
      tool_use_id: "a",
      content: [{ type: "tool_reference", tool_name: "later" }],
    };
    const called = { type: "tool_use", id: "b", name: "later", input: {} };

    it("is hidden from the model until a result refers to it or it was called", () => {
      const tools = [{ name: "search" }, LATER];
      expect(offered({ tools })).toEqual(["search"]);
      for (const content of [[found], [called]]) {
        const role = content[0] === found ? "user" : "assistant";
        expect(offered({ tools, messages: [...BASE.messages, { role, content }] })).toEqual([
          "search",
          "later",
        ]);
      }
    });

    it.each([
      ["the vendor's search would find it", [{ type: "tool_search_tool_bm25_20251119", name: "s" }, LATER]],
      ["there are no others", [LATER]],
    ])("is offered when %s", (_why, tools) => {
      expect(offered({ tools })).toEqual(["later"]);
    });

    it("is offered if its call is forced", () => {
      const tools = [{ name: "search" }, LATER];
      const { toolChoice } = convert({ tools, tool_choice: { type: "tool", name: "later" } });
      expect(toolChoice).toEqual({ type: "function", name: "later" });
    });
  });

  it("refuses a thread with the error after which the SDK continues without it (assertion 35)", () => {
    expect(refusalOf(() => convert({ thread: { type: "create" } }))).toMatchObject({
      status: 400,
      details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
    });
  });

  it("keeps long descriptions with tags unchanged (assertion 53)", () => {
    const description = "<example>\n<system-reminder>do</system-reminder> ".repeat(2500);
    const { tools, messages } = convert({
      tools: [{ name: "go", description, input_schema: { type: "object" } }],
      system: description,
    });
    expect(tools[0]?.description).toBe(description);
    expect(messages[0]?.parts).toEqual([text(description)]);
  });

  it.each([
    [{ messages: [{ role: "robot", content: "x" }] }, "messages[0].role"],
    [{ messages: [{ role: "user", content: [{ type: "hologram" }] }] }, "messages[0].content[0].type"],
    [{ messages: [{ role: "user", content: [{ type: "text" }] }] }, "messages[0].content[0].text"],
    [{ tool_choice: { type: "tool" } }, "tool_choice.name"],
    [{ tool_choice: "sometimes" }, "tool_choice"],
    [{ tools: [{ name: "go" }], tool_choice: { type: "tool", name: "gone" } }, "tool_choice.name"],
    [{ tool_choice: { type: "tool", name: "go" } }, "tool_choice.name"],
    [{ output_config: { format: { type: "json_schema" } } }, "output_config.format.schema"],
    [{ output_format: { type: "wat" } }, "output_format.type"],
    [{ tools: [{ input_schema: {} }] }, "tools[0].name"],
    [{ model: "no-such-model" }, "model"],
  ])("refuses %j, naming the field", (body, param) => {
    expect(refusalOf(() => convert(body))).toMatchObject({ status: 400, param });
  });
});
