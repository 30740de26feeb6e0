import { describe, expect, it } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { streamModelAnswer } from "../../../support/model-answers.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { completionsScript } from "../../../support/upstream-scripts.ts";

/** The arguments of a call keep the digits that the model wrote, in every style: ids of 19 digits name another object otherwise. */

const make = useMemoryGateway();

const ID = "1234567890123456789";
const model = "provider-v4-flash";
const question = { role: "user", content: "Hello" };
const messages = [question];
const parameters = { type: "object", properties: { id: { type: "integer" }, part: { type: "number" } } };
const shell = { name: "shell", parameters };
const chatTools = [{ type: "function", function: shell }];

const STYLES: readonly (readonly [style: string, path: string, body: object])[] = [
  ["chat completions", "/v1/chat/completions", { model, messages, tools: chatTools }],
  ["responses", "/v1/responses", { model, input: "Hello", tools: [{ type: "function", ...shell }] }],
  [
    "messages",
    "/v1/messages",
    { model, messages, max_tokens: 99, tools: [{ name: "shell", input_schema: parameters }] },
  ],
  [
    "content generation",
    `/v1beta/models/${model}:generateContent`,
    {
      contents: "Hello",
      tools: [{ functionDeclarations: [{ name: "shell", parametersJsonSchema: parameters }] }],
    },
  ],
  ["the local runner", "/api/chat", { model, messages, tools: chatTools, stream: false }],
  ["the local runner, streamed", "/api/chat", { model, messages, tools: chatTools }],
];

it.each(STYLES)("%s", async (_, path, body) => {
  const input = { id: JSON.rawJSON(ID), part: JSON.rawJSON("1.0") };
  const answer = { calls: [{ name: "shell", input }], end: "stop" } as const;
  const gateway = await make({
    upstream: new ScriptedUpstream(
      completionsScript({ turns: () => streamModelAnswer(answer, "chat-completions", "native") }),
    ),
    env: { PROVIDER_DRIVER: "openai", PROVIDER_NATIVE: "false" },
    config: { accounts: [{ token: "key" }] },
  });
  const text = await (await gateway.post(path, body)).text();
  await gateway.settle();
  expect(text.replaceAll("\\", "")).toMatch(/"id":\s?1234567890123456789,\s?"part":\s?1\.0/);
});

describe("arguments that the caller states as an object", () => {
  const call = { id: JSON.rawJSON(ID) };
  const CALLS: readonly (readonly [style: string, path: string, body: object])[] = [
    [
      "messages",
      "/v1/messages",
      {
        model,
        max_tokens: 99,
        messages: [
          question,
          { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "shell", input: call }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "done" }] },
        ],
      },
    ],
    [
      "content generation",
      `/v1beta/models/${model}:generateContent`,
      {
        contents: [
          { role: "user", parts: [{ text: "Hello" }] },
          { role: "model", parts: [{ functionCall: { name: "shell", args: call } }] },
          { role: "user", parts: [{ functionResponse: { name: "shell", response: { found: call } } }] },
        ],
      },
    ],
    [
      "the local runner",
      "/api/chat",
      {
        model,
        stream: false,
        messages: [
          question,
          { role: "assistant", tool_calls: [{ function: { name: "shell", arguments: call } }] },
          { role: "tool", tool_name: "shell", content: "done" },
        ],
      },
    ],
  ];

  it.each(CALLS)("reach a backend that reads a text: %s", async (style, path, body) => {
    const gateway = await make({
      upstream: new ScriptedUpstream(completionsScript()),
      env: { PROVIDER_DRIVER: "openai", PROVIDER_TOOL_CALLS: "native" },
      config: { accounts: [{ token: "key" }] },
    });
    const response = await gateway.post(path, body);
    expect(response.status, await response.text()).toBe(200);
    const [asked] = gateway.upstream.asked.filter(({ method }) => method === "POST");
    const texts = asked?.body.match(/\\"id\\":1234567890123456789\b/g);
    expect(texts).toHaveLength(style === "content generation" ? 2 : 1);
  });
});

describe("arguments that a backend states as an object", () => {
  const input = { id: JSON.rawJSON(ID) };
  const ANSWERS = {
    anthropic: {
      content: [{ type: "tool_use", id: "toolu_1", name: "shell", input }],
      ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "tool_use" },
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    gemini: {
      candidates: [
        {
          content: { role: "model", parts: [{ functionCall: { name: "shell", args: input } }] },
          finishReason: "STOP",
        },
      ],
    },
  };

  it.each(["anthropic", "gemini"] as const)("reach a caller who reads a text: %s", async (driver) => {
    const gateway = await make({
      upstream: new ScriptedUpstream(() => ({ json: ANSWERS[driver] })),
      env: { PROVIDER_DRIVER: driver },
      config: { accounts: [{ token: "key" }] },
    });
    const body = { model, messages: [question], tools: chatTools };
    const text = await (await gateway.post("/v1/chat/completions", body)).text();
    expect(text).toContain(JSON.stringify(`{"id":${ID}}`).slice(1, -1));
  });
});
