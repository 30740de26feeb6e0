import fc from "fast-check";
import type { ProviderErrorKind } from "../../../../../src/core/errors/provider-error.ts";
import type { ProviderFinish } from "../../../../../src/gateway/providers/answers/provider-events.ts";
import type { DecoderRow } from "../decoder-row.ts";
import { stream } from "./fake.ts";
import {
  begin,
  block,
  call,
  createDecoder,
  createWholeDecoder,
  delta,
  end,
  event,
  finish,
  input,
  START,
  STOP,
  text,
} from "./stream.ts";

const FIRST = "toolu_01T1x1fJ34qAmk2tNTrN7Up6";
const SECOND = "toolu_01D7FLrfh4GYq7yT1ULFeyMV";

const ENDS: readonly (readonly [said: string | null, reason: ProviderFinish])[] = [
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["max_output_tokens", "length"],
  ["length", "length"],
  ["content_filter", "content_filter"],
  ["refusal", "content_filter"],
  ["pause_turn", "incomplete"],
  ["something_new", "stop"],
  [null, "stop"],
];

const FAILURES: readonly (readonly [type: string, kind: ProviderErrorKind])[] = [
  ["authentication_error", "token_expired"],
  ["permission_error", "account_suspended"],
  ["rate_limit_error", "rate_limited"],
  ["invalid_request_error", "invalid_request"],
  ["not_found_error", "model_unavailable"],
  ["overloaded_error", "model_unavailable"],
  ["request_too_large", "too_large"],
  ["timeout_error", "timeout"],
  ["api_error", "server_error"],
  ["something_new", "server_error"],
];

/** A stream that states counts at its beginning and at its end. */
const counted = (first: object, last: object) =>
  begin({ usage: { output_tokens: 1, ...first } }) +
  text(0, "x") +
  event("message_delta", { delta: {}, usage: { output_tokens: 5, ...last } }) +
  STOP;

const lifetimes = (short: number, long: number) => ({
  cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
});

const citation = { type: "web_search_result_location", url: "https://a.example", title: "A" };

export const anthropicDecoder: DecoderRow = {
  name: "anthropic",
  createDecoder,
  says: (words) => START + text(0, words),
  end: finish("end_turn") + STOP,
  fails: (message) => event("error", { error: { type: "invalid_request_error", message } }),

  mixed: {
    stream: stream("tools"),
    events: [
      { type: "start", messageId: "msg_01TwoCalls" },
      { type: "reasoning", text: "Oslo, and the time." },
      { type: "text", text: "Let me look." },
      { type: "tool-call", index: 0, id: FIRST, name: "get_weather" },
      { type: "tool-arguments", index: 0, delta: '{"city":' },
      { type: "tool-arguments", index: 0, delta: ' "Ørsta"' },
      { type: "tool-arguments", index: 0, delta: "}" },
      { type: "tool-call-end", index: 0 },
      { type: "tool-call", index: 1, id: SECOND, name: "get_time" },
      { type: "tool-arguments", index: 1, delta: "{}" },
      { type: "tool-call-end", index: 1 },
      {
        type: "usage",
        usage: {
          prompt: 1112,
          completion: 89,
          reasoning: 30,
          cached: 1000,
          cacheWritten: 100,
          cacheWritten1h: 0,
        },
      },
      { type: "finish", reason: "tool_calls" },
    ],
  },

  // The type stands in the name alone; input comes at once; nothing ends.
  bare: {
    stream:
      "event: message_start\ndata: {}\n\n" +
      block(0, { type: "thinking", thinking: "hm" }) +
      block(1, { type: "tool_use", name: "f", input: { a: 1 } }) +
      STOP,
    events: [
      { type: "start", messageId: "msg_made-1" },
      { type: "reasoning", text: "hm" },
      { type: "tool-call", index: 0, id: "toolu_made2", name: "f" },
      { type: "tool-arguments", index: 0, delta: '{"a":1}' },
      { type: "tool-call-end", index: 0 },
      { type: "finish", reason: "tool_calls" },
    ],
  },

  ends: ENDS.map(([said, reason]) => ({
    said,
    stream: START + text(0, "x") + finish(said) + STOP,
    whole: { content: [{ type: "text", text: "x" }], stop_reason: said },
    reason,
  })),

  failures: FAILURES.map(([type, kind]) => ({
    what: type,
    event: event("error", { error: { type, message: "no" } }),
    whole: { type: "error", error: { type, message: "no" } },
    kind,
  })),

  malformed: [
    ["no JSON", "data: {oops}\n\n"],
    ["a list", "data: []\n\n"],
    ["a call without a name", block(0, { type: "tool_use", id: "a" })],
  ],

  counts: [
    [
      "at the beginning alone",
      counted({ input_tokens: 9 }, { input_tokens: 0 }),
      { prompt: 9, completion: 5 },
    ],
    ["at the end alone", counted({ input_tokens: 0 }, { input_tokens: 9 }), { prompt: 9, completion: 5 }],
    [
      "with the cached part of the prompt at the beginning",
      counted({ input_tokens: 4, cache_read_input_tokens: 5 }, { input_tokens: null }),
      { prompt: 9, completion: 5, cached: 5 },
    ],
    [
      "without those that are missing or nonsense",
      counted({ input_tokens: 4 }, { cache_read_input_tokens: -1, server_tool_use: "2" }),
      { prompt: 4, completion: 5 },
    ],
    [
      "of what was written to the cache, by lifetime",
      counted({ input_tokens: 4, ...lifetimes(30, 10), cache_creation_input_tokens: 40 }, {}),
      { prompt: 44, completion: 5, cacheWritten: 40, cacheWritten1h: 10 },
    ],
    [
      "of what was written to the cache, by lifetime alone",
      counted({ input_tokens: 4, ...lifetimes(30, 10) }, {}),
      { prompt: 44, completion: 5, cacheWritten: 40, cacheWritten1h: 10 },
    ],
    [
      "of what was written to the cache, in total alone",
      counted({ input_tokens: 4, cache_creation_input_tokens: 40 }, {}),
      { prompt: 44, completion: 5, cacheWritten: 40 },
    ],
    // The counts at the end are cumulative: they replace the first ones.
    [
      "of what was written to the cache, again at the end",
      counted(
        { input_tokens: 4, ...lifetimes(30, 10), cache_creation_input_tokens: 40 },
        { cache_creation_input_tokens: 40 },
      ),
      { prompt: 44, completion: 5, cacheWritten: 40, cacheWritten1h: 10 },
    ],
    [
      "of what was written to the cache, as more at the end",
      counted(
        { input_tokens: 4, ...lifetimes(0, 40), cache_creation_input_tokens: 40 },
        { cache_creation_input_tokens: 60 },
      ),
      { prompt: 64, completion: 5, cacheWritten: 60, cacheWritten1h: 60 },
    ],
    [
      "of the server's own tools, and of samplings that the totals do not include",
      counted(
        { input_tokens: 3 },
        {
          input_tokens: 20,
          output_tokens: 7,
          iterations: [
            { type: "compaction", input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 500 },
            { type: "message", input_tokens: 20, output_tokens: 7 },
            { type: "advisor_message", model: "larger", input_tokens: 300, output_tokens: 30 },
          ],
          server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
        },
      ),
      { prompt: 1_820, completion: 137, cached: 500, webSearches: 2, webFetches: 1 },
    ],
  ],

  earlyCounts: [
    "of the prompt",
    begin({ usage: { input_tokens: 4, output_tokens: 1, cache_read_input_tokens: 90 } }) + text(0, "x"),
    { prompt: 94, completion: 1, cached: 90 },
  ],

  calls: {
    begin: START,
    opens: (index) => call(index),
    adds: input,
    closes: end,
    complete: finish("tool_use") + STOP,
    cut: ["max_tokens", "refusal"].map((reason) => [reason, finish(reason) + STOP]),
  },

  logprobs: null,

  citations: [
    [
      "a cited block",
      START +
        text(0, "The links. ") +
        block(1, { type: "text", text: "" }) +
        delta(1, { type: "text_delta", text: "Here are" }) +
        delta(1, { type: "citations_delta", citation }) +
        end(1) +
        text(2, " two.") +
        STOP,
      [
        {
          type: "citation",
          url: "https://a.example",
          title: "A",
          start: 19,
          end: 19,
          claim: { start: 11, end: 19 },
        },
      ],
    ],
  ],

  remembered: [
    ["none", stream("text"), {}],
    [
      "signed where it begins",
      START +
        block(0, { type: "thinking", thinking: "hm", signature: "s" }) +
        end(0) +
        call(1) +
        end(1) +
        finish("tool_use") +
        STOP,
      { c1: [{ type: "thinking", thinking: "hm", signature: "s" }] },
    ],
    [
      "as it was signed",
      stream("tools"),
      {
        [FIRST]: [
          { type: "thinking", thinking: "Oslo, and the time.", signature: "EpwBCkYIChgCKkBxy+thought+one==" },
          { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3" },
        ],
        [SECOND]: [],
      },
    ],
  ],

  whole: {
    createDecoder: createWholeDecoder,
    mixed: JSON.stringify({
      id: "msg_01TwoCalls",
      type: "message",
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Oslo, and the time.", signature: "s" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: FIRST, name: "get_weather", input: { city: "Ørsta" } },
        { type: "tool_use", id: SECOND, name: "get_time", input: {} },
      ],
      stop_reason: "tool_use",
      usage: {
        input_tokens: 12,
        ...lifetimes(100, 0),
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 1000,
        output_tokens: 89,
        output_tokens_details: { thinking_tokens: 30 },
      },
    }),
    unfinished: [],
    strange: { content: [null, "x"] },
  },

  fuzzed: fuzzedMessages(),
};

function fuzzedMessages(): fc.Arbitrary<string> {
  const value = fc.jsonValue();
  const type = fc.constantFrom("text", "thinking", "redacted_thinking", "tool_use", "other");
  const content = fc.record(
    {
      type,
      text: value,
      thinking: value,
      signature: value,
      data: value,
      id: value,
      name: value,
      input: value,
    },
    { requiredKeys: ["type"] },
  );
  const change = fc.record(
    { text: value, thinking: value, signature: value, partial_json: value, stop_reason: value },
    { requiredKeys: [] },
  );
  const events = fc.record(
    {
      type: fc.constantFrom(
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
      ),
      index: fc.oneof(fc.nat(3), value),
      message: value,
      content_block: fc.oneof(content, value),
      delta: fc.oneof(change, value),
      usage: value,
    },
    { requiredKeys: ["type"] },
  );
  return fc.array(events).map((made) => made.map((each) => event(each.type, each)).join("") + STOP);
}
