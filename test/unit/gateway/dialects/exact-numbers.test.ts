import { expect, it } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { streamModelAnswer } from "../../../support/model-answers.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { completionsScript } from "../../../support/upstream-scripts.ts";

/** The arguments of a call keep the digits that the model wrote, in every style: ids of 19 digits name another object otherwise. */

const make = useMemoryGateway();

const model = "provider-v4-flash";
const messages = [{ role: "user", content: "Hello" }];
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
  const input = { id: JSON.rawJSON("1234567890123456789"), part: JSON.rawJSON("1.0") };
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
