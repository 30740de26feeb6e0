import type { DriverRow, Refusal } from "../driver-row.ts";
import * as keyed from "./fake.ts";
import { text, user, WEATHER } from "./fake.ts";

const OPTIONS = {
  temperature: 0.2,
  topP: 0.9,
  topK: 4,
  minP: 0.1,
  presencePenalty: 1,
  frequencyPenalty: 1,
  logitBias: { "1": 2 },
  seed: 1,
  user: "u",
  verbosity: "low",
  promptCacheKey: "k",
};
/** The same in a request. */
const WIRE_OPTIONS: Readonly<Record<string, unknown>> = {
  temperature: 0.2,
  top_p: 0.9,
  top_k: 4,
  min_p: 0.1,
  presence_penalty: 1,
  frequency_penalty: 1,
  logit_bias: { "1": 2 },
  seed: 1,
  user: "u",
  verbosity: "low",
  prompt_cache_key: "k",
};

/** Members that only shape the answer, and messages that refuse them. */
const OPTIONAL: readonly (readonly [member: string, message: string])[] = [
  ["top_k", "Unrecognized request argument supplied: top_k"],
  ["top_k", '[{"type":"extra_forbidden","loc":["body","top_k"],"msg":"Extra inputs are not permitted"}]'],
  ["min_p", "Unknown parameter: 'min_p'."],
  ["presence_penalty", "Unsupported parameter: 'presence_penalty' is not supported with this model."],
  ["frequency_penalty", "property 'frequency_penalty' is unsupported"],
  ["logit_bias", "logit_bias is not supported by this model"],
  ["seed", "seed is not supported"],
  ["user", "Unknown name 'user'"],
  ["verbosity", "Unrecognized request argument supplied: verbosity"],
  ["prompt_cache_key", "unexpected keyword argument prompt_cache_key"],
  [
    "temperature",
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
  ],
  ["top_p", "Unsupported value: 'top_p' does not support 0.9 with this model."],
  ["top_p", "Unsupported parameter: 'top_p' is not supported with this model."],
];

const formatOf = (body: Record<string, unknown>): unknown => Object(body["response_format"]).type;
const jsonSchema = { type: "json-schema", schema: { type: "object" } } as const;

export const openaiDriverRow: DriverRow = {
  name: "openai",
  keyed,
  refuse: (message) => Response.json({ error: { message } }, { status: 400 }),

  refusals: [
    ...OPTIONAL.map(
      ([member, message]): Refusal => ({
        what: `${member} (${message})`,
        changes: { options: OPTIONS },
        judge: (body) => (member in body ? message : undefined),
        instead: Object.fromEntries(Object.entries(WIRE_OPTIONS).filter(([name]) => name !== member)),
      }),
    ),
    {
      what: "several members",
      changes: {
        messages: [
          user("a"),
          { role: "assistant", parts: [text("b")], reasoning: "r", toolCalls: [] },
          user("c"),
        ],
        tools: [WEATHER],
        parallelToolCalls: false,
      },
      judge: (body) => {
        const known = JSON.stringify(body);
        const member = [
          "stream_options",
          "chat_template_kwargs",
          "reasoning_content",
          "parallel_tool_calls",
        ].find((name) => known.includes(`"${name}"`));
        return member && `Unrecognized request argument supplied: ${member}`;
      },
      instead: {
        reasoning_effort: "none",
        messages: [{ content: "a" }, { role: "assistant", content: "b" }, { content: "c" }],
      },
    },
    {
      what: "the former name of the limit",
      changes: { options: { maxTokens: 7 } },
      judge: (body) => ("max_tokens" in body ? "Use 'max_completion_tokens' instead." : undefined),
      instead: { max_completion_tokens: 7 },
    },
    {
      what: "schemas",
      changes: { responseFormat: jsonSchema },
      judge: (body) =>
        formatOf(body) === "json_schema" ? "This response_format type is unavailable now" : undefined,
      instead: { response_format: { type: "json_object" } },
    },
    {
      what: "schemas and JSON",
      changes: { responseFormat: jsonSchema },
      judge: (body) =>
        "response_format" in body ? "This response_format type is unavailable now" : undefined,
      instead: {},
    },
  ],

  believed: [
    [{ options: { temperature: 3 } }, "temperature must be between 0 and 2"],
    [{ options: { presencePenalty: 5 } }, "presence_penalty must be at most 2"],
    [{ options: { logprobs: 2 } }, "logprobs is not supported by this model"],
    [{ responseFormat: jsonSchema }, "Invalid schema for response_format 'answer': 'a' is no type."],
  ],

  failures: [
    [
      400,
      { error: { message: "no token-of-the-account", code: "content_policy_violation" } },
      "content_filter",
    ],
    [
      401,
      { error: { message: "Incorrect API key provided: token-of-the-account", code: "invalid_api_key" } },
      "token_expired",
    ],
    [402, { error: { message: "Insufficient balance" } }, "account_suspended"],
    [404, { error: { message: "The model does not exist", code: "model_not_found" } }, "model_unavailable"],
    [404, { detail: "Not Found" }, "model_unavailable"],
    [422, { detail: "bad token-of-the-account" }, "invalid_request"],
    [429, { error: { message: "x", code: "insufficient_quota" } }, "rate_limited"],
    [500, { object: "error", message: "boom token-of-the-account" }, "server_error"],
  ],

  // The callers send the reasoning with the message, as text.
  thoughts: null,
};
