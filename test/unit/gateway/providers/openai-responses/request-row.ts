import { expect } from "vitest";
import { PDF, PNG, type RequestRow } from "../request-cases.ts";
import { WEATHER } from "../support.ts";
import * as keyed from "./fake.ts";

const message = (role: string, content: unknown) => ({ type: "message", role, content });
const wireCall = (id: string, json = "{}") => ({
  type: "function_call",
  call_id: id,
  name: "get_weather",
  arguments: json,
});
const output = (id: string, value: unknown) => ({ type: "function_call_output", call_id: id, output: value });
const part = (text: string) => ({ type: "input_text", text });
const image = (data: string, detail: string) => ({
  type: "input_image",
  image_url: `data:image/${data}`,
  detail,
});
const pdf = (filename: string) => ({
  type: "input_file",
  filename,
  file_data: `data:application/pdf;base64,${PDF}`,
});

const rules = (words: string) => message("system", expect.stringContaining(words));
const HELLO = message("user", "Hello");
const NO_RESULT = "There is no result.";
const schema = { type: "object" };

const thinks = (reasoning: object = {}) => ({
  reasoning: { ...reasoning, summary: "auto" },
  include: ["reasoning.encrypted_content"],
});
const weather = { type: "function", ...WEATHER, strict: false };
const withTool = (choice: unknown) => ({ tools: [weather], tool_choice: choice });

export const openaiResponsesRequests: RequestRow = {
  name: "openai-responses",
  keyed,
  keyHeaders: { authorization: "Bearer token-of-the-account" },
  addresses: [
    ["http://engine.example/v1", "http://engine.example/v1/responses"],
    ["http://engine.example/v1/", "http://engine.example/v1/responses"],
  ],
  modelOf: (request) => request.json()["model"],

  // Nothing is to be kept.
  plain: {
    model: "provider-v4-flash",
    input: [HELLO],
    stream: true,
    store: false,
    reasoning: { effort: "none" },
  },

  changes: {
    "states the options that the protocol knows": {
      temperature: 0,
      top_p: 0.9,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      max_output_tokens: 9,
      text: { verbosity: "low" },
      user: "ada",
      prompt_cache_key: "k",
    },
    "asks for log probabilities": { include: ["message.output_text.logprobs"], top_logprobs: 3 },
    "asks for log probabilities without alternatives": { include: ["message.output_text.logprobs"] },

    "asks for no thoughts of a model that has none": { model: "provider-v4-pro-nothinking" },
    "asks for thoughts": thinks(),
    "asks for thoughts with little effort": thinks({ effort: "low" }),
    "asks for thoughts with much effort": thinks({ effort: "high" }),
    "asks for thoughts within a small budget": thinks({ effort: "low" }),
    "asks for thoughts within a budget": thinks({ effort: "medium" }),
    "asks for thoughts within a large budget": thinks({ effort: "high" }),
    "asks for thoughts with an effort and a budget": thinks({ effort: "high" }),

    // Backends demand the word in the messages.
    "asks for JSON": { input: [rules("JSON"), HELLO], text: { format: { type: "json_object" } } },
    "asks for JSON of a schema": {
      input: [rules("JSON schema"), HELLO],
      text: { format: { type: "json_schema", name: "answer", schema } },
    },
    "asks for JSON that keeps to a named schema": {
      input: [rules("JSON schema"), HELLO],
      text: { format: { type: "json_schema", name: "My_answer", schema, strict: true } },
    },
    "asks for a search": {
      include: ["web_search_call.action.sources"],
      tools: [
        {
          type: "web_search",
          search_context_size: "low",
          filters: { allowed_domains: ["a.example"] },
          user_location: { type: "approximate", city: "Oslo", country: "NO" },
        },
      ],
    },

    "keeps the order of messages, and what they say": {
      input: [
        message("system", "One.\n\nTwo.\n\nThree."),
        message("user", "[alice]\n\nHi"),
        message("user", "You there?"),
        message("assistant", "Hm"),
        message("assistant", "Well"),
        message("system", "Late."),
        message("user", "<a & b>\n### Go on"),
      ],
    },
    "asks for an answer to nothing": { input: [message("user", "  ")] },
    "begins with an answer": { input: [message("assistant", "Hello!"), message("user", "Hi")] },
    "ends with an answer that was begun": {
      input: [message("user", "Count"), message("assistant", "One, \n")],
    },

    "sends calls and their results": {
      input: [
        message("user", "Weather?"),
        message("assistant", "Let me see"),
        wireCall("a", '{"city":"Oslo"}'),
        wireCall("b"),
        output("b", "cold\n\nwet"),
        output("a", "Error:\n\nbroken"),
        wireCall("c"),
        output("c", ""),
        message("user", "So?"),
      ],
    },
    "sends calls without a result, and results without a call": {
      input: [
        message("user", "x"),
        wireCall("a"),
        wireCall("b"),
        output("a", "1"),
        output("b", NO_RESULT),
        message("user", expect.stringContaining("again")),
        wireCall("c"),
        output("c", NO_RESULT),
        message("user", "Stop"),
        wireCall("d"),
        output("d", NO_RESULT),
      ],
    },
    "sends calls that share an id": {
      input: [
        message("user", "x"),
        wireCall("f.f:0"),
        output("f.f:0", "1"),
        wireCall("f.f:0_1"),
        output("f.f:0_1", "1"),
      ],
    },
    "sends calls of one answer that share an id": {
      input: [
        message("user", "x"),
        wireCall("f", '{"n":1}'),
        wireCall("g"),
        wireCall("f_2", '{"n":2}'),
        wireCall("f_3", '{"n":3}'),
        output("f", "1"),
        output("f_2", "2"),
        output("g", "0"),
        output("f_3", NO_RESULT),
        wireCall("f_4"),
        wireCall("f_5"),
        output("f_4", "4"),
        output("f_5", "5"),
        message("user", expect.stringContaining("surplus")),
      ],
    },
    "sends arguments that are broken, or have a number that is too large": {
      input: [
        message("user", "x"),
        wireCall("a", '{"n":1e400}'),
        wireCall("b", '{"cut'),
        output("a", "1"),
        output("b", "2"),
      ],
    },

    "ends with the suffix of a follow-up turn": { input: [message("user", "Hello\n\nSay it.")] },
    "ends with the suffix of a follow-up turn behind a result": {
      input: [message("user", "x"), wireCall("a"), output("a", "1"), message("user", "Say it.")],
    },
    "carries the thinking injection in the last words of the user": {
      ...thinks(),
      input: [
        message("user", "First"),
        message("assistant", "x"),
        message("user", "Second\n\nThink hard."),
        message("assistant", "y"),
      ],
    },

    "passes tools": {
      tools: [
        weather,
        { ...weather, name: "strict", strict: true },
        { type: "function", name: "bare", parameters: { type: "object", properties: {} }, strict: false },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
    },
    "lets the model choose a tool": withTool("auto"),
    "forbids tools": withTool("none"),
    "demands a call": withTool("required"),
    "demands a call of one tool": withTool({ type: "function", name: "get_weather" }),
    "writes tools into the prompt for a backend that knows none": {
      input: [
        message("system", expect.stringMatching(/^Be brief\.[\s\S]*get_weather/)),
        message("user", "Weather?"),
        message("assistant", expect.stringMatching(/^Let me see\n\n[\s\S]*get_weather[\s\S]*Oslo/)),
        message("user", expect.stringMatching(/tool_result id="a" name="get_weather"[\s\S]*cold/)),
        message("user", expect.stringMatching(/tool_result id="b" error="true"[\s\S]*no/)),
      ],
    },

    "sends attachments, and fetches those behind links": {
      input: [
        message("user", [
          part("See"),
          image(`png;base64,${PNG}`, "low"),
          image("jpeg;base64,/9j/4A==", "auto"),
          image("jpeg;base64,/9j/4A==", "auto"),
          pdf("a.pdf"),
          part("[File a.txt]\ngröße\n[End of file a.txt]"),
          {
            type: "input_file",
            filename: "a.php",
            file_data: "data:application/octet-stream;base64,/9j/4A==",
          },
          pdf("b.pdf"),
          part("[File n.txt]\nnote\n[End of file n.txt]"),
        ]),
      ],
    },
    "sends attachments that a tool returned": {
      input: [
        message("user", "Look"),
        wireCall("a"),
        wireCall("b"),
        output("a", [part("shot"), image(`png;base64,${PNG}`, "low")]),
        output("b", "none"),
        message("user", "Well?"),
      ],
    },
    "names files that the backend stores": {
      input: [
        message("user", [
          { type: "input_file", file_id: "there" },
          { type: "input_image", file_id: "own", detail: "auto" },
        ]),
      ],
    },
  },
};
