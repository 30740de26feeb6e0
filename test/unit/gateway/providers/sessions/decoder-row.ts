import fc from "fast-check";
import type { ProviderErrorKind } from "../../../../../src/core/errors/provider-error.ts";
import type { ProviderFinish } from "../../../../../src/gateway/providers/answers/provider-events.ts";
import type { DecoderRow } from "../decoder-row.ts";
import { utf8 } from "../support.ts";
import { createDecoder, event, FINISH } from "./stream.ts";

const ENDS: readonly (readonly [said: string, reason: ProviderFinish])[] = [
  ["stop", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["max_output_tokens", "length"],
  ["content_filter", "content_filter"],
  ["incomplete", "incomplete"],
  ["something_new", "stop"],
];

const FAILURES: readonly (readonly [code: string, kind: ProviderErrorKind])[] = [
  ["invalid_credentials", "invalid_credentials"],
  ["token_expired", "token_expired"],
  ["account_suspended", "account_suspended"],
  ["rate_limited", "rate_limited"],
  ["not_found", "not_found"],
  ["too_large", "too_large"],
  ["model_unavailable", "model_unavailable"],
  ["invalid_request", "invalid_request"],
  ["no_such_code", "server_error"],
];

export const sessionsDecoder: DecoderRow = {
  name: "sessions",
  createDecoder,
  says: (words) => event("text", { text: words }),
  end: FINISH,
  fails: (message) => event("error", { code: "invalid_request", message }),

  // Every trait of the protocol: CRLF, comments, multi-line data, no space, astral characters.
  mixed: {
    stream: [
      "\ufeff: hello\r\n\r\n",
      'event: start\r\ndata: {"message_id":"m1"}\r\n\r\n',
      'event:reasoning\ndata:{"text":"hmm é"}\n\n',
      ": keep-alive\n\n",
      'event: text\r\ndata: {"text":\r\ndata: "größe 漢字 😀"}\r\n\r\n',
      "event: future\ndata: not json at all\n\n",
      "id: 7\nretry: 10\nunknown: field\n",
      'event: search\rdata: {"results":[{"index":1,"url":"https://a.example/","title":"A"}]}\r\r',
      'event: text\ndata: {"text":"line\\r\\nline [citation:1]"}\n\n',
      event("usage", { prompt_tokens: 3, completion_tokens: 5, reasoning_tokens: 2 }),
      'event: finish\ndata: {"reason":"stop"}',
    ].join(""),
    events: [
      { type: "start", messageId: "m1" },
      { type: "reasoning", text: "hmm é" },
      { type: "text", text: "größe 漢字 😀" },
      { type: "search", results: [{ index: 1, url: "https://a.example/", title: "A" }] },
      { type: "text", text: "line\r\nline [citation:1]" },
      { type: "usage", usage: { prompt: 3, completion: 5, reasoning: 2 } },
      { type: "finish", reason: "stop" },
    ],
  },

  bare: {
    stream: event("text", { text: "x" }) + event("finish", {}),
    events: [
      { type: "text", text: "x" },
      { type: "finish", reason: "stop" },
    ],
  },

  ends: ENDS.map(([said, reason]) => ({
    said,
    stream: event("text", { text: "x" }) + event("finish", { reason: said }),
    whole: null,
    reason,
  })),

  failures: FAILURES.map(([code, kind]) => ({
    what: code,
    event: event("error", { code, message: "why" }),
    whole: null,
    kind,
  })),

  malformed: [
    ["no JSON", "event: text\ndata: {oops}\n\n"],
    ["no JSON in an event without a name", "data: {oops}\n\n"],
    ["no object", 'event: text\ndata: "text"\n\n'],
    ["text that is no string", event("text", { text: 5 })],
    ["reasoning without text", event("reasoning", {})],
    ["a start without an id", event("start", {})],
    ["search results that are no list", event("search", { results: {} })],
    ["a finish that is no JSON", "event: finish\ndata: stop\n\n"],
  ],

  counts: [
    [
      "without those that are missing or nonsense",
      event("usage", { prompt_tokens: 4, completion_tokens: -1, reasoning_tokens: "2" }) + FINISH,
      { prompt: 4 },
    ],
  ],

  earlyCounts: [
    "as they come",
    event("usage", { prompt_tokens: 4, completion_tokens: 1, cached_tokens: 3 }),
    { prompt: 4, completion: 1, cached: 3 },
  ],

  // The gateway writes tools into the prompt, and reads calls from the text.
  calls: null,
  logprobs: null,
  citations: [],
  remembered: [],
  whole: null,

  fuzzed: fuzzedStreams(),
};

function fuzzedStreams(): fc.Arbitrary<string | Uint8Array> {
  const line = fc.oneof(
    fc.constantFrom(
      ...["event: text", "event: finish", "event: start", "event: usage", "event: search", "event: error"],
    ),
    fc.json({ maxDepth: 2 }).map((json) => `data: ${json}`),
    fc.string({ unit: "binary" }),
  );
  return fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(line).map((lines) => utf8(lines.join("\n"))),
    fc.array(fc.tuple(line, line)).map((pairs) => pairs.map((pair) => `${pair.join("\n")}\n\n`).join("")),
  );
}
