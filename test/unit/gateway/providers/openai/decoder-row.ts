import fc from "fast-check";
import type { ProviderFinish } from "../../../../../src/gateway/providers/answers/provider-events.ts";
import type { DecoderRow } from "../decoder-row.ts";
import { call, chunk, counted, createDecoder, createWholeDecoder, DONE, data } from "./stream.ts";

const ENDS: readonly (readonly [said: string, reason: ProviderFinish])[] = [
  ["stop", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content_filter"],
  ["eos", "stop"],
];

const token = { token: "a", logprob: -0.1, bytes: [97] };
const content = [
  { ...token, top_logprobs: [token, { token: "b", logprob: -2 }, { token: "c" }] },
  { token: 1 },
  null,
];
const likely = (delta: object, logprobs: unknown) =>
  data({ id: "c1", choices: [{ index: 0, delta, logprobs, finish_reason: null }] });

const cite = (page: object) => ({ type: "url_citation", ...page });

export const openaiDecoder: DecoderRow = {
  name: "openai",
  createDecoder,
  says: (words) => chunk({ content: words }),
  end: chunk({}, "stop"),
  fails: (message) => data({ error: { message, type: "invalid_request_error" } }),

  mixed: {
    stream: [
      ": OPENROUTER PROCESSING\r\n\r\n",
      chunk({ role: "assistant", content: "" }),
      'data:{"id":"c1","choices":[]}\r\n\r\n',
      chunk({ reasoning_content: "hmm é" }),
      'data: {"id":"c1","choices":[{"index":0,\r\ndata: "delta":{"content":"größe 😀"}}]}\r\n\r\n',
      call({ index: 0, id: "a", type: "function", function: { name: "get", arguments: "" } }),
      call({ index: 0, function: { arguments: '{"x":' } }),
      call({ index: 0, function: { arguments: '"ü"}' } }),
      chunk({}, "tool_calls"),
      data({
        id: "c1",
        choices: [],
        usage: { prompt_tokens: 9, completion_tokens: 7, completion_tokens_details: { reasoning_tokens: 4 } },
      }),
      "data: [DONE]",
    ].join(""),
    events: [
      { type: "start", messageId: "c1" },
      { type: "reasoning", text: "hmm é" },
      { type: "text", text: "größe 😀" },
      { type: "tool-call", index: 0, id: "a", name: "get" },
      { type: "tool-arguments", index: 0, delta: '{"x":' },
      { type: "tool-arguments", index: 0, delta: '"ü"}' },
      { type: "tool-call-end", index: 0 },
      { type: "usage", usage: { prompt: 9, completion: 7, reasoning: 4 } },
      { type: "finish", reason: "tool_calls" },
    ],
  },

  bare: {
    stream: data({ choices: [{ delta: { content: "x" }, finish_reason: "stop" }] }),
    events: [
      { type: "start", messageId: "chatcmpl-made1" },
      { type: "text", text: "x" },
      { type: "finish", reason: "stop" },
    ],
  },

  ends: ENDS.map(([said, reason]) => ({
    said,
    stream: chunk({ content: "x" }) + chunk({}, said) + DONE,
    whole: { choices: [{ index: 0, message: { content: "x" }, finish_reason: said }] },
    reason,
  })),

  failures: (
    [
      ["an object", { error: { message: "overloaded", type: "server_error", code: null } }, "server_error"],
      ["a code of its own", { error: { message: "slow down", code: "rate_limit_exceeded" } }, "rate_limited"],
      ["a code for the model", { error: { message: "no", code: "model_not_found" } }, "model_unavailable"],
      [
        "a type of its own",
        { error: { message: "no such tool", type: "invalid_request_error", code: "strange" } },
        "invalid_request",
      ],
      ["a limit as its type", { error: { message: "slow down", type: "rate_limit_error" } }, "rate_limited"],
      ["a status as its code", { error: { message: "slow down", code: 429 } }, "rate_limited"],
      ["a string", { error: "out of memory" }, "server_error"],
      [
        "an error beside choices",
        { error: { code: 502, message: "x" }, choices: [{ delta: {}, finish_reason: "error" }] },
        "server_error",
      ],
      ...["error", "abort", "insufficient_system_resource"].map(
        (reason) =>
          [
            `the finish reason ${reason}`,
            { choices: [{ index: 0, delta: {}, finish_reason: reason }] },
            "server_error",
          ] as const,
      ),
    ] as const
  ).map(([what, body, kind]) => ({ what, event: data(body), whole: body, kind })),

  malformed: [
    ["no JSON", "data: {oops}\n\n"],
    ["a list", "data: []\n\n"],
    ["a call without a name", call({ index: 0, id: "a", function: { arguments: "{}" } })],
  ],

  counts: [
    [
      "from the last of several",
      data({ id: "c1", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }) +
        counted({ prompt_tokens: 1, completion_tokens: 3 }),
      { prompt: 1, completion: 3 },
    ],
    [
      "without those that are missing or nonsense",
      counted({ prompt_tokens: 4, completion_tokens: -1, reasoning_tokens: "2" }),
      { prompt: 4 },
    ],
    ...[{ server_tool_use: { web_search_requests: 3 } }, { num_search_queries: 3 }].map(
      (searches) =>
        [
          `of the cache, audio, and the backend's own searches: ${Object.keys(searches)}`,
          counted({
            prompt_tokens: 100,
            completion_tokens: 20,
            prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10, audio_tokens: 5 },
            completion_tokens_details: { reasoning_tokens: 8, audio_tokens: 4 },
            ...searches,
          }),
          {
            prompt: 100,
            completion: 20,
            reasoning: 8,
            cached: 60,
            cacheWritten: 10,
            audioInput: 5,
            audioOutput: 4,
            webSearches: 3,
          },
        ] as const,
    ),
  ],

  earlyCounts: null,

  calls: {
    begin: "",
    opens: (index) => call({ index, id: `c${index}`, function: { name: "f", arguments: "" } }),
    adds: (index, json) => call({ index, function: { arguments: json } }),
    closes: () => "",
    complete: chunk({}, "tool_calls") + DONE,
    cut: ["length", "content_filter"].map((reason) => [reason, chunk({}, reason) + DONE]),
  },

  logprobs: [
    "without those of thoughts and what is malformed",
    likely({ reasoning_content: "Hm" }, { content }) +
      likely({ content: "a" }, { content }) +
      likely({ content: "b" }, { content: null }) +
      chunk({}, "stop"),
    [
      { type: "reasoning", text: "Hm" },
      { type: "tokens", tokens: [{ ...token, top: [token, { token: "b", logprob: -2, bytes: null }] }] },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ],
  ],

  citations: [
    [
      "without offsets, at the end of the text so far",
      chunk({ content: "One." }) +
        chunk({ annotations: [cite({ url_citation: { url: "https://a.example", title: "A" } })] }) +
        chunk({ content: " Two.", annotations: [cite({ url: "https://b.example", title: "B" })] }, "stop"),
      [
        { type: "citation", url: "https://a.example", title: "A", start: 4, end: 4 },
        { type: "citation", url: "https://b.example", title: "B", start: 9, end: 9 },
      ],
    ],
  ],

  // The callers send the reasoning with the message, as text.
  remembered: [],

  whole: {
    createDecoder: createWholeDecoder,
    mixed: JSON.stringify({
      id: "c1",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            reasoning_content: "hmm é",
            content: "größe 😀",
            tool_calls: [{ id: "a", type: "function", function: { name: "get", arguments: '{"x":"ü"}' } }],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 7, completion_tokens_details: { reasoning_tokens: 4 } },
    }),
    unfinished: [{ choices: [] }, { choices: [{ index: 0, message: {} }] }],
    strange: { choices: [null, { message: { content: [null, "x"] }, finish_reason: "stop" }] },
  },

  fuzzed: fuzzedChunks(),
};

function fuzzedChunks(): fc.Arbitrary<string> {
  const value = fc.jsonValue();
  const delta = fc.record(
    {
      content: value,
      reasoning: value,
      tool_calls: fc.oneof(value, fc.array(value)),
      function_call: value,
    },
    { requiredKeys: [] },
  );
  const chunks = fc.oneof(
    value,
    fc.record({ id: value, error: value, usage: value, choices: value }, { requiredKeys: [] }),
    fc.record({
      choices: fc.array(fc.record({ index: value, delta, finish_reason: value }, { requiredKeys: [] })),
    }),
  );
  return fc.array(chunks).map((made) => made.map(data).join("") + DONE);
}
