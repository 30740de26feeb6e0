import fc from "fast-check";
import type { ProviderErrorKind } from "../../../../../src/core/errors/provider-error.ts";
import type { ProviderFinish } from "../../../../../src/gateway/providers/answers/provider-events.ts";
import type { DecoderRow } from "../decoder-row.ts";
import { stream, whole } from "./fake.ts";
import {
  added,
  args,
  CREATED,
  call,
  completed,
  createDecoder,
  createWholeDecoder,
  done,
  event,
  incomplete,
  text,
} from "./stream.ts";

const FIRST = "call_Vd8kP2mQ7xLz3RtY9wNbC4Hj";
const SECOND = "call_J5hT1cXe8ZqW6uKoS0gMfA2B";

const ENDS: readonly (readonly [type: string, response: object, reason: ProviderFinish])[] = [
  ["response.completed", { status: "completed" }, "stop"],
  ["response.completed", {}, "stop"],
  ["response.incomplete", { incomplete_details: { reason: "max_output_tokens" } }, "length"],
  ["response.incomplete", { incomplete_details: { reason: "content_filter" } }, "content_filter"],
  ["response.incomplete", { incomplete_details: { reason: "something_new" } }, "length"],
  ["response.incomplete", {}, "length"],
  ["response.completed", { status: "incomplete" }, "length"],
];

const FAILURES: readonly (readonly [error: object, kind: ProviderErrorKind])[] = [
  [{ code: "server_error", message: "no" }, "server_error"],
  [{ code: "rate_limit_exceeded", message: "no" }, "rate_limited"],
  [{ code: "insufficient_quota", message: "no" }, "rate_limited"],
  [{ code: "server_is_overloaded", message: "no" }, "model_unavailable"],
  [{ code: "context_length_exceeded", message: "no" }, "context_length"],
  [{ code: "invalid_prompt", message: "flagged" }, "content_filter"],
  [{ code: "invalid_image", message: "no" }, "invalid_request"],
  [{ code: null, message: "no", type: "invalid_request_error" }, "invalid_request"],
  [{ code: null, message: "no" }, "server_error"],
];

const page = { type: "url_citation", url: "https://a.example", title: "A" };
const cited = { type: "citation", url: "https://a.example", title: "A" } as const;

export const openaiResponsesDecoder: DecoderRow = {
  name: "openai-responses",
  createDecoder,
  says: (words) => CREATED + text(0, words),
  end: completed(),
  fails: (message) => event("error", { error: { type: "invalid_request_error", code: null, message } }),

  mixed: {
    stream: stream("tools"),
    events: [
      { type: "start", messageId: "resp_0a1b2c3d" },
      { type: "reasoning", text: "Oslo, and the time." },
      { type: "text", text: "Let me " },
      { type: "text", text: "look." },
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
        usage: { prompt: 1112, completion: 89, reasoning: 30, cached: 1000, cacheWritten: 100 },
      },
      { type: "finish", reason: "tool_calls" },
    ],
  },

  bare: {
    stream:
      event("response.output_item.added", { item: { type: "function_call", name: "f" }, item_id: "x" }) +
      event("response.function_call_arguments.delta", { item_id: "x", delta: "{}" }) +
      completed(),
    events: [
      { type: "start", messageId: "resp_made-1" },
      { type: "tool-call", index: 0, id: "call_made2", name: "f" },
      { type: "tool-arguments", index: 0, delta: "{}" },
      { type: "tool-call-end", index: 0 },
      { type: "finish", reason: "tool_calls" },
    ],
  },

  ends: [
    ...ENDS.map(([type, response, reason]) => ({
      said: `${type} ${JSON.stringify(response)}`,
      stream: CREATED + text(0, "x") + event(type, { response }),
      whole: { status: type.slice("response.".length), ...response, output: [] },
      reason,
    })),
    // In one piece, a cancelled response has no end.
    {
      said: "cancelled",
      stream: CREATED + completed({ status: "cancelled" }),
      whole: null,
      reason: "length",
    },
  ],

  failures: FAILURES.flatMap(([error, kind]) => {
    const what = JSON.stringify(error);
    const body = { status: "failed", error, output: [] };
    return [
      {
        what: `response.failed ${what}`,
        event: event("response.failed", { response: { error } }),
        whole: body,
        kind,
      },
      { what: `error ${what}`, event: event("error", { error }), whole: body, kind },
      // An error may be the event itself, which has a type of its own.
      ...("type" in error
        ? []
        : [{ what: `plain error ${what}`, event: event("error", error), whole: body, kind }]),
    ];
  }),

  malformed: [
    ["no JSON", "data: {oops}\n\n"],
    ["a list", "data: []\n\n"],
    ["a call without a name", added(1, { type: "function_call", call_id: "a" })],
  ],

  counts: [
    [
      "of what was written to the cache, and of the calls of the backend's own tool",
      CREATED +
        [
          { type: "web_search_call", action: { type: "search", query: "a" } },
          { type: "web_search_call" },
          { type: "web_search_call", action: { type: "open_page", url: "https://a.example" } },
          { type: "web_search_call", action: { type: "find_in_page", pattern: "x" } },
        ]
          .map((item, index) => added(index, item) + done(index, item))
          .join("") +
        completed({
          status: "completed",
          usage: { input_tokens: 9, output_tokens: 3, input_tokens_details: { cache_write_tokens: 4 } },
        }),
      { prompt: 9, completion: 3, cacheWritten: 4, webSearches: 2, webFetches: 1 },
    ],
    [
      "without those that are missing or nonsense",
      CREATED +
        completed({
          status: "completed",
          usage: { input_tokens: 4, output_tokens: -1, input_tokens_details: "2" },
        }),
      { prompt: 4 },
    ],
  ],

  earlyCounts: null,

  calls: {
    begin: CREATED,
    opens: (index) => added(index, call(`c${index}`)),
    adds: args,
    closes: (index, json) => done(index, call(`c${index}`, json)),
    complete: completed(),
    cut: ["max_output_tokens", "content_filter"].map((reason) => [reason, incomplete(reason)]),
  },

  logprobs: [
    "beside a delta",
    CREATED +
      event("response.output_text.delta", {
        output_index: 0,
        content_index: 0,
        delta: "Hi",
        logprobs: [{ token: "Hi", logprob: -0.5, bytes: [72, 105], top_logprobs: [] }],
      }) +
      completed(),
    [
      { type: "tokens", tokens: [{ token: "Hi", logprob: -0.5, bytes: [72, 105], top: [] }] },
      { type: "text", text: "Hi" },
    ],
  ],

  citations: [
    [
      "without offsets, at the end of the text",
      CREATED +
        done(0, {
          type: "message",
          content: [{ type: "output_text", text: "One.", annotations: [page] }],
        }) +
        completed(),
      [{ ...cited, start: 4, end: 4 }],
    ],
    [
      "with offsets, in the answer and not in their part",
      CREATED +
        text(0, "Before. ") +
        text(1, "[a]") +
        event("response.output_text.annotation.added", {
          output_index: 1,
          content_index: 0,
          annotation: { ...page, start_index: 1, end_index: 3 },
        }) +
        done(1, { type: "message", content: [] }) +
        completed(),
      [{ ...cited, start: 9, end: 11 }],
    ],
  ],

  remembered: [
    ["none", stream("text"), {}],
    [
      "sealed as it came when it was complete",
      stream("tools"),
      {
        [FIRST]: [
          {
            type: "reasoning",
            id: "rs_01",
            summary: [{ type: "summary_text", text: "Oslo, and the time." }],
            encrypted_content: "gAAAAABsealed+one==",
          },
        ],
        [SECOND]: [],
      },
    ],
  ],

  whole: {
    createDecoder: createWholeDecoder,
    mixed: whole("tools"),
    unfinished: ["in_progress", "queued", "cancelled"].map((status) => ({ status, output: [] })),
    strange: { status: "completed", output: [null, "x"] },
  },

  fuzzed: fuzzedEvents(),
};

function fuzzedEvents(): fc.Arbitrary<string> {
  const value = fc.jsonValue();
  const item = fc.record(
    {
      type: fc.constantFrom("message", "reasoning", "function_call", "web_search_call", "other"),
      id: value,
      call_id: value,
      name: value,
      arguments: value,
      content: value,
      summary: value,
      action: value,
    },
    { requiredKeys: ["type"] },
  );
  const events = fc.record(
    {
      type: fc.constantFrom(
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.refusal.delta",
        "response.reasoning_summary_text.delta",
        "response.function_call_arguments.delta",
        "response.output_text.annotation.added",
      ),
      output_index: fc.oneof(fc.nat(3), value),
      content_index: value,
      item: fc.oneof(item, value),
      delta: fc.oneof(fc.string(), value),
      annotation: value,
      logprobs: value,
      response: value,
    },
    { requiredKeys: ["type"] },
  );
  return fc.array(events).map((made) => made.map((each) => event(each.type, each)).join("") + completed());
}
