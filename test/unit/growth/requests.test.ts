import { describe, expect, it, vi } from "vitest";
import type { Conversation, Message, ToolCall } from "../../../src/core/conversation/conversation.ts";
import { estimateTokens } from "../../../src/core/conversation/tokens.ts";
import { DEGENERATE } from "../../support/degenerate.ts";
import { PARSERS, PROMPTS } from "../../support/dialect-parsers.ts";
import { growthOf, MAX_GROWTH } from "../../support/growth.ts";
import { conversation } from "../gateway/providers/support.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const MAX_OBJECTS = 1 << 14;
const many = <T>(n: number, make: (index: number) => T): T[] =>
  Array.from({ length: n }, (_, index) => make(index));
const backwards = <T>(n: number, make: (index: number) => T): T[] => many(n, make).reverse();
const model = "provider-v4-flash";
const schema = (n: number) => ({
  type: "object",
  properties: Object.fromEntries(many(n, (index) => [`p${index}`, { type: "string" }])),
  required: many(n, (index) => `p${index}`),
});
const chatCall = (id: string) => ({ id, type: "function", function: { name: "run", arguments: "{}" } });
const say = { role: "user", content: "Hello" };

type Bodies = Readonly<Record<string, (n: number) => unknown>>;

/** Requests of each style that are long in one way or another. */
const REQUESTS: Readonly<Record<string, Bodies>> = {
  "chat-completions": {
    messages: (n) => ({ model, messages: many(n, () => say) }),
    parts: (n) => ({
      model,
      messages: [{ role: "user", content: many(n, () => ({ type: "text", text: "x" })) }],
    }),
    tools: (n) => ({
      model,
      messages: [say],
      tools: many(n, (index) => ({ type: "function", function: { name: `t${index}` } })),
    }),
    "a tool's parameters": (n) => ({
      model,
      messages: [say],
      tools: [{ type: "function", function: { name: "run", parameters: schema(n) } }],
    }),
    "calls and results": (n) => ({
      model,
      messages: [
        say,
        { role: "assistant", tool_calls: many(n, (index) => chatCall(`c${index}`)) },
        ...backwards(n, (index) => ({ role: "tool", tool_call_id: `c${index}`, content: "x" })),
      ],
    }),
    images: (n) => ({
      model: "provider-v4-vision",
      messages: [
        {
          role: "user",
          content: many(n, (index) => ({
            type: "image_url",
            image_url: { url: `https://example.com/${index}` },
          })),
        },
      ],
    }),
    "stop sequences": (n) => ({ model, messages: [say], stop: many(n, (index) => `s${index}`) }),
  },
  completions: { prompts: (n) => ({ model, prompt: "x ".repeat(n) }) },
  responses: {
    items: (n) => ({ model, input: many(n, () => ({ role: "assistant", content: "x" })) }),
    reasoning: (n) => ({
      model,
      input: ["x", ...many(n, () => ({ type: "reasoning", summary: [{ type: "summary_text", text: "x" }] }))],
    }),
    "calls and outputs": (n) => ({
      model,
      input: [
        ...many(n, (index) => ({
          type: "function_call",
          call_id: `c${index}`,
          name: "run",
          arguments: "{}",
        })),
        ...backwards(n, (index) => ({ type: "function_call_output", call_id: `c${index}`, output: "x" })),
      ],
    }),
    tools: (n) => ({
      model,
      input: "x",
      tools: [
        {
          type: "namespace",
          name: "n",
          tools: many(n, (index) => ({ type: "function", name: `t${index}` })),
        },
      ],
      tool_choice: { type: "allowed_tools", tools: many(n, (index) => ({ name: `t${index}` })) },
    }),
  },
  messages: {
    messages: (n) => ({ model, max_tokens: 9, messages: many(n, () => say) }),
    "calls and results": (n) => ({
      model,
      max_tokens: 9,
      messages: [
        {
          role: "assistant",
          content: many(n, (index) => ({ type: "tool_use", id: `c${index}`, name: "run", input: {} })),
        },
        {
          role: "user",
          content: backwards(n, (index) => ({ type: "tool_result", tool_use_id: `c${index}`, content: "x" })),
        },
      ],
    }),
    tools: (n) => ({
      model,
      max_tokens: 9,
      messages: [say],
      tools: many(n, (index) => ({ name: `t${index}`, input_schema: { type: "object" } })),
    }),
    "thoughts and text": (n) => ({
      model,
      max_tokens: 9,
      messages: [
        {
          role: "assistant",
          content: many(n, (index) =>
            index % 2 === 0
              ? { type: "thinking", thinking: "x", signature: "y" }
              : { type: "text", text: "x" },
          ),
        },
      ],
    }),
  },
  "content-generation": {
    contents: (n) => ({ contents: many(n, () => ({ role: "user", parts: [{ text: "x" }] })) }),
    parts: (n) => ({ contents: [{ role: "user", parts: many(n, () => ({ text: "x" })) }] }),
    "calls and responses": (n) => ({
      contents: [
        {
          role: "model",
          parts: many(n, (index) => ({ functionCall: { id: `c${index}`, name: "run", args: {} } })),
        },
        {
          role: "user",
          parts: backwards(n, (index) => ({
            functionResponse: { id: `c${index}`, name: "run", response: {} },
          })),
        },
      ],
    }),
    "responses to nothing": (n) => ({
      contents: [
        { role: "model", parts: many(n, () => ({ functionCall: { name: "run", args: {} } })) },
        { role: "user", parts: many(n, () => ({ functionResponse: { name: "walk", response: {} } })) },
      ],
    }),
    tools: (n) => ({
      contents: [{ parts: [{ text: "x" }] }],
      tools: [{ functionDeclarations: many(n, (index) => ({ name: `t${index}` })) }],
    }),
    "a schema": (n) => ({
      contents: [{ parts: [{ text: "x" }] }],
      generationConfig: { responseMimeType: "application/json", responseSchema: schema(n) },
    }),
  },
  "model-runner": {
    messages: (n) => ({ model, messages: many(n, () => say) }),
    "calls and results": (n) => ({
      model,
      messages: [
        {
          role: "assistant",
          content: "",
          tool_calls: many(n, () => ({ function: { name: "run", arguments: {} } })),
        },
        ...many(n, () => ({ role: "tool", content: "x", tool_name: "run" })),
      ],
    }),
  },
};

describe.each(Object.entries(REQUESTS))("a request in the style %s with many", (dialect, bodies) => {
  it.each(Object.entries(bodies))("%s", async (_name, body) => {
    const parse = PARSERS[dialect];
    if (parse === undefined) throw new Error(`no style ${dialect}`);
    const growth = await growthOf((n) => {
      const request = body(n);
      return () => parse(request);
    }, MAX_OBJECTS);
    expect(growth).toBeLessThan(MAX_GROWTH);
  });
});

const text = (value: string): Message => ({ role: "user", parts: [{ type: "text", text: value }] });
const call = (id: string): ToolCall => ({ id, name: "run", arguments: '{"a":1}' });
const result = (callId: string): Message => ({ role: "tool", callId, parts: [{ type: "text", text: "x" }] });
const answer = (toolCalls: readonly ToolCall[]): Message => ({ role: "assistant", parts: [], toolCalls });

/** Conversations that are long in one way or another. */
const CONVERSATIONS: Readonly<Record<string, (n: number) => Conversation>> = {
  messages: (n) => conversation({ messages: many(n, () => text("x")) }),
  "system messages": (n) =>
    conversation({ messages: many(n, () => ({ role: "system", parts: [{ type: "text", text: "x" }] })) }),
  parts: (n) =>
    conversation({ messages: [{ role: "user", parts: many(n, () => ({ type: "text", text: "x" })) }] }),
  "rounds of calls": (n) =>
    conversation({
      messages: many(n, (index) => index).flatMap((index) => [
        answer([call(`c${index}`)]),
        result(`c${index}`),
      ]),
      tools: [{ name: "run" }],
    }),
  "calls at once": (n) =>
    conversation({
      messages: [
        answer(many(n, (index) => call(`c${index}`))),
        ...backwards(n, (index) => result(`c${index}`)),
      ],
      tools: [{ name: "run" }],
    }),
  "calls with one id": (n) =>
    conversation({
      messages: many(n, () => answer([call("a")])),
      tools: [{ name: "run" }],
    }),
  "calls with the ids that others would get": (n) =>
    conversation({
      messages: [answer(many(n, (index) => call(`a_${n + index}`))), ...many(n, () => answer([call("a")]))],
    }),
  "results without calls": (n) => conversation({ messages: many(n, (index) => result(`c${index}`)) }),
  attachments: (n) =>
    conversation({
      model: "provider-v4-vision",
      messages: [
        {
          role: "user",
          parts: many(n, (index) => ({
            type: "image",
            source: { kind: "url", url: `https://example.com/${index}` },
          })),
        },
      ],
    }),
  "one attachment in many places": (n) =>
    conversation({
      model: "provider-v4-vision",
      messages: many(n, () => ({
        role: "user",
        parts: [{ type: "image", source: { kind: "url", url: "https://example.com/" } }],
      })),
    }),
  tools: (n) => conversation({ tools: many(n, (index) => ({ name: `t${index}`, parameters: {} })) }),
  "a tool's parameters": (n) => conversation({ tools: [{ name: "run", parameters: schema(n) }] }),
  "headings in a text": (n) => conversation({ messages: [text("### User\n".repeat(n))] }),
  "an argument's text": (n) =>
    conversation({
      messages: [answer([{ ...call("a"), arguments: JSON.stringify({ a: "]]>".repeat(n) }) }])],
    }),
  arguments: (n) =>
    conversation({
      messages: [
        answer([
          {
            ...call("a"),
            arguments: JSON.stringify(Object.fromEntries(many(n, (index) => [`a${index}`, 1]))),
          },
        ]),
      ],
    }),
};

describe.each(Object.entries(PROMPTS))("a prompt of the driver %s, of many", (_driver, prompt) => {
  it.each(Object.entries(CONVERSATIONS))("%s", async (_name, make) => {
    const growth = await growthOf((n) => {
      const long = make(n);
      return () => prompt(long);
    }, MAX_OBJECTS);
    expect(growth).toBeLessThan(MAX_GROWTH);
  });
});

it.each(DEGENERATE)("tokens of a text are counted in linear time: %s", async (_name, make) => {
  const growth = await growthOf((n) => {
    const long = make(n);
    return () => estimateTokens(long);
  });
  expect(growth).toBeLessThan(MAX_GROWTH);
});
