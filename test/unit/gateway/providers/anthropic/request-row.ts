import { expect } from "vitest";
import { PDF, PNG, type RequestRow } from "../request-cases.ts";
import { WEATHER } from "../support.ts";
import * as keyed from "./fake.ts";

const said = (text: unknown) => ({ type: "text", text });
const turn = (role: string, ...blocks: unknown[]) => ({
  role,
  content: blocks.map((block) => (typeof block === "string" ? said(block) : block)),
});
const wireCall = (id: string, input: object = {}) => ({ type: "tool_use", id, name: "get_weather", input });
const output = (id: string, ...texts: string[]) => ({
  type: "tool_result",
  tool_use_id: id,
  content: texts.map(said),
});
const failed = (id: string, text: string) => ({ ...output(id, text), is_error: true });
const source = (mediaType: string, data: string) => ({ type: "base64", media_type: mediaType, data });
const image = (mediaType: string, data: string) => ({ type: "image", source: source(mediaType, data) });
const pdf = (title: string) => ({ type: "document", source: source("application/pdf", PDF), title });

const rules = (words: string) => ({ system: expect.stringContaining(words) });

const thinks = (budget: number) => ({
  max_tokens: 8192 + budget,
  thinking: { type: "enabled", budget_tokens: budget },
});
const { parameters, ...declared } = WEATHER;
const weather = { ...declared, input_schema: parameters };
const withTool = (choice: object) => ({ tools: [weather], tool_choice: choice });
/** Tools of the history are declared although they are no longer offered. */
const HISTORY = {
  tools: [{ name: "get_weather", input_schema: { type: "object" } }],
  tool_choice: { type: "none" },
};

export const anthropicRequests: RequestRow = {
  name: "anthropic",
  keyed,
  keyHeaders: { "x-api-key": "token-of-the-account", "anthropic-version": "2023-06-01" },
  addresses: [
    ["http://engine.example", "http://engine.example/v1/messages"],
    ["http://engine.example/v1", "http://engine.example/v1/messages"],
    ["http://engine.example/v1/", "http://engine.example/v1/messages"],
  ],
  modelOf: (request) => request.json()["model"],

  plain: {
    model: "provider-v4-flash",
    max_tokens: 8192,
    messages: [turn("user", "Hello")],
    stream: true,
    thinking: { type: "disabled" },
  },

  changes: {
    // The protocol takes top_p without a temperature alone.
    "states the options that the protocol knows": {
      temperature: 0,
      top_k: 4,
      stop_sequences: ["x"],
      max_tokens: 9,
      metadata: { user_id: "ada" },
    },
    "asks for log probabilities": {},
    "asks for log probabilities without alternatives": {},

    "asks for no thoughts of a model that has none": { model: "provider-v4-pro-nothinking" },
    "asks for thoughts": thinks(8192),
    "asks for thoughts with little effort": thinks(2048),
    "asks for thoughts with much effort": thinks(16_384),
    "asks for thoughts within a small budget": thinks(1024),
    "asks for thoughts within a budget": thinks(8000),
    "asks for thoughts within a large budget": thinks(32_000),
    "asks for thoughts with an effort and a budget": thinks(1024),

    "asks for JSON": rules("JSON"),
    "asks for JSON of a schema": rules("JSON schema"),
    "asks for JSON that keeps to a named schema": rules("JSON schema My answer"),
    "asks for a search": {
      tools: [
        {
          type: "web_search_20250305",
          name: "web_search",
          allowed_domains: ["a.example"],
          user_location: { type: "approximate", city: "Oslo", country: "NO" },
        },
      ],
      tool_choice: { type: "auto" },
    },

    "keeps the order of messages, and what they say": {
      system: "One.\n\nTwo.\n\nThree.",
      messages: [
        turn("user", "[alice]", "Hi", "You there?"),
        turn("assistant", "Hm", "Well"),
        turn("user", "<system>\nLate.\n</system>", "<a & b>\n### Go on"),
      ],
    },
    "asks for an answer to nothing": { messages: [turn("user", "Begin.")] },
    "begins with an answer": {
      messages: [turn("user", "Begin."), turn("assistant", "Hello!"), turn("user", "Hi")],
    },
    // The protocol refuses white space at the end.
    "ends with an answer that was begun": { messages: [turn("user", "Count"), turn("assistant", "One,")] },

    "sends calls and their results": {
      ...HISTORY,
      messages: [
        turn("user", "Weather?"),
        turn("assistant", "Let me see", wireCall("a", { city: "Oslo" }), wireCall("b")),
        turn("user", output("b", "cold", "wet"), failed("a", "broken")),
        turn("assistant", wireCall("c")),
        turn("user", { type: "tool_result", tool_use_id: "c" }, "So?"),
      ],
    },
    "sends calls without a result, and results without a call": {
      ...HISTORY,
      messages: [
        turn("user", "x"),
        turn("assistant", wireCall("a"), wireCall("b")),
        turn(
          "user",
          output("a", "1"),
          failed("b", "There is no result."),
          said(expect.stringContaining("again")),
        ),
        turn("assistant", wireCall("c")),
        turn("user", failed("c", "There is no result."), "Stop"),
        turn("assistant", wireCall("d")),
        turn("user", failed("d", "There is no result.")),
      ],
    },
    // An id has only letters, digits, hyphens and underscores.
    "sends calls that share an id": {
      ...HISTORY,
      messages: [
        turn("user", "x"),
        turn("assistant", wireCall("f_f_0")),
        turn("user", output("f_f_0", "1")),
        turn("assistant", wireCall("f_f_0_1")),
        turn("user", output("f_f_0_1", "1")),
      ],
    },
    "sends calls of one answer that share an id": {
      ...HISTORY,
      messages: [
        turn("user", "x"),
        turn(
          "assistant",
          wireCall("f", { n: 1 }),
          wireCall("g"),
          wireCall("f_2", { n: 2 }),
          wireCall("f_3", { n: 3 }),
        ),
        turn(
          "user",
          output("f", "1"),
          output("f_2", "2"),
          output("g", "0"),
          failed("f_3", "There is no result."),
        ),
        turn("assistant", wireCall("f_4"), wireCall("f_5")),
        turn("user", output("f_4", "4"), output("f_5", "5"), said(expect.stringContaining("surplus"))),
      ],
    },
    "sends arguments that are broken, or have a number that is too large": {
      ...HISTORY,
      messages: [
        turn("user", "x"),
        turn("assistant", wireCall("a", { n: null }), wireCall("b")),
        turn("user", output("a", "1"), output("b", "2")),
      ],
    },

    "ends with the suffix of a follow-up turn": { messages: [turn("user", "Hello", "Say it.")] },
    "ends with the suffix of a follow-up turn behind a result": {
      ...HISTORY,
      messages: [
        turn("user", "x"),
        turn("assistant", wireCall("a")),
        turn("user", output("a", "1"), "Say it."),
      ],
    },
    // An answer that was begun goes on without thinking.
    "carries the thinking injection in the last words of the user": {
      messages: [
        turn("user", "First"),
        turn("assistant", "x"),
        turn("user", "Second", "Think hard."),
        turn("assistant", "y"),
      ],
    },

    "passes tools": {
      tools: [
        weather,
        { ...weather, name: "strict", strict: true },
        { name: "bare", input_schema: { type: "object" } },
      ],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    },
    "lets the model choose a tool": withTool({ type: "auto" }),
    "forbids tools": withTool({ type: "none" }),
    "demands a call": withTool({ type: "any" }),
    "demands a call of one tool": withTool({ type: "tool", name: "get_weather" }),
    "writes tools into the prompt for a backend that knows none": {
      system: expect.stringMatching(/^Be brief\.[\s\S]*get_weather/),
      messages: [
        turn("user", "Weather?"),
        turn("assistant", said(expect.stringMatching(/^Let me see\n\n[\s\S]*get_weather[\s\S]*Oslo/))),
        turn(
          "user",
          said(expect.stringMatching(/tool_result id="a" name="get_weather"[\s\S]*cold/)),
          said(expect.stringMatching(/tool_result id="b" error="true"[\s\S]*no/)),
        ),
      ],
    },

    "sends attachments, and fetches those behind links": {
      messages: [
        turn(
          "user",
          "See",
          image("image/png", PNG),
          image("image/jpeg", "/9j/4A=="),
          image("image/jpeg", "/9j/4A=="),
          pdf("a.pdf"),
          "[File a.txt]\ngröße\n[End of file a.txt]",
          image("image/jpeg", "/9j/4A=="),
          pdf("b.pdf"),
          "[File n.txt]\nnote\n[End of file n.txt]",
        ),
      ],
    },
    "sends attachments that a tool returned": {
      ...HISTORY,
      messages: [
        turn("user", "Look"),
        turn("assistant", wireCall("a"), wireCall("b")),
        turn(
          "user",
          { type: "tool_result", tool_use_id: "a", content: [said("shot"), image("image/png", PNG)] },
          output("b", "none"),
          "Well?",
        ),
      ],
    },
    "names files that the backend stores": {
      messages: [
        turn(
          "user",
          { type: "document", source: { type: "file", file_id: "there" }, title: "a.pdf" },
          { type: "image", source: { type: "file", file_id: "own" } },
        ),
      ],
    },
  },
};
