import { describe, expect, it } from "vitest";
import type {
  PlaygroundRequest,
  PlaygroundTurn,
} from "../../../../../src/gateway/dialects/playground/types.ts";
import { appendPiece, NO_ANSWER } from "../../../../../src/operator/console/pages/playground/conversation.ts";
import { playgroundOf, playgrounds } from "./playgrounds.ts";

const call = { id: "call_1", name: "get_weather", arguments: '{"city":"Paris"}' };
const turns: PlaygroundTurn[] = [
  { role: "user", text: "Weather?" },
  { role: "assistant", text: "I look.", reasoning: "Hm.", calls: [call] },
  { role: "tool", call, output: '{"temperature":21}' },
];
const ask: PlaygroundRequest = {
  model: "provider-v4-flash",
  system: "Be brief.",
  turns,
  tools: [{ name: "get_weather", description: "Weather", parameters: { type: "object" } }],
  stream: true,
};

/** The answer that a stream of events adds up to. */
const folded = (id: string, events: readonly unknown[]) =>
  events.flatMap((event) => playgroundOf(id).parseEvent(event)).reduce(appendPiece, NO_ANSWER);

describe("a conversation in each API style", () => {
  it("is sent in chat completions", () => {
    const { path, body } = playgroundOf("chat-completions").buildRequest(ask);
    expect(path).toBe("/v1/chat/completions");
    expect(body).toMatchObject({
      stream: true,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "call_1", function: { name: "get_weather" } }],
        },
        { role: "tool", tool_call_id: "call_1", content: '{"temperature":21}' },
      ],
      tools: [{ type: "function", function: { name: "get_weather" } }],
    });
  });

  it("is sent in responses", () => {
    const { body } = playgroundOf("responses").buildRequest(ask);
    expect(body).toMatchObject({
      instructions: "Be brief.",
      input: [
        { role: "user", content: "Weather?" },
        { role: "assistant", content: "I look." },
        { type: "function_call", call_id: "call_1", arguments: '{"city":"Paris"}' },
        { type: "function_call_output", call_id: "call_1", output: '{"temperature":21}' },
      ],
      tools: [{ type: "function", name: "get_weather" }],
    });
  });

  it("is sent in messages", () => {
    const { body } = playgroundOf("messages").buildRequest(ask);
    expect(body).toMatchObject({
      system: "Be brief.",
      messages: [
        { role: "user", content: "Weather?" },
        { role: "assistant", content: [{ type: "text" }, { type: "tool_use", input: { city: "Paris" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
      ],
      tools: [{ name: "get_weather", input_schema: { type: "object" } }],
    });
  });

  it("is sent in content generation", () => {
    const { path, body } = playgroundOf("content-generation").buildRequest(ask);
    expect(path).toBe("/v1beta/models/provider-v4-flash:streamGenerateContent?alt=sse");
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        { role: "user", parts: [{ text: "Weather?" }] },
        { role: "model", parts: [{ text: "I look." }, { functionCall: { args: { city: "Paris" } } }] },
        { role: "user", parts: [{ functionResponse: { name: "get_weather" } }] },
      ],
    });
  });

  it("is sent in the local-runner style", () => {
    const { path, body } = playgroundOf("model-runner").buildRequest(ask);
    expect(path).toBe("/api/chat");
    expect(body).toMatchObject({
      stream: true,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "call_1", function: { name: "get_weather", arguments: { city: "Paris" } } }],
        },
        {
          role: "tool",
          tool_call_id: "call_1",
          tool_name: "get_weather",
          content: '{"temperature":21}',
        },
      ],
      tools: [{ type: "function", function: { name: "get_weather" } }],
    });
  });

  it.each([
    ["chat-completions", { user: "chen" }],
    ["responses", { user: "chen" }],
    ["messages", { metadata: { user_id: "chen" } }],
  ])("names the end user in %s", (id, expected) => {
    const { body } = playgroundOf(id).buildRequest({ ...ask, parameters: { user: "chen" } });
    expect(body).toMatchObject(expected);
  });

  it.each(playgrounds)("leaves out unwanted options in $id", (dialect) => {
    const { body } = dialect.buildRequest({ ...ask, system: "", tools: [], stream: false });
    expect(JSON.stringify(body)).not.toMatch(/"stream":true|tools|Be brief/);
  });

  it("disables streaming in the local-runner style, which streams by default", () => {
    const { body } = playgroundOf("model-runner").buildRequest({ ...ask, stream: false });
    expect(body).toMatchObject({ stream: false });
  });
});

describe("a stream in each API style", () => {
  const expected = { text: "Hi", reasoning: "Hm", calls: [call], usage: { input: 3, output: 5 }, error: "" };

  it("becomes one answer in chat completions", () => {
    const chunk = (delta: unknown) => ({ choices: [{ delta }] });
    expect(
      folded("chat-completions", [
        chunk({ role: "assistant", content: "" }),
        chunk({ reasoning_content: "Hm" }),
        chunk({ content: "Hi" }),
        chunk({ tool_calls: [{ index: 0, id: "call_1", function: { name: "get_weather", arguments: "" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] }),
        { choices: [{ delta: {} }], usage: { prompt_tokens: 3, completion_tokens: 5 } },
      ]),
    ).toEqual(expected);
  });

  it("becomes one answer in responses", () => {
    expect(
      folded("responses", [
        { type: "response.created" },
        { type: "response.reasoning_summary_text.delta", delta: "Hm" },
        { type: "response.output_text.delta", delta: "Hi" },
        {
          type: "response.output_item.added",
          item: { type: "function_call", call_id: "call_1", name: "get_weather" },
        },
        { type: "response.function_call_arguments.delta", delta: '{"city":"Paris"}' },
        { type: "response.function_call_arguments.done", arguments: '{"city":"Paris"}' },
        { type: "response.completed", response: { usage: { input_tokens: 3, output_tokens: 5 } } },
      ]),
    ).toEqual(expected);
  });

  it("becomes one answer in messages", () => {
    const block = (delta: unknown) => ({ type: "content_block_delta", delta });
    expect(
      folded("messages", [
        { type: "message_start", message: {} },
        block({ type: "thinking_delta", thinking: "Hm" }),
        block({ type: "text_delta", text: "Hi" }),
        { type: "ping" },
        {
          type: "content_block_start",
          content_block: { type: "tool_use", id: "call_1", name: "get_weather" },
        },
        block({ type: "input_json_delta", partial_json: '{"city":"Paris"}' }),
        { type: "message_delta", delta: {}, usage: { input_tokens: 3, output_tokens: 5 } },
      ]),
    ).toEqual(expected);
  });

  it("becomes one answer in content generation", () => {
    const chunk = (part: unknown) => ({ candidates: [{ content: { parts: [part] } }] });
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 1 };
    expect(
      folded("content-generation", [
        chunk({ text: "Hm", thought: true }),
        chunk({ text: "Hi" }),
        { ...chunk({ functionCall: { ...call, args: { city: "Paris" } } }), usageMetadata },
      ]),
    ).toEqual(expected);
  });

  it("becomes one answer in the local-runner style", () => {
    const line = (message: unknown) => ({ message, done: false });
    expect(
      folded("model-runner", [
        line({ role: "assistant", content: "", thinking: "Hm" }),
        line({ role: "assistant", content: "Hi" }),
        line({
          role: "assistant",
          content: "",
          tool_calls: [{ id: "call_1", function: { name: "get_weather", arguments: { city: "Paris" } } }],
        }),
        { message: { role: "assistant", content: "" }, done: true, prompt_eval_count: 3, eval_count: 5 },
      ]),
    ).toEqual(expected);
  });

  const error = { message: "it broke" };
  it.each([
    ["chat-completions", { error }],
    ["responses", { type: "error", error }],
    ["responses", { type: "response.failed", response: { error } }],
    ["messages", { type: "error", error }],
    ["content-generation", { error }],
    ["model-runner", { error: "it broke" }],
  ])("shows an error in %s", (id, event) => {
    expect(folded(id, [event]).error).toBe("it broke");
  });
});

describe("an answer in one piece", () => {
  it.each([
    [
      "chat-completions",
      {
        choices: [
          {
            message: {
              content: "Hi",
              reasoning_content: "Hm",
              tool_calls: [{ id: "call_1", function: call }],
            },
          },
        ],
      },
    ],
    [
      "responses",
      {
        output: [
          { type: "reasoning", summary: [{ text: "Hm" }] },
          { type: "message", content: [{ text: "Hi" }] },
          { type: "function_call", call_id: "call_1", name: call.name, arguments: call.arguments },
        ],
      },
    ],
    [
      "messages",
      {
        content: [
          { type: "thinking", thinking: "Hm" },
          { type: "text", text: "Hi" },
          { type: "tool_use", id: "call_1", name: call.name, input: { city: "Paris" } },
        ],
      },
    ],
    [
      "model-runner",
      {
        message: {
          content: "Hi",
          thinking: "Hm",
          tool_calls: [{ id: "call_1", function: { name: call.name, arguments: { city: "Paris" } } }],
        },
        done: true,
      },
    ],
  ])("is read in %s", (id, body) => {
    const answer = playgroundOf(id).parseAnswer(body).reduce(appendPiece, NO_ANSWER);
    expect(answer).toMatchObject({ text: "Hi", reasoning: "Hm", calls: [call] });
  });
});

describe("attachments and parameters in each API style", () => {
  const picture = { kind: "image", name: "a.png", mediaType: "image/png", data: "AAAA", url: "" } as const;
  const paper = { kind: "file", name: "a.pdf", mediaType: "application/pdf", data: "BBBB", url: "" } as const;
  const whole: PlaygroundRequest = {
    ...ask,
    turns: [{ role: "user", text: "Look.", attachments: [picture, paper] }],
    parameters: { temperature: 0.5, max_tokens: 99, stop: ["end"] },
  };

  it.each<[string, Record<string, unknown>]>([
    [
      "chat-completions",
      {
        temperature: 0.5,
        max_tokens: 99,
        stop: ["end"],
        messages: [
          { role: "system" },
          {
            content: [
              { type: "text", text: "Look." },
              { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
              { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,BBBB" } },
            ],
          },
        ],
      },
    ],
    [
      "responses",
      {
        temperature: 0.5,
        max_output_tokens: 99,
        input: [
          {
            content: [
              { type: "input_text", text: "Look." },
              { type: "input_image", image_url: "data:image/png;base64,AAAA" },
              { type: "input_file", filename: "a.pdf" },
            ],
          },
        ],
      },
    ],
    [
      "messages",
      {
        temperature: 0.5,
        max_tokens: 99,
        stop_sequences: ["end"],
        messages: [
          {
            content: [
              { type: "text", text: "Look." },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
              { type: "document", source: { type: "base64", media_type: "application/pdf", data: "BBBB" } },
            ],
          },
        ],
      },
    ],
    [
      "content-generation",
      {
        generationConfig: {
          temperature: 0.5,
          maxOutputTokens: 99,
          stopSequences: ["end"],
          thinkingConfig: {},
        },
        contents: [
          {
            parts: [
              { text: "Look." },
              { inlineData: { mimeType: "image/png", data: "AAAA" } },
              { inlineData: { mimeType: "application/pdf", data: "BBBB" } },
            ],
          },
        ],
      },
    ],
    [
      "model-runner",
      {
        options: { temperature: 0.5, num_predict: 99, stop: ["end"] },
        messages: [{ role: "system" }, { content: "Look.", images: ["AAAA", "BBBB"] }],
      },
    ],
  ])("are sent as %s defines them", (id, body) => {
    expect(playgroundOf(id).buildRequest(whole).body).toMatchObject(body);
  });

  it("are not offered if a style does not support them", () => {
    expect(playgroundOf("model-runner").canAttach(paper)).toBe(false);
    expect(playgroundOf("model-runner").canAttach({ ...picture, data: "", url: "https://x.test/a" })).toBe(
      false,
    );
    expect(playgroundOf("responses").parameters).not.toHaveProperty("seed");
  });
});
