import { describe, expect, it } from "vitest";
import { refusalOf } from "../../../../support/refusal.ts";
import { messagesOf, turnOf } from "./support.ts";

const text = (value: string) => [{ type: "text", text: value }];
const user = (value: string) => ({ role: "user", parts: text(value) });

describe("the input of a responses request", () => {
  it.each([
    ["a string", "hi"],
    ["an item without type", { role: "user", content: "hi" }],
    ["a list of strings", ["hi"]],
    ["a bare part", [{ type: "input_text", text: "hi" }]],
    ["a message item", [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }]],
  ])("may be %s", (_, input) => {
    expect(messagesOf(input)).toEqual([user("hi")]);
  });

  it("may have very many parts", () => {
    const content = Array.from({ length: 300_000 }, () => ({ type: "output_text", text: "x" }));
    expect(messagesOf([{ role: "assistant", content }, "hi"])[0]?.parts).toHaveLength(300_000);
  });

  it("may be chat-completions messages", () => {
    const { conversation } = turnOf({
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: "done" },
      ],
    });
    expect(conversation.messages).toEqual([
      user("hi"),
      { role: "assistant", parts: [], toolCalls: [{ id: "c1", name: "f", arguments: "{}" }] },
      { role: "tool", callId: "c1", parts: text("done") },
    ]);
  });

  it("keeps images and files anywhere", () => {
    const content = [
      { type: "input_image", image_url: "https://example.com/a.png", detail: "high" },
      { type: "input_image", file_id: "file-1", image_url: null },
      { type: "input_file", file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" },
      { type: "input_file", file_url: "https://example.com/b.pdf" },
      { type: "input_file", file_id: "file-2" },
    ];
    expect(messagesOf([{ role: "user", content }])).toEqual([
      {
        role: "user",
        parts: [
          { type: "image", source: { kind: "url", url: "https://example.com/a.png" }, detail: "high" },
          { type: "image", source: { kind: "file", fileId: "file-1" } },
          {
            type: "file",
            source: { kind: "inline", data: "AAAA", mediaType: "application/pdf" },
            filename: "a.pdf",
          },
          { type: "file", source: { kind: "url", url: "https://example.com/b.pdf" } },
          { type: "file", source: { kind: "file", fileId: "file-2" } },
        ],
      },
    ]);
  });

  it("merges the output of one turn into one assistant message", () => {
    const messages = messagesOf([
      { role: "user", content: "weather?" },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
      { type: "function_call", id: "fc_1", call_id: "c1", name: "weather", arguments: '{"city":"Rome"}' },
      { type: "function_call", call_id: "c2", name: "weather", arguments: "" },
      { type: "function_call_output", call_id: "c1", output: "25" },
      { type: "function_call_output", call_id: "c2", output: [{ type: "input_text", text: "9" }] },
      { role: "user", content: "thanks" },
    ]);
    expect(messages).toEqual([
      user("weather?"),
      {
        role: "assistant",
        reasoning: "hm",
        parts: text("I look."),
        toolCalls: [
          { id: "c1", name: "weather", arguments: '{"city":"Rome"}' },
          { id: "c2", name: "weather", arguments: "{}" },
        ],
      },
      { role: "tool", callId: "c1", name: "weather", parts: text("25") },
      { role: "tool", callId: "c2", name: "weather", parts: text("9") },
      user("thanks"),
    ]);
  });

  it("keeps two assistant messages apart, and text after a call with its call", () => {
    expect(
      messagesOf([
        { role: "user", content: "hi" },
        { role: "assistant", content: "one" },
        { role: "assistant", content: "two" },
        { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
        { role: "assistant", content: "three" },
        { type: "function_call_output", call_id: "c1", output: "" },
      ]),
    ).toMatchObject([
      { role: "user" },
      { role: "assistant", parts: text("one"), toolCalls: [] },
      { role: "assistant", parts: [...text("two"), ...text("three")], toolCalls: [{ id: "c1" }] },
      { role: "tool", callId: "c1", parts: [] },
    ]);
  });

  it("keeps other outputs than content as JSON text", () => {
    const outputs = [{ rows: [1, 2] }, [1, 2]].map((output, index) => ({
      type: "function_call_output",
      call_id: `c${index}`,
      output,
    }));
    expect(messagesOf(outputs)).toMatchObject([{ parts: text('{"rows":[1,2]}') }, { parts: text("[1,2]") }]);
  });

  it("keeps calls of tools that run only at the real service", () => {
    expect(
      messagesOf([
        { role: "user", content: "list" },
        { type: "local_shell_call", id: "ls_1", call_id: "c1", action: { type: "exec", command: ["ls"] } },
        { type: "local_shell_call_output", call_id: "c1", output: "a.txt" },
        { type: "custom_tool_call", call_id: "c2", name: "patch", input: "+a" },
        { type: "custom_tool_call_output", call_id: "c2", output: "ok" },
      ]),
    ).toMatchObject([
      { role: "user" },
      { toolCalls: [{ id: "c1", name: "local_shell", arguments: '{"type":"exec","command":["ls"]}' }] },
      { callId: "c1", name: "local_shell", parts: text("a.txt") },
      { toolCalls: [{ id: "c2", name: "patch", arguments: '{"input":"+a"}' }] },
      { callId: "c2", name: "patch", parts: text("ok") },
    ]);
  });

  it("leaves out empty items", () => {
    const silent = [
      { type: "reasoning", summary: [], content: null, encrypted_content: null },
      { type: "item_reference", id: "msg_elsewhere" },
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
      { type: "something_new", payload: 1 },
    ];
    expect(messagesOf([...silent, { role: "user", content: "hi" }, ...silent])).toEqual([user("hi")]);
  });

  it("continues earlier messages, with the instructions first", () => {
    const { conversation, history } = turnOf({ input: "more", instructions: "Be kind." }, [
      { role: "user", parts: [{ type: "text", text: "first" }] },
    ]);
    expect(conversation.messages).toEqual([
      { role: "system", parts: text("Be kind.") },
      user("first"),
      user("more"),
    ]);
    expect(history).toEqual([user("first"), user("more")]);
  });

  it.each([
    [{}, "input"],
    [{ input: [] }, "input"],
    [{ messages: [] }, "messages"],
    [{ input: [7] }, "input[0]"],
    [{ input: [{ role: "wizard", content: "" }] }, "input[0].role"],
    [{ input: [{ role: "user", content: [{ type: "input_audio" }] }] }, "input[0].content[0].type"],
    [{ input: [{ role: "user", content: [{ type: "input_image" }] }] }, "input[0].content[0]"],
    [{ input: "hi", stream: "yes" }, "stream"],
    [{ input: "hi", tools: {} }, "tools"],
    [
      { input: "hi", tools: [{ type: "namespace", tools: [{ type: "function" }] }] },
      "tools[0].tools[0].name",
    ],
    [{ input: "hi", text: { format: { type: "json_schema", name: "x" } } }, "text.format.schema"],
  ])("is refused by its name if malformed: %j", (body, param) => {
    expect(refusalOf(() => turnOf(body))).toMatchObject({ status: 400, param });
  });
});

describe("the options of a responses request", () => {
  it("are passed on when given", () => {
    const { conversation } = turnOf({
      input: "hi",
      temperature: 0.2,
      top_p: 0.9,
      max_output_tokens: 100,
      parallel_tool_calls: false,
      reasoning: { effort: "high" },
      text: { format: { type: "json_schema", name: "answer", schema: { type: "object" }, strict: true } },
    });
    expect(conversation).toMatchObject({
      dialect: "responses",
      options: { temperature: 0.2, topP: 0.9, maxTokens: 100, reasoningEffort: "high" },
      parallelToolCalls: false,
      responseFormat: { type: "json-schema", name: "answer", schema: { type: "object" } },
    });
    expect(
      turnOf({ input: "hi", text: { format: { type: "json_object" } } }).conversation.responseFormat,
    ).toEqual({
      type: "json",
    });
  });

  it.each([
    [{}, true, false],
    [{ reasoning: null }, true, false],
    [{ reasoning: { effort: null, summary: null } }, true, false],
    [{ reasoning: { effort: "low" } }, true, true],
    [{ reasoning: { summary: "auto" } }, true, true],
    [{ reasoning: { effort: "low", summary: "none" } }, true, false],
    [{ reasoning: { effort: "none" } }, false, false],
    [{ reasoning_effort: "high" }, true, true],
    [{ thinking: { type: "disabled" } }, false, false],
    [{ model: "provider-v4-flash-nothinking", reasoning: { effort: "high" } }, false, false],
  ])("set thinking and its display: %j, thinks %s, shows it %s", (body, thinking, showReasoning) => {
    expect(turnOf({ input: "hi", ...body }).conversation).toMatchObject({ thinking, showReasoning });
  });
});

describe("an unsupported field of a responses request", () => {
  it.each([
    ["conversation", "conv_1"],
    ["conversation", { id: "conv_1" }],
    ["prompt", { id: "pmpt_1" }],
    ["background", true],
  ])("is refused by its name: %s, %j", (param, value) => {
    expect(refusalOf(() => turnOf({ input: "hi", [param]: value }))).toMatchObject({ status: 400, param });
  });

  it.each([
    ["conversation", null],
    ["conversation", ""],
    ["prompt", null],
    ["background", false],
    ["background", null],
  ])("is accepted without an effect: %s, %j", (param, value) => {
    expect(turnOf({ input: "hi", [param]: value }).conversation.messages).toHaveLength(1);
  });
});

describe("the tools of a responses request", () => {
  it("are offered if the caller can run them", () => {
    const { conversation, tools } = turnOf({
      input: [
        { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "late" }] },
        "hi",
      ],
      tools: [
        { type: "function", name: "f", description: "F", parameters: { type: "object" }, strict: true },
        { type: "function", name: "g", parameters: null },
        { type: "function", function: { name: "h" } },
        { type: "web_search" },
        { type: "mcp", server_label: "x", server_url: "https://example.com" },
        {
          type: "custom",
          name: "patch",
          description: "P",
          format: { type: "grammar", syntax: "lark", definition: "start: x" },
        },
        { type: "namespace", name: "crm", description: "C", tools: [{ type: "function", name: "find" }] },
        { type: "namespace", name: "erp__", description: "E", tools: [{ type: "function", name: "find" }] },
      ],
    });
    expect(conversation.tools.map(({ name }) => name)).toEqual([
      "f",
      "g",
      "h",
      "patch",
      "crm__find",
      "erp__find",
      "late",
    ]);
    expect(conversation.tools[0]).toEqual({
      name: "f",
      description: "F",
      parameters: { type: "object" },
      strict: true,
    });
    expect(conversation.tools[3]).toMatchObject({
      description: expect.stringContaining("start: x"),
      parameters: { properties: { input: { type: "string" } } },
    });
    expect(tools.findCalledTool("patch")).toEqual({ kind: "custom", name: "patch" });
    expect(tools.findCalledTool("erp__find")).toEqual({ kind: "function", name: "find", namespace: "erp__" });
    expect(tools.findCalledTool("find")).toEqual({ kind: "function", name: "find" });
    expect(tools.findCalledTool("undeclared")).toEqual({ kind: "function", name: "undeclared" });
  });

  it("of a namespace are recognised in earlier calls", () => {
    const namespace = { type: "namespace", name: "crm", tools: [{ type: "function", name: "find" }] };
    const call = { type: "function_call", call_id: "c1", name: "find", namespace: "crm", arguments: "{}" };
    expect(messagesOf([{ role: "user", content: "hi" }, call], { tools: [namespace] })[1]).toMatchObject({
      toolCalls: [{ name: "crm__find" }],
    });
  });

  const tools = [
    { type: "function", name: "f" },
    { type: "custom", name: "patch" },
  ];

  it.each([
    [undefined, { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    [
      { type: "function", name: "f" },
      { type: "function", name: "f" },
    ],
    [
      { type: "function", function: { name: "f" } },
      { type: "function", name: "f" },
    ],
    [
      { type: "custom", name: "patch" },
      { type: "function", name: "patch" },
    ],
    [{ type: "web_search_preview" }, { type: "auto" }],
  ])("are chosen by tool_choice %j", (tool_choice, expected) => {
    expect(turnOf({ input: "hi", tools, tool_choice }).conversation.toolChoice).toEqual(expected);
  });

  it("force a web search if tool_choice names it, and otherwise leave it to the model", () => {
    const all = [...tools, { type: "web_search", search_context_size: "low" }];
    const searched = (tool_choice?: unknown) =>
      turnOf({ input: "hi", tools: all, tool_choice }).conversation.webSearch;
    expect(searched({ type: "web_search" })).toEqual({ contextSize: "low", isRequested: true });
    expect(searched()).toEqual({ contextSize: "low" });
    expect(searched("required")).toEqual({ contextSize: "low" });
    expect(searched("none")).toBeUndefined();
  });

  it("are narrowed by allowed_tools", () => {
    const tool_choice = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] };
    expect(turnOf({ input: "hi", tools, tool_choice }).conversation).toMatchObject({
      toolChoice: { type: "required" },
      tools: [{ name: "f" }],
    });
  });

  it("are not offered if the allowed ones run elsewhere", () => {
    const tool_choice = { type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }] };
    expect(turnOf({ input: "hi", tools, tool_choice }).conversation).toMatchObject({
      toolChoice: { type: "auto" },
      tools: [],
    });
  });

  const allowed = (...names: string[]) => ({
    type: "allowed_tools",
    mode: "auto",
    tools: names.map((name) => ({ type: "function", name })),
  });
  it.each([
    ["maybe", "tool_choice"],
    [7, "tool_choice"],
    [{}, "tool_choice"],
    [{ type: "wat" }, "tool_choice"],
    [{ type: "function" }, "tool_choice"],
    [{ type: "function", name: "unknown" }, "tool_choice"],
    [{ type: "allowed_tools", mode: "auto" }, "tool_choice.tools"],
    [{ ...allowed("f"), mode: "never" }, "tool_choice.mode"],
    [allowed("f", "unknown"), "tool_choice.tools[1]"],
  ])("cannot be chosen by a malformed tool_choice: %j", (tool_choice, param) => {
    expect(refusalOf(() => turnOf({ input: "hi", tools, tool_choice }))).toMatchObject({
      status: 400,
      param,
    });
  });
});
