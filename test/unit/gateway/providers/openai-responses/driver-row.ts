import type { ConversationChanges } from "../../../../support/conversations.ts";
import type { DriverRow, Refusal } from "../driver-row.ts";
import { assistant, call, result } from "../support.ts";
import * as keyed from "./fake.ts";
import { stream, user, WEATHER, whole } from "./fake.ts";

const refuse = (message: string, code = "unsupported_parameter") => {
  const error = { message, type: "invalid_request_error", param: null, code };
  return Response.json({ error }, { status: 400 });
};

const effortOf = ({ reasoning }: Record<string, unknown>): unknown => Object(reasoning).effort;
const jsonSchema = { type: "json-schema", schema: { type: "object" } } as const;

/** Members that only shape the answer, and conversations whose requests have them. */
const OPTIONAL: readonly (readonly [member: string, changes: ConversationChanges])[] = [
  ["temperature", { options: { temperature: 0.2 } }],
  ["top_p", { options: { topP: 0.2 } }],
  ["presence_penalty", { options: { presencePenalty: 0.2 } }],
  ["user", { options: { user: "ada" } }],
  ["prompt_cache_key", { options: { promptCacheKey: "k" } }],
  ["parallel_tool_calls", { tools: [WEATHER], parallelToolCalls: false }],
  ["store", {}],
];

const CALLS = [
  call("call_Vd8kP2mQ7xLz3RtY9wNbC4Hj", '{"city": "Ørsta"}'),
  call("call_J5hT1cXe8ZqW6uKoS0gMfA2B", "{}", "get_time"),
] as const;
const THOUGHT = {
  type: "reasoning",
  id: "rs_01",
  summary: [{ type: "summary_text", text: "Oslo, and the time." }],
  encrypted_content: "gAAAAABsealed+one==",
};
const withThoughts = (include: readonly string[] | undefined, ...thoughts: object[]) => ({
  store: false,
  include,
  input: [
    { type: "message", role: "user", content: "Weather?" },
    ...thoughts,
    { type: "message", role: "assistant", content: "Let me look." },
    ...CALLS.map(({ id, name, arguments: json }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: json,
    })),
    { type: "function_call_output", call_id: CALLS[0].id, output: "cold" },
    { type: "function_call_output", call_id: CALLS[1].id, output: "late" },
  ],
});
const SEALED = ["reasoning.encrypted_content"];

export const openaiResponsesDriverRow: DriverRow = {
  name: "openai-responses",
  keyed,
  refuse,

  refusals: [
    ...OPTIONAL.flatMap(([member, changes]) =>
      [
        `Unsupported parameter: '${member}' is not supported with this model.`,
        `Unknown parameter: '${member}'.`,
      ].map(
        (message): Refusal => ({
          what: message,
          changes,
          judge: (body) => (member in body ? message : undefined),
          instead: {},
        }),
      ),
    ),
    {
      what: "not to think",
      changes: { thinking: false },
      judge: (body) =>
        effortOf(body) === "none"
          ? "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'minimal', 'low', 'medium', and 'high'."
          : undefined,
      instead: { reasoning: { effort: "minimal" } },
    },
    ...[true, false].map(
      (thinking): Refusal => ({
        what: `to think (thinking: ${thinking})`,
        changes: { thinking },
        judge: (body) => {
          if ("reasoning" in body) {
            return "Unsupported parameter: 'reasoning.effort' is not supported with this model.";
          }
          return "include" in body ? "Encrypted content is not supported with this model." : undefined;
        },
        instead: {},
      }),
    ),
    {
      what: "summaries of thoughts",
      changes: { thinking: true, options: { reasoningEffort: "low" } },
      judge: (body) =>
        "summary" in Object(body["reasoning"])
          ? "Your organization must be verified to generate reasoning summaries."
          : undefined,
      instead: { reasoning: { effort: "low" } },
    },
    {
      what: "schemas",
      changes: { responseFormat: jsonSchema },
      judge: ({ text }) =>
        JSON.stringify(text ?? {}).includes("json_schema")
          ? "Unsupported parameter: 'text.format'."
          : undefined,
      instead: { text: { format: { type: "json_object" } } },
    },
    {
      what: "schemas and JSON",
      changes: { responseFormat: jsonSchema },
      judge: ({ text }) =>
        JSON.stringify(text ?? {}).includes("json_") ? "Unsupported parameter: 'text.format'." : undefined,
      instead: { input: [{ role: "system" }, {}] },
    },
    {
      what: "strict tools",
      changes: { tools: [{ ...WEATHER, strict: true }] },
      judge: ({ tools }) =>
        JSON.stringify(tools).includes("strict") ? "Unknown parameter: 'tools[0].strict'." : undefined,
      instead: { tools: [{ name: "get_weather", parameters: {} }] },
    },
    {
      what: "searches",
      changes: { webSearch: {}, tools: [WEATHER] },
      judge: ({ tools }) =>
        JSON.stringify(tools ?? "").includes("web_search")
          ? "Hosted tool 'web_search' is not supported with this model."
          : undefined,
      instead: { tools: [{ type: "function" }] },
    },
    {
      what: "results with images",
      changes: {
        messages: [
          user("Look"),
          assistant("", call("a")),
          result("a", "shot", {
            type: "image",
            source: { kind: "inline", data: "iVBORw0KGgo=", mediaType: "image/png" },
          }),
          assistant("Hm."),
        ],
      },
      judge: ({ input }) =>
        Object(input).some((item: { output?: unknown }) => Array.isArray(item.output))
          ? "Input should be a valid string: input.2.function_call_output.output"
          : undefined,
      instead: {
        input: [
          {},
          { type: "function_call" },
          { type: "function_call_output", call_id: "a", output: "shot" },
          { role: "user", content: [{ type: "input_text" }, { type: "input_image" }] },
          { role: "assistant", content: "Hm." },
        ],
      },
    },
  ],

  believed: [
    [
      { thinking: true, options: { reasoningEffort: "xhigh" } },
      "Unsupported value: 'xhigh' is not supported with the 'm' model. Supported values are: 'low', 'medium', and 'high'. (reasoning.effort)",
    ],
    [
      { options: { logprobs: 2 }, thinking: false },
      "Unsupported parameter: 'include' and 'top_logprobs' are not supported.",
    ],
  ],

  failures: (
    [
      [400, { type: "invalid_request_error", code: null }, "invalid_request"],
      [400, { type: "invalid_request_error", code: "context_length_exceeded" }, "context_length"],
      [400, { type: "invalid_request_error", code: "invalid_prompt" }, "content_filter"],
      [400, { type: "image_generation_user_error", code: "content_policy_violation" }, "content_filter"],
      [401, { type: "invalid_request_error", code: "invalid_api_key" }, "token_expired"],
      [
        403,
        { type: "invalid_request_error", code: "unsupported_country_region_territory" },
        "account_suspended",
      ],
      [404, { type: "invalid_request_error", code: "model_not_found" }, "model_unavailable"],
      [404, { type: "invalid_request_error", code: null }, "model_unavailable"],
      [429, { type: "requests", code: "rate_limit_exceeded" }, "rate_limited"],
      [429, { type: "insufficient_quota", code: "insufficient_quota" }, "rate_limited"],
      [500, { type: "server_error", code: null }, "server_error"],
      [503, { type: "server_error", code: "server_is_overloaded" }, "model_unavailable"],
      [504, {}, "timeout"],
    ] as const
  ).map(([status, error, kind]) => [
    status,
    { error: { ...error, message: "no token-of-the-account", param: null } },
    kind,
  ]),

  thoughts: {
    stream: stream("tools"),
    whole: whole("tools"),
    calls: CALLS,
    sentIn: ({ store, include, input }) => ({ store, include, input }),
    known: withThoughts(SEALED, THOUGHT),
    unknown: withThoughts(SEALED),
    quiet: withThoughts(undefined),
    foreign: withThoughts(SEALED),
    seal: "gAAAAABsealed",
    refuseForeign: () =>
      refuse(
        "The encrypted content gAAA... could not be verified. Reason: it could not be decrypted.",
        "invalid_encrypted_content",
      ),
  },
};
