import fc from "fast-check";
import type { ProviderErrorKind } from "../../../../../src/core/errors/provider-error.ts";
import type { ProviderFinish } from "../../../../../src/gateway/providers/answers/provider-events.ts";
import type { DecoderRow } from "../decoder-row.ts";
import { stream, whole } from "./fake.ts";
import { createDecoder, createWholeDecoder, data, ends, says } from "./stream.ts";

const FIRST = "gw8k2mq7xl3rt9wn";
const SECOND = "gt5h1cxe8zq6uk0s";

const ENDS: readonly (readonly [said: string, reason: ProviderFinish])[] = [
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["MALFORMED_FUNCTION_CALL", "length"],
  ["UNEXPECTED_TOOL_CALL", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["SPII", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["OTHER", "content_filter"],
  ["SOMETHING_NEW", "stop"],
];

const FAILURES: readonly (readonly [status: string, kind: ProviderErrorKind])[] = [
  ["RESOURCE_EXHAUSTED", "rate_limited"],
  ["UNAVAILABLE", "model_unavailable"],
  ["INTERNAL", "server_error"],
  ["DEADLINE_EXCEEDED", "timeout"],
  ["PERMISSION_DENIED", "account_suspended"],
  ["INVALID_ARGUMENT", "invalid_request"],
  ["SOMETHING_NEW", "server_error"],
];

const promptFeedback = { blockReason: "SAFETY" };

export const geminiDecoder: DecoderRow = {
  name: "gemini",
  createDecoder,
  says: (words) => says([{ text: words }]),
  end: ends("STOP"),
  fails: (message) => data({ error: { status: "INVALID_ARGUMENT", message } }),

  mixed: {
    stream: stream("tools"),
    events: [
      { type: "start", messageId: "q7c_aN-2Mt3knvgP" },
      { type: "reasoning", text: "Oslo, and the time." },
      { type: "text", text: "Let me look." },
      { type: "tool-call", index: 0, id: FIRST, name: "get_weather" },
      { type: "tool-arguments", index: 0, delta: '{"city":"Ørsta"}' },
      { type: "tool-call-end", index: 0 },
      { type: "tool-call", index: 1, id: SECOND, name: "get_time" },
      { type: "tool-arguments", index: 1, delta: "{}" },
      { type: "tool-call-end", index: 1 },
      { type: "usage", usage: { prompt: 1112, completion: 89, reasoning: 30, cached: 1000 } },
      { type: "finish", reason: "tool_calls" },
    ],
  },

  bare: {
    stream: data({
      candidates: [{ content: { parts: [{ functionCall: { name: "f" } }] }, finishReason: "STOP" }],
    }),
    events: [
      { type: "start", messageId: "resp_made-1" },
      { type: "tool-call", index: 0, id: "call_made2", name: "f" },
      { type: "tool-arguments", index: 0, delta: "{}" },
      { type: "tool-call-end", index: 0 },
      { type: "finish", reason: "tool_calls" },
    ],
  },

  ends: [
    ...ENDS.map(([said, reason]) => ({
      said,
      stream: says([{ text: "x" }]) + ends(said),
      whole: { candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: said }] },
      reason,
    })),
    {
      said: "a blocked prompt",
      stream: data({ promptFeedback }),
      whole: { promptFeedback },
      reason: "content_filter",
    },
  ],

  failures: FAILURES.flatMap(([status, kind]) => {
    const whole = { error: { status, message: "no" } };
    // Google also writes errors without `data:`.
    return [
      { what: status, event: data(whole), whole, kind },
      { what: `${status} without \`data:\``, event: JSON.stringify(whole), whole: null, kind },
      {
        what: `${status} without \`data:\`, in lines`,
        event: `${JSON.stringify(whole, null, 2)}\r\n\r\n`,
        whole: null,
        kind,
      },
    ];
  }),

  malformed: [
    ["no JSON", "data: {oops}\n\n"],
    ["a list", "data: []\n\n"],
    ["a call without a name", says([{ functionCall: {} }])],
  ],

  counts: [
    [
      "from the last of several, with thoughts, tools, audio and what was cached",
      data({ usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 2 } }) +
        data({
          usageMetadata: {
            promptTokenCount: 100,
            cachedContentTokenCount: 60,
            toolUsePromptTokenCount: 7,
            candidatesTokenCount: 20,
            thoughtsTokenCount: 30,
            promptTokensDetails: [
              { modality: "TEXT", tokenCount: 80 },
              { modality: "AUDIO", tokenCount: 20 },
            ],
            candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 5 }],
          },
        }) +
        ends("STOP"),
      { prompt: 107, completion: 50, reasoning: 30, cached: 60, audioInput: 20, audioOutput: 5 },
    ],
    [
      "with the requests of the backend's own tools",
      data({
        candidates: [
          {
            groundingMetadata: { webSearchQueries: ["a", "b"] },
            urlContextMetadata: { urlMetadata: [{ retrievedUrl: "https://a.example" }] },
          },
        ],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
      }) + ends("STOP"),
      { prompt: 9, completion: 3, webSearches: 2, webFetches: 1 },
    ],
    [
      "without those that are missing or nonsense",
      data({ usageMetadata: { promptTokenCount: 4, candidatesTokenCount: -1, thoughtsTokenCount: "2" } }) +
        ends("STOP"),
      { prompt: 4 },
    ],
  ],

  earlyCounts: [
    "of the prompt",
    data({
      candidates: [],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, cachedContentTokenCount: 8 },
    }),
    { prompt: 9, completion: 3, cached: 8 },
  ],

  // Calls come whole, or in pieces that are no JSON.
  calls: null,

  logprobs: [
    "with the alternatives",
    says([{ text: "Hi" }], {
      logprobsResult: {
        chosenCandidates: [{ token: "Hi", logProbability: -0.5, tokenId: 1 }],
        topCandidates: [{ candidates: [{ token: "Ho", logProbability: -1 }, { token: "Hm" }] }],
      },
    }) + ends("STOP"),
    [
      {
        type: "tokens",
        tokens: [
          { token: "Hi", logprob: -0.5, bytes: null, top: [{ token: "Ho", logprob: -1, bytes: null }] },
        ],
      },
      { type: "text", text: "Hi" },
    ],
  ],

  citations: [
    [
      "a grounded sentence, whose segment counts bytes",
      says([{ text: "Grüße!" }], {
        groundingMetadata: {
          groundingChunks: [{ web: { uri: "https://a.example" } }],
          groundingSupports: [{ segment: { endIndex: 7 }, groundingChunkIndices: [0] }],
        },
      }) + ends("STOP"),
      [
        {
          type: "citation",
          url: "https://a.example",
          title: "https://a.example",
          start: 5,
          end: 5,
          claim: { start: 0, end: 5 },
        },
      ],
    ],
  ],

  remembered: [
    ["none", stream("text"), {}],
    ["sealed as it came", stream("tools"), { [FIRST]: "CiQBcsjafOsealed+one==" }],
  ],

  whole: {
    createDecoder: createWholeDecoder,
    mixed: whole("tools"),
    unfinished: [{ candidates: [] }, { candidates: [{ content: { parts: [{ text: "x" }] } }] }],
    strange: { candidates: [null, { content: { parts: [null, "x"] }, finishReason: "STOP" }] },
  },

  fuzzed: fuzzedPieces(),
};

function fuzzedPieces(): fc.Arbitrary<string> {
  const value = fc.jsonValue();
  const part = fc.record(
    { text: value, thought: value, thoughtSignature: value, functionCall: value },
    { requiredKeys: [] },
  );
  const candidate = fc.record(
    {
      content: fc.oneof(fc.record({ parts: fc.array(fc.oneof(part, value)) }), value),
      finishReason: value,
      groundingMetadata: fc.oneof(
        fc.record({ groundingChunks: value, groundingSupports: value }),
        fc.record({
          groundingChunks: fc.constant([{ web: { uri: "u" } }]),
          groundingSupports: fc.array(fc.record({ segment: value, groundingChunkIndices: value })),
        }),
      ),
      logprobsResult: value,
    },
    { requiredKeys: [] },
  );
  const pieces = fc.record(
    { candidates: fc.oneof(fc.array(candidate), value), usageMetadata: value, promptFeedback: value },
    { requiredKeys: [] },
  );
  return fc.array(pieces).map((made) => made.map(data).join("") + ends("STOP"));
}
