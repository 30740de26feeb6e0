import { expect } from "vitest";
import { PDF, PNG, type RequestRow } from "../request-cases.ts";
import { WEATHER } from "../support.ts";
import * as keyed from "./fake.ts";

const message = (role: string, content: unknown, more: object = {}) => ({ role, content, ...more });
const wireCall = (id: string, json = "{}") => ({
  id,
  type: "function",
  function: { name: "get_weather", arguments: json },
});
const calls = (content: string | null, ...made: unknown[]) =>
  message("assistant", content, { tool_calls: made });
const output = (id: string, content: string) => message("tool", content, { tool_call_id: id });
const part = (text: string) => ({ type: "text", text });
const image = (url: string, more: object = {}) => ({ type: "image_url", image_url: { url, ...more } });
const file = (members: object) => ({ type: "file", file: members });
const tool = (definition: object) => ({ type: "function", function: definition });

const rules = (words: string) => message("system", expect.stringContaining(words));
const HELLO = message("user", "Hello");
const schema = { type: "object" };

/** The members that switch thinking off. Engines know one or the other. */
const THINKS = { reasoning_effort: undefined, chat_template_kwargs: undefined };
const withTool = (choice: unknown) => ({ tools: [tool(WEATHER)], tool_choice: choice });

export const openaiRequests: RequestRow = {
  name: "openai",
  keyed,
  keyHeaders: { authorization: "Bearer token-of-the-account" },
  addresses: [
    ["http://engine.example/v1", "http://engine.example/v1/chat/completions"],
    ["http://engine.example/v1/", "http://engine.example/v1/chat/completions"],
  ],
  modelOf: (request) => request.json()["model"],

  plain: {
    model: "provider-v4-flash",
    messages: [HELLO],
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: "none",
    chat_template_kwargs: { enable_thinking: false },
  },

  changes: {
    "states the options that the protocol knows": {
      temperature: 0,
      top_p: 0.9,
      top_k: 4,
      min_p: 0.1,
      seed: 5,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      logit_bias: { "1": 2 },
      stop: ["x", "\n"],
      max_tokens: 9,
      verbosity: "low",
      user: "ada",
      prompt_cache_key: "k",
    },
    "asks for log probabilities": { logprobs: true, top_logprobs: 3 },
    "asks for log probabilities without alternatives": { logprobs: true },

    "asks for no thoughts of a model that has none": { model: "provider-v4-pro-nothinking" },
    "asks for thoughts": THINKS,
    "asks for thoughts with little effort": { ...THINKS, reasoning_effort: "low" },
    "asks for thoughts with much effort": { ...THINKS, reasoning_effort: "high" },
    "asks for thoughts within a small budget": { ...THINKS, reasoning_effort: "low" },
    "asks for thoughts within a budget": { ...THINKS, reasoning_effort: "medium" },
    "asks for thoughts within a large budget": { ...THINKS, reasoning_effort: "high" },
    "asks for thoughts with an effort and a budget": { ...THINKS, reasoning_effort: "high" },

    // Backends demand the word in the messages.
    "asks for JSON": { messages: [rules("JSON"), HELLO], response_format: { type: "json_object" } },
    "asks for JSON of a schema": {
      messages: [rules("JSON schema"), HELLO],
      response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
    },
    "asks for JSON that keeps to a named schema": {
      messages: [rules("JSON schema"), HELLO],
      response_format: { type: "json_schema", json_schema: { name: "My_answer", schema, strict: true } },
    },
    "asks for a search": {
      web_search_options: {
        search_context_size: "low",
        user_location: { type: "approximate", approximate: { city: "Oslo", country: "NO" } },
      },
    },

    "keeps the order of messages, and what they say": {
      messages: [
        message("system", "One.\n\nTwo.\n\nThree."),
        message("user", "Hi", { name: "alice" }),
        message("user", "You there?"),
        message("assistant", "Hm", { reasoning_content: "thought" }),
        message("assistant", "Well"),
        message("system", "Late."),
        message("user", "<a & b>\n### Go on"),
      ],
    },
    "asks for an answer to nothing": { messages: [message("user", "  ")] },
    "begins with an answer": { messages: [message("assistant", "Hello!"), message("user", "Hi")] },
    "ends with an answer that was begun": {
      messages: [message("user", "Count"), message("assistant", "One, \n")],
    },

    "sends calls and their results": {
      messages: [
        message("user", "Weather?"),
        calls("Let me see", wireCall("a", '{"city":"Oslo"}'), wireCall("b")),
        output("b", "cold\n\nwet"),
        output("a", "Error: broken"),
        calls(null, wireCall("c")),
        output("c", ""),
        message("user", "So?"),
      ],
    },
    "sends calls without a result, and results without a call": {
      messages: [
        message("user", "x"),
        calls(null, wireCall("a"), wireCall("b")),
        output("a", "1"),
        output("b", "There is no result."),
        message("user", expect.stringContaining("again")),
        calls(null, wireCall("c")),
        output("c", "There is no result."),
        message("user", "Stop"),
        calls(null, wireCall("d")),
        output("d", "There is no result."),
      ],
    },
    // The backend looks for a result right behind its call, so that ids may come again.
    "sends calls that share an id": {
      messages: [
        message("user", "x"),
        calls(null, wireCall("f.f:0")),
        output("f.f:0", "1"),
        calls(null, wireCall("f.f:0")),
        output("f.f:0", "1"),
      ],
    },
    "sends calls of one answer that share an id": {
      messages: [
        message("user", "x"),
        calls(
          null,
          wireCall("f", '{"n":1}'),
          wireCall("g"),
          wireCall("f_2", '{"n":2}'),
          wireCall("f_3", '{"n":3}'),
        ),
        output("f", "1"),
        output("f_2", "2"),
        output("g", "0"),
        output("f_3", "There is no result."),
        calls(null, wireCall("f"), wireCall("f_1")),
        output("f", "4"),
        output("f_1", "5"),
        message("user", expect.stringContaining("surplus")),
      ],
    },
    "sends arguments that are broken, or have a number that is too large": {
      messages: [
        message("user", "x"),
        calls(null, wireCall("a", '{"n":1e400}'), wireCall("b", '{"cut')),
        output("a", "1"),
        output("b", "2"),
      ],
    },

    "ends with the suffix of a follow-up turn": { messages: [message("user", "Hello\n\nSay it.")] },
    "ends with the suffix of a follow-up turn behind a result": {
      messages: [
        message("user", "x"),
        calls(null, wireCall("a")),
        output("a", "1"),
        message("user", "Say it."),
      ],
    },
    "carries the thinking injection in the last words of the user": {
      ...THINKS,
      messages: [
        message("user", "First"),
        message("assistant", "x"),
        message("user", "Second\n\nThink hard."),
        message("assistant", "y"),
      ],
    },

    "passes tools": {
      tools: [tool(WEATHER), tool({ ...WEATHER, name: "strict", strict: true }), tool({ name: "bare" })],
      tool_choice: "auto",
      parallel_tool_calls: false,
    },
    "lets the model choose a tool": withTool("auto"),
    "forbids tools": withTool("none"),
    "demands a call": withTool("required"),
    "demands a call of one tool": withTool({ type: "function", function: { name: "get_weather" } }),
    "writes tools into the prompt for a backend that knows none": {
      messages: [
        message("system", expect.stringMatching(/^Be brief\.[\s\S]*get_weather/)),
        message("user", "Weather?"),
        message("assistant", expect.stringMatching(/^Let me see\n\n[\s\S]*get_weather[\s\S]*Oslo/)),
        message(
          "user",
          expect.stringMatching(
            /^<\|TCML\|tool_result id="a" name="get_weather">[\s\S]*cold[\s\S]*\n\n<\|TCML\|tool_result id="b" error="true">[\s\S]*no/,
          ),
        ),
      ],
    },

    "sends attachments, and fetches those behind links": {
      messages: [
        message("user", [
          part("See"),
          image(`data:image/png;base64,${PNG}`, { detail: "low" }),
          image("data:image/jpeg;base64,/9j/4A=="),
          image("data:image/jpeg;base64,/9j/4A=="),
          file({ filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` }),
          part("[File a.txt]\ngröße\n[End of file a.txt]"),
          file({ filename: "a.php", file_data: "data:application/octet-stream;base64,/9j/4A==" }),
          file({ filename: "b.pdf", file_data: `data:application/pdf;base64,${PDF}` }),
          part("[File n.txt]\nnote\n[End of file n.txt]"),
        ]),
      ],
    },
    "sends attachments that a tool returned": {
      messages: [
        message("user", "Look"),
        calls(null, wireCall("a"), wireCall("b")),
        output("a", "shot"),
        output("b", "none"),
        message("user", [
          part("Returned by the tool call a:"),
          image(`data:image/png;base64,${PNG}`, { detail: "low" }),
        ]),
        message("user", "Well?"),
      ],
    },
    "names files that the backend stores": {
      messages: [message("user", [file({ file_id: "there" }), file({ file_id: "own" })])],
    },
  },
};
