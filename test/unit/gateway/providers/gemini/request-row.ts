import { expect } from "vitest";
import { PDF, PNG, type RequestRow } from "../request-cases.ts";
import { WEATHER } from "../support.ts";
import * as keyed from "./fake.ts";

const said = (text: unknown) => ({ text });
const turn = (role: string, ...parts: unknown[]) => ({
  role,
  parts: parts.map((part) => (typeof part === "string" ? said(part) : part)),
});
const wireCall = (id: string, args: object = {}) => ({ functionCall: { id, name: "get_weather", args } });
const output = (id: string, response: object) => ({
  functionResponse: { id, name: "get_weather", response },
});
const blob = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });

const NO_RESULT = { error: "There is no result." };
const schema = { type: "object" };

const QUIET = { thinkingConfig: { thinkingBudget: 0 } };
const thinks = (thinkingConfig: object = {}) => ({
  generationConfig: { thinkingConfig: { includeThoughts: true, ...thinkingConfig } },
});
const format = (words: string, config: object) => ({
  systemInstruction: { parts: [said(expect.stringContaining(words))] },
  generationConfig: { ...QUIET, responseMimeType: "application/json", ...config },
});
const { parameters, ...declared } = WEATHER;
const weather = { ...declared, parametersJsonSchema: parameters };
const withTool = (functionCallingConfig: object) => ({
  tools: [{ functionDeclarations: [weather] }],
  toolConfig: { functionCallingConfig },
});

const STREAMED = "models/provider-v4-flash:streamGenerateContent?alt=sse";

export const geminiRequests: RequestRow = {
  name: "gemini",
  keyed,
  keyHeaders: { "x-goog-api-key": "token-of-the-account" },
  addresses: [
    ["http://engine.example", `http://engine.example/v1beta/${STREAMED}`],
    ["http://engine.example/", `http://engine.example/v1beta/${STREAMED}`],
    ["http://engine.example/proxy", `http://engine.example/proxy/v1beta/${STREAMED}`],
    ["http://engine.example/v1", `http://engine.example/v1/${STREAMED}`],
    ["https://v2.engine.example", `https://v2.engine.example/v1beta/${STREAMED}`],
    ["http://engine.example/v1/publishers/google/", `http://engine.example/v1/publishers/google/${STREAMED}`],
  ],
  modelOf: ({ url }) => /models\/([^:]+):/.exec(url)?.[1],

  plain: { contents: [turn("user", "Hello")], generationConfig: QUIET },

  changes: {
    "states the options that the protocol knows": {
      generationConfig: {
        ...QUIET,
        temperature: 0,
        topP: 0.9,
        topK: 4,
        seed: 5,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        stopSequences: ["x", "\n"],
        maxOutputTokens: 9,
      },
    },
    "asks for log probabilities": { generationConfig: { ...QUIET, responseLogprobs: true, logprobs: 3 } },
    "asks for log probabilities without alternatives": {
      generationConfig: { ...QUIET, responseLogprobs: true },
    },

    // The model's name is in the address.
    "asks for no thoughts of a model that has none": {},
    "asks for thoughts": thinks(),
    "asks for thoughts with little effort": thinks({ thinkingBudget: 2048 }),
    "asks for thoughts with much effort": thinks({ thinkingBudget: 16_384 }),
    "asks for thoughts within a small budget": thinks({ thinkingBudget: 1024 }),
    "asks for thoughts within a budget": thinks({ thinkingBudget: 8000 }),
    "asks for thoughts within a large budget": thinks({ thinkingBudget: 32_000 }),
    "asks for thoughts with an effort and a budget": thinks({ thinkingBudget: 1024 }),

    "asks for JSON": format("JSON", {}),
    "asks for JSON of a schema": format("JSON schema", { responseJsonSchema: schema }),
    "asks for JSON that keeps to a named schema": format("JSON schema", { responseJsonSchema: schema }),
    "asks for a search": { tools: [{ googleSearch: {} }] },

    "keeps the order of messages, and what they say": {
      systemInstruction: { parts: [said("One.\n\nTwo.\n\nThree.")] },
      contents: [
        turn("user", "[alice]", "Hi", "You there?"),
        turn("model", "Hm", "Well"),
        turn("user", "<system>\nLate.\n</system>", "<a & b>\n### Go on"),
      ],
    },
    "asks for an answer to nothing": { contents: [turn("user", "Begin.")] },
    "begins with an answer": {
      contents: [turn("user", "Begin."), turn("model", "Hello!"), turn("user", "Hi")],
    },
    "ends with an answer that was begun": { contents: [turn("user", "Count"), turn("model", "One, \n")] },

    // Results come in a turn of their own, in the order of the calls.
    "sends calls and their results": {
      contents: [
        turn("user", "Weather?"),
        turn("model", "Let me see", wireCall("a", { city: "Oslo" }), wireCall("b")),
        turn("user", output("a", { error: "broken" }), output("b", { output: "cold\n\nwet" })),
        turn("model", wireCall("c")),
        turn("user", output("c", { output: "" })),
        turn("user", "So?"),
      ],
    },
    "sends calls without a result, and results without a call": {
      contents: [
        turn("user", "x"),
        turn("model", wireCall("a"), wireCall("b")),
        turn("user", output("a", { output: "1" }), output("b", NO_RESULT)),
        turn("user", said(expect.stringContaining("again"))),
        turn("model", wireCall("c")),
        turn("user", output("c", NO_RESULT)),
        turn("user", "Stop"),
        turn("model", wireCall("d")),
        turn("user", output("d", NO_RESULT)),
      ],
    },
    "sends calls that share an id": {
      contents: [
        turn("user", "x"),
        turn("model", wireCall("f.f:0")),
        turn("user", output("f.f:0", { output: "1" })),
        turn("model", wireCall("f.f:0_1")),
        turn("user", output("f.f:0_1", { output: "1" })),
      ],
    },
    "sends calls of one answer that share an id": {
      contents: [
        turn("user", "x"),
        turn(
          "model",
          wireCall("f", { n: 1 }),
          wireCall("g"),
          wireCall("f_2", { n: 2 }),
          wireCall("f_3", { n: 3 }),
        ),
        turn(
          "user",
          output("f", { output: "1" }),
          output("g", { output: "0" }),
          output("f_2", { output: "2" }),
          output("f_3", NO_RESULT),
        ),
        turn("model", wireCall("f_4"), wireCall("f_5")),
        turn("user", output("f_4", { output: "4" }), output("f_5", { output: "5" })),
        turn("user", said(expect.stringContaining("surplus"))),
      ],
    },
    "sends arguments that are broken, or have a number that is too large": {
      contents: [
        turn("user", "x"),
        turn("model", wireCall("a", { n: null }), wireCall("b")),
        turn("user", output("a", { output: "1" }), output("b", { output: "2" })),
      ],
    },

    "ends with the suffix of a follow-up turn": { contents: [turn("user", "Hello", "Say it.")] },
    "ends with the suffix of a follow-up turn behind a result": {
      contents: [
        turn("user", "x"),
        turn("model", wireCall("a")),
        turn("user", output("a", { output: "1" })),
        turn("user", "Say it."),
      ],
    },
    "carries the thinking injection in the last words of the user": {
      ...thinks(),
      contents: [
        turn("user", "First"),
        turn("model", "x"),
        turn("user", "Second", "Think hard."),
        turn("model", "y"),
      ],
    },

    "passes tools": {
      tools: [{ functionDeclarations: [weather, { ...weather, name: "strict" }, { name: "bare" }] }],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    },
    "lets the model choose a tool": withTool({ mode: "AUTO" }),
    "forbids tools": withTool({ mode: "NONE" }),
    "demands a call": withTool({ mode: "ANY" }),
    "demands a call of one tool": withTool({ mode: "ANY", allowedFunctionNames: ["get_weather"] }),
    "writes tools into the prompt for a backend that knows none": {
      systemInstruction: { parts: [said(expect.stringMatching(/^Be brief\.[\s\S]*get_weather/))] },
      contents: [
        turn("user", "Weather?"),
        turn("model", said(expect.stringMatching(/^Let me see\n\n[\s\S]*get_weather[\s\S]*Oslo/))),
        turn(
          "user",
          said(expect.stringMatching(/tool_result id="a" name="get_weather"[\s\S]*cold/)),
          said(expect.stringMatching(/tool_result id="b" error="true"[\s\S]*no/)),
        ),
      ],
    },

    "sends attachments, and fetches those behind links": {
      contents: [
        turn(
          "user",
          "See",
          blob("image/png", PNG),
          blob("image/jpeg", "/9j/4A=="),
          blob("image/jpeg", "/9j/4A=="),
          blob("application/pdf", PDF),
          "[File a.txt]\ngröße\n[End of file a.txt]",
          blob("image/jpeg", "/9j/4A=="),
          blob("application/pdf", PDF),
          "[File n.txt]\nnote\n[End of file n.txt]",
        ),
      ],
    },
    "sends attachments that a tool returned": {
      contents: [
        turn("user", "Look"),
        turn("model", wireCall("a"), wireCall("b")),
        turn("user", output("a", { output: "shot" }), output("b", { output: "none" })),
        turn("user", "Returned by the tool call a:", blob("image/png", PNG), "Well?"),
      ],
    },
    "names files that the backend stores": {
      contents: [
        turn(
          "user",
          {
            fileData: {
              mimeType: "application/pdf",
              fileUri: "https://backend.example/v1beta/files/there",
            },
          },
          { fileData: { fileUri: "http://engine.example/v1beta/files/own" } },
        ),
      ],
    },
  },
};
