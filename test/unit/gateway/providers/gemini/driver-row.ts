import { expect } from "vitest";
import type { ConversationChanges } from "../../../../support/conversations.ts";
import type { DriverRow, Refusal } from "../driver-row.ts";
import { call, system } from "../support.ts";
import * as keyed from "./fake.ts";
import { stream, user, WEATHER, whole } from "./fake.ts";

export const refuse = (message: string) =>
  Response.json({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }, { status: 400 });

/** A model that refuses requests with a text in their body. */
const refusing = (
  what: string,
  changes: ConversationChanges,
  inBody: string,
  message: string,
  instead: object,
): Refusal => ({
  what,
  changes,
  judge: (body) => (JSON.stringify(body).includes(inBody) ? message : undefined),
  instead,
});

const jsonSchema = { type: "json-schema", schema: { type: "object" } } as const;
const PARAMETERS = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  additionalProperties: false,
  required: ["city"],
  properties: {
    city: { type: ["string", "null"], description: "Where" },
    days: { type: "array", items: { type: "integer", minimum: 1 } },
    unit: { const: "C" },
    place: { anyOf: [{ type: "string" }, { type: "object", properties: {} }] },
  },
};
/** The same in the protocol's own terms. */
const WIRE_PARAMETERS = {
  type: "OBJECT",
  required: ["city"],
  properties: {
    city: { type: "STRING", nullable: true, description: "Where" },
    days: { type: "ARRAY", items: { type: "INTEGER", minimum: 1 } },
    unit: { enum: ["C"] },
    place: { anyOf: [{ type: "STRING" }, { type: "OBJECT", properties: {} }] },
  },
};

export const CALLS = [
  call("gw8k2mq7xl3rt9wn", '{"city":"Ørsta"}'),
  call("gt5h1cxe8zq6uk0s", "{}", "get_time"),
] as const;
const SEALED = "CiQBcsjafOsealed+one==";
const withThoughts = (signature?: string) => {
  const [first, second] = CALLS;
  const response = (output: string) => ({ response: { output } });
  return [
    { role: "user", parts: [{ text: "Weather?" }] },
    {
      role: "model",
      parts: [
        { text: "Let me look." },
        {
          functionCall: { id: first.id, name: "get_weather", args: { city: "Ørsta" } },
          ...(signature === undefined ? {} : { thoughtSignature: signature }),
        },
        { functionCall: { id: second.id, name: "get_time", args: {} } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: first.id, name: "get_weather", ...response("cold") } },
        { functionResponse: { id: second.id, name: "get_time", ...response("late") } },
      ],
    },
  ];
};

const info = (reason: string) => ({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason });

export const geminiDriverRow: DriverRow = {
  name: "gemini",
  keyed,
  refuse,

  refusals: [
    ...[
      "Budget 0 is invalid. This model only works in thinking mode.",
      "The model does not support setting thinking_budget to 0.",
      "Thinking budget is not supported for this model.",
      "Unable to submit request because thinking is not supported by this model.",
    ].map((message) =>
      refusing(`not to think: ${message}`, { thinking: false }, '"thinkingBudget":0', message, {}),
    ),
    refusing(
      "budgets for thoughts",
      { thinking: true, options: { reasoningEffort: "high" } },
      "thinkingBudget",
      "Thinking budget is not supported for this model.",
      { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } } },
    ),
    refusing(
      "to think",
      { thinking: true },
      "thinkingConfig",
      "thinking_config is not supported for this model",
      {},
    ),
    refusing(
      "penalties",
      { options: { presencePenalty: 0.2 } },
      "presencePenalty",
      "Penalty is not enabled for models/m",
      {},
    ),
    refusing(
      "topK",
      { options: { topK: 4 } },
      "topK",
      'Invalid JSON payload received. Unknown name "topK" at x',
      {},
    ),
    refusing("seed", { options: { seed: 4 } }, '"seed"', "seed is not supported", {}),
    refusing(
      "schemas",
      { responseFormat: jsonSchema },
      "responseJsonSchema",
      'Unknown name "responseJsonSchema": Cannot find field.',
      { generationConfig: { responseMimeType: "application/json" } },
    ),
    refusing(
      "JSON beside functions",
      { responseFormat: jsonSchema, tools: [WEATHER] },
      "responseMimeType",
      "Function calling with a response mime type: 'application/json' is unsupported",
      {
        systemInstruction: { parts: [{ text: expect.stringContaining("JSON schema") }] },
      },
    ),
    refusing(
      "JSON Schema",
      { tools: [{ name: "f", parameters: PARAMETERS }] },
      "parametersJsonSchema",
      "Invalid JSON payload received. Unknown name \"parametersJsonSchema\" at 'tools[0].function_declarations[0]'",
      { tools: [{ functionDeclarations: [{ name: "f", parameters: WIRE_PARAMETERS }] }] },
    ),
    refusing(
      "system messages",
      { messages: [system("Be kind."), user("Hi")] },
      "systemInstruction",
      "Developer instruction is not enabled for models/m",
      {
        contents: [
          { role: "user", parts: [{ text: "Be kind." }] },
          { role: "user", parts: [{ text: "Hi" }] },
        ],
      },
    ),
    refusing(
      "searches beside functions",
      { webSearch: {}, tools: [WEATHER] },
      "googleSearch",
      "Built-in tools ({google_search}) and Function Calling cannot be combined in the same request.",
      { tools: [{ functionDeclarations: [{ name: "get_weather" }] }] },
    ),
  ],

  believed: [
    [
      { thinking: true, options: { thinkingBudget: 52_428 } },
      "The thinking budget (52428) is invalid. Please choose a value between 128 and 32768.",
    ],
  ],

  failures: (
    [
      [400, "INVALID_ARGUMENT", [], "invalid_request"],
      // A wrong key is no fault of the caller's.
      [400, "INVALID_ARGUMENT", [info("API_KEY_INVALID")], "token_expired"],
      [400, "FAILED_PRECONDITION", [], "account_suspended"],
      [401, "UNAUTHENTICATED", [info("ACCESS_TOKEN_EXPIRED")], "token_expired"],
      [403, "PERMISSION_DENIED", [info("SERVICE_DISABLED")], "account_suspended"],
      [404, "NOT_FOUND", [], "model_unavailable"],
      [429, "RESOURCE_EXHAUSTED", [], "rate_limited"],
      [499, "CANCELLED", [], "server_error"],
      [500, "INTERNAL", [], "server_error"],
      [503, "UNAVAILABLE", [], "model_unavailable"],
      [504, "DEADLINE_EXCEEDED", [], "timeout"],
    ] as const
  ).flatMap(([code, status, details, kind]) => {
    const body = { error: { code, status, message: "no token-of-the-account", details } };
    return [[code, body, kind] as const, [code, [body], kind] as const];
  }),

  thoughts: {
    stream: stream("tools"),
    whole: whole("tools"),
    calls: CALLS,
    sentIn: ({ contents }) => contents,
    known: withThoughts(SEALED),
    unknown: withThoughts(),
    // Strict models want them back although they are not to think.
    quiet: withThoughts(SEALED),
    foreign: withThoughts("skip_thought_signature_validator"),
    seal: SEALED,
    refuseForeign: () => refuse("Corrupted thought signature."),
  },
};
