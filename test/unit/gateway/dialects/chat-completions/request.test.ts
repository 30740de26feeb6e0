import { describe, expect, it } from "vitest";
import { parseWith } from "../../../../../src/core/http/json-body.ts";
import {
  chatRequestSchema,
  documentedChatRequest,
  translateChatRequest,
} from "../../../../../src/gateway/dialects/chat-completions/request.ts";
import { refusalOf } from "../../../../support/refusal.ts";

const USER = { role: "user", content: "hi" };
const parameters = { type: "object", properties: { city: { type: "string" } } };

function turnOf(body: Record<string, unknown>) {
  const request = parseWith(chatRequestSchema, { model: "gpt-4o", messages: [USER], ...body });
  return translateChatRequest(request, {});
}

const convert = (body: Record<string, unknown>) => turnOf(body).conversation;

describe("the documented body of a chat-completions request", () => {
  const options = {
    ...{ temperature: 1, top_p: 0.5, stop: ["end"], seed: 5, max_tokens: 6, n: 2, reasoning_effort: "low" },
    ...{ top_k: 4, min_p: 0.1, presence_penalty: 1, frequency_penalty: 1, repetition_penalty: 2 },
    ...{ logit_bias: { 5: 1 }, user: "chen", prompt_cache_key: "shared", verbosity: "low" },
    ...{ modalities: ["audio"], logprobs: true },
  };

  it("has every option with an effect, and accepts its values", () => {
    for (const [name, value] of Object.entries(options)) {
      expect(Object.keys(convert({ [name]: value }).options), name).toHaveLength(1);
      expect(Object.keys(documentedChatRequest.shape)).toContain(name);
    }
    const body = { model: "m", messages: [USER], ...options, metadata: { tags: "a,b", own: 1 } };
    expect(documentedChatRequest.parse(body)).toEqual(body);
  });

  it("describes usable values only, while requests with others are accepted", () => {
    const unusable = { top_k: "many", user: 5, logit_bias: [], modalities: "audio", metadata: "x" };
    expect(convert(unusable).options).toEqual({});
  });
});

describe("the tools of a chat-completions request", () => {
  const wrapped = { type: "function", function: { name: "f", description: "F", parameters, strict: true } };
  const custom = (name: string) => ({ type: "custom", custom: { name } });

  it("may be wrapped or flat", () => {
    const flat = { type: "function", name: "f", description: "F", parameters, strict: true };
    const expected = [{ name: "f", description: "F", parameters, strict: true }];
    expect(convert({ tools: [wrapped] }).tools).toEqual(expected);
    expect(convert({ tools: [flat] }).tools).toEqual(expected);
  });

  it("may take free text, whose grammar the model receives", () => {
    const format = { type: "grammar", grammar: { syntax: "lark", definition: "start: x" } };
    const { conversation, callerTools } = turnOf({
      tools: [{ type: "custom", custom: { name: "patch", format } }],
    });
    expect(conversation.tools).toEqual([
      {
        name: "patch",
        description: expect.stringMatching(/lark grammar:\nstart: x/),
        parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
      },
    ]);
    expect(callerTools.tools.findCalledTool("patch")).toEqual({ kind: "custom", name: "patch" });
  });

  it("may be declared as functions, of which one at a time is called", () => {
    const { conversation, callerTools } = turnOf({
      functions: [{ name: "f", description: "F", parameters }],
    });
    expect(conversation).toMatchObject({
      tools: [{ name: "f", description: "F", parameters }],
      toolChoice: { type: "auto" },
      parallelToolCalls: false,
    });
    expect(callerTools.isLegacy).toBe(true);
    expect(turnOf({ functions: [], tools: [wrapped] }).callerTools.isLegacy).toBe(false);
  });

  it.each([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    [{ name: "f" }, { type: "function", name: "f" }],
  ])("are chosen by function_call %j", (function_call, expected) => {
    expect(convert({ functions: [{ name: "f" }], function_call }).toolChoice).toEqual(expected);
  });

  const tools = [wrapped, { type: "function", function: { name: "g" } }, custom("patch")];
  const allowed = (mode: string, ...names: string[]) => ({
    type: "allowed_tools",
    allowed_tools: { mode, tools: names.map((name) => ({ type: "function", function: { name } })) },
  });

  it.each([
    [undefined, { type: "auto" }],
    ["any", { type: "required" }],
    [
      { type: "function", function: { name: "g" } },
      { type: "function", name: "g" },
    ],
    [{ function: { name: "g" } }, { type: "function", name: "g" }],
    [custom("patch"), { type: "function", name: "patch" }],
  ])("are chosen by tool_choice %j", (tool_choice, expected) => {
    expect(convert({ tools, tool_choice })).toMatchObject({ toolChoice: expected, tools: { length: 3 } });
  });

  it.each(["auto", "required"])("are narrowed by allowed_tools, mode %s", (mode) => {
    const conversation = convert({ tools, tool_choice: allowed(mode, "g") });
    expect(conversation.toolChoice).toEqual({ type: mode });
    expect(conversation.tools.map(({ name }) => name)).toEqual(["g"]);
  });

  it.each([
    [{ tools, tool_choice: { type: "function", function: { name: "h" } } }, "tool_choice"],
    [{ tools, tool_choice: { type: "function" } }, "tool_choice"],
    [{ tool_choice: { type: "function", function: { name: "f" } } }, "tool_choice"],
    [{ tools, tool_choice: { type: "wat" } }, "tool_choice"],
    [{ tools, tool_choice: "sometimes" }, "tool_choice"],
    [{ tools, tool_choice: allowed("auto", "g", "h") }, "tool_choice.allowed_tools.tools[1]"],
    [{ tools, tool_choice: allowed("never", "g") }, "tool_choice.allowed_tools.mode"],
    [{ tools: [{ type: "function" }] }, "tools[0].name"],
    [{ functions: [{ name: "f" }], function_call: { name: "g" } }, "function_call"],
    [{ functions: [{ name: "f" }], function_call: "sometimes" }, "function_call"],
    [{ functions: [{ name: "f" }], tools }, "functions"],
  ])("refuses %j, naming the field", (body, param) => {
    expect(refusalOf(() => convert(body))).toMatchObject({ status: 400, param });
  });
});

describe("calls in the history of a chat-completions request", () => {
  it("in the form of function_call are matched with the function messages that answer them", () => {
    const call = (city: string) => ({
      role: "assistant",
      content: null,
      function_call: { name: "weather", arguments: JSON.stringify({ city }) },
    });
    const answer = (content: string) => ({ role: "function", name: "weather", content });
    const { messages } = convert({ messages: [USER, call("Rome"), answer("25"), call("Oslo"), answer("9")] });
    const [, first, firstAnswer, second, secondAnswer] = messages;
    if (first?.role !== "assistant" || second?.role !== "assistant") throw new Error("no calls");
    const ids = [...first.toolCalls, ...second.toolCalls].map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect([firstAnswer, secondAnswer]).toMatchObject([
      { role: "tool", callId: ids[0], name: "weather" },
      { role: "tool", callId: ids[1], name: "weather" },
    ]);
  });

  it("of free-text tools keep their input", () => {
    const call = { id: "c1", type: "custom", custom: { name: "patch", input: "+a" } };
    expect(
      convert({
        messages: [
          USER,
          { role: "assistant", content: null, tool_calls: [call] },
          { role: "tool", tool_call_id: "c1", content: "ok" },
        ],
      }).messages.slice(1),
    ).toEqual([
      { role: "assistant", parts: [], toolCalls: [{ id: "c1", name: "patch", arguments: '{"input":"+a"}' }] },
      { role: "tool", callId: "c1", parts: [{ type: "text", text: "ok" }] },
    ]);
  });
});
