import { describe, expect, it } from "vitest";
import { isObject } from "../../../../src/core/encoding/json.ts";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { type ModelAnswer, streamModelAnswer } from "../../../support/model-answers.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { completionsScript, sessionsScript } from "../../../support/upstream-scripts.ts";

/** A request that names the function to call gets a call of this function or an error, in every style. */

const make = useMemoryGateway();

const BACKENDS = {
  "calls of the protocol": (answer: ModelAnswer) => ({
    upstream: new ScriptedUpstream(
      completionsScript({ turns: () => streamModelAnswer(answer, "chat-completions", "native") }),
    ),
    env: { PROVIDER_DRIVER: "openai", PROVIDER_NATIVE: "false" },
    config: { accounts: [{ token: "key" }] },
  }),
  "calls in markup": (answer: ModelAnswer) => ({
    upstream: new ScriptedUpstream(
      sessionsScript({ turns: () => streamModelAnswer(answer, "sessions", "markup") }),
    ),
  }),
};

const model = "provider-v4-flash";
const messages = [{ role: "user", content: "Hello" }];
const parameters = { type: "object", properties: { command: { type: "string" } } };
const names = ["shell", "look"];

/** A request in each style that forces `shell`: its path and its body. */
const STYLES: Readonly<Record<string, (stream: boolean) => [path: string, body: object]>> = {
  "chat completions": (stream) => [
    "/v1/chat/completions",
    {
      model,
      messages,
      stream,
      tools: names.map((name) => ({ type: "function", function: { name, parameters } })),
      tool_choice: { type: "function", function: { name: "shell" } },
    },
  ],
  "chat completions, older form": (stream) => [
    "/v1/chat/completions",
    {
      model,
      messages,
      stream,
      functions: names.map((name) => ({ name, parameters })),
      function_call: { name: "shell" },
    },
  ],
  responses: (stream) => [
    "/v1/responses",
    {
      model,
      input: "Hello",
      stream,
      tools: names.map((name) => ({ type: "function", name, parameters })),
      tool_choice: { type: "function", name: "shell" },
    },
  ],
  messages: (stream) => [
    "/v1/messages",
    {
      model,
      messages,
      max_tokens: 99,
      stream,
      tools: names.map((name) => ({ name, input_schema: parameters })),
      tool_choice: { type: "tool", name: "shell" },
    },
  ],
  "content generation": (stream) => [
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    {
      contents: "Hello",
      tools: [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: parameters })) }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["shell"] } },
    },
  ],
};

const shell = { name: "shell", input: { command: "ŵ" } };
const look = { name: "look", input: { command: "ŷ" } };

const cases = Object.keys(STYLES).flatMap((style) => [true, false].map((stream) => ({ style, stream })));

describe.each(Object.entries(BACKENDS))("%s", (_, backend) => {
  async function ask(answer: ModelAnswer, style: string, stream: boolean) {
    const gateway = await make(backend(answer));
    const response = await gateway.post(...(STYLES[style]?.(stream) ?? ["", {}]));
    const text = await response.text();
    await gateway.settle();
    return { status: response.status, text, gateway };
  }

  it.each(cases)("does not allow calls of another function: $style, stream: $stream", async (asking) => {
    for (const reasoning of ["", "I look."]) {
      const answer = { ...(reasoning === "" ? {} : { reasoning }), calls: [look], end: "stop" } as const;
      const { status, text, gateway } = await ask(answer, asking.style, asking.stream);
      if (!asking.stream) expect(status, text).toBe(422);
      expect(text).toMatch(/tool_choice(_violation| requires)/i);
      expect(text).not.toContain("ŷ");
      expect(gateway.turns).toHaveLength(1);
    }
  });

  it.each(cases)("calls only the forced function: $style, stream: $stream", async (asking) => {
    const { status, text } = await ask(
      { calls: [look, shell, look], end: "stop" },
      asking.style,
      asking.stream,
    );
    expect(status, text).toBe(200);
    expect(text).toContain("ŵ");
    expect(text).not.toContain("ŷ");
    expect(text).not.toMatch(/tool_choice(_violation| requires)/i);
    if (asking.style !== "chat completions") return;
    const chunks = asking.stream ? text.split("\n\n").filter((line) => line.startsWith("data: {")) : [text];
    const calls = chunks.flatMap((chunk) => {
      const [choice] = JSON.parse(chunk.replace(/^data: /, "")).choices;
      const { tool_calls: found = [] } = choice?.delta ?? choice?.message ?? {};
      return Array.isArray(found) ? found.filter(isObject) : [];
    });
    expect(new Set(calls.map(({ index = 0 }) => index))).toEqual(new Set([0]));
  });
});
