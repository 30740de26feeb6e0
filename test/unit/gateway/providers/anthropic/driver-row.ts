import { expect } from "vitest";
import type { DriverRow, Refusal } from "../driver-row.ts";
import { assistant, call } from "../support.ts";
import * as keyed from "./fake.ts";
import { stream, user, WEATHER } from "./fake.ts";

const refuse = (message: string) =>
  Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });

const thinkingType = ({ thinking }: Record<string, unknown>): unknown => Object(thinking).type;

const ADAPTIVE = { type: "adaptive", display: "summarized" };
const withoutBudgets = (effort: string | undefined, expected: string): Refusal => ({
  what: `budgets for thoughts (effort: ${effort})`,
  changes: { thinking: true, options: effort === undefined ? {} : { reasoningEffort: effort } },
  judge: (body) =>
    thinkingType(body) === "enabled"
      ? '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
      : undefined,
  instead: { thinking: ADAPTIVE, output_config: { effort: expected } },
});

const withoutThinking = [
  "thinking: Extra inputs are not permitted",
  "This model does not support thinking.",
  "adaptive thinking is not supported on this model",
].flatMap((message) =>
  [true, false].map(
    (thinking): Refusal => ({
      what: `to think (thinking: ${thinking}): ${message}`,
      changes: { thinking },
      judge: (body) => ("thinking" in body ? message : undefined),
      instead: {},
    }),
  ),
);

export const CALLS = [
  call("toolu_01T1x1fJ34qAmk2tNTrN7Up6", '{"city": "Ørsta"}'),
  call("toolu_01D7FLrfh4GYq7yT1ULFeyMV", "{}", "get_time"),
] as const;
const THOUGHTS = [
  { type: "thinking", thinking: "Oslo, and the time.", signature: "EpwBCkYIChgCKkBxy+thought+one==" },
  { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3" },
];
const withThoughts = (thinking: string, ...thoughts: object[]) => ({
  thinking,
  answer: {
    role: "assistant",
    content: [
      ...thoughts,
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: CALLS[0].id, name: "get_weather", input: { city: "Ørsta" } },
      { type: "tool_use", id: CALLS[1].id, name: "get_time", input: {} },
    ],
  },
});

export const anthropicDriverRow: DriverRow = {
  name: "anthropic",
  keyed,
  refuse,

  refusals: [
    withoutBudgets("high", "high"),
    withoutBudgets(undefined, "medium"),
    {
      what: "not to think",
      changes: { thinking: false },
      judge: (body) =>
        thinkingType(body) === "disabled"
          ? '"thinking.type.disabled" is not supported for this model.'
          : undefined,
      instead: {},
    },
    ...withoutThinking,
    {
      what: "temperatures",
      changes: { options: { temperature: 0.2 } },
      judge: (body) => ("temperature" in body ? "`temperature` is deprecated for this model." : undefined),
      instead: {},
    },
    {
      what: "top_p",
      changes: { options: { topP: 0.2 } },
      judge: (body) => ("top_p" in body ? "This model does not support the top_p parameter" : undefined),
      instead: {},
    },
    {
      what: "to be forced to call",
      changes: { tools: [WEATHER], toolChoice: { type: "required" }, parallelToolCalls: false },
      judge: (body) =>
        Object(body["tool_choice"]).type === "any"
          ? "tool_choice any is not supported for this model"
          : undefined,
      instead: { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    },
    {
      what: "strict tools",
      changes: { tools: [{ ...WEATHER, strict: true }] },
      judge: ({ tools }) =>
        JSON.stringify(tools).includes("strict")
          ? "tools.0.custom.strict: Extra inputs are not permitted"
          : undefined,
      instead: { tools: [{ name: "get_weather", input_schema: {} }] },
    },
    {
      what: "to continue an answer",
      changes: { messages: [user("Count"), assistant("One,")] },
      judge: ({ messages }) =>
        Object(messages).at(-1).role === "assistant"
          ? "This model does not support assistant message prefill. The conversation must end with a user message."
          : undefined,
      instead: {
        messages: [{}, {}, { role: "user", content: [{ text: expect.stringContaining("Continue") }] }],
      },
    },
  ],

  believed: [[{ thinking: true }, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`"]],

  failures: (
    [
      [400, "invalid_request_error", "invalid_request"],
      [401, "authentication_error", "token_expired"],
      [402, "billing_error", "account_suspended"],
      [403, "permission_error", "account_suspended"],
      [404, "not_found_error", "model_unavailable"],
      [413, "request_too_large", "too_large"],
      [429, "rate_limit_error", "rate_limited"],
      [500, "api_error", "server_error"],
      [504, "timeout_error", "timeout"],
      [529, "overloaded_error", "model_unavailable"],
      [401, "invalid_request_error", "token_expired"],
      [529, "unheard_of", "model_unavailable"],
    ] as const
  ).map(([status, type, kind]) => [
    status,
    { type: "error", error: { type, message: "no token-of-the-account" }, request_id: "req_1" },
    kind,
  ]),

  thoughts: {
    stream: stream("tools"),
    whole: null,
    calls: CALLS,
    sentIn: ({ thinking, messages }) => ({
      thinking: Object(thinking).type,
      answer: Object(messages)[1],
    }),
    known: withThoughts("enabled", ...THOUGHTS),
    unknown: withThoughts("disabled"),
    quiet: withThoughts("disabled"),
    foreign: withThoughts("disabled"),
    seal: "thought+one",
    refuseForeign: () => refuse("messages.1.content.0: Invalid `signature` in `thinking` block"),
  },
};
