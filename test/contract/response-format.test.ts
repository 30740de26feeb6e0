import { describe, expect, it } from "vitest";
import { validateChatCompletionsStream } from "../support/stream-validators/chat-completions.ts";
import { validateContentGenerationStream } from "../support/stream-validators/content-generation.ts";
import { validateMessagesStream } from "../support/stream-validators/messages.ts";
import { validateModelRunnerStream } from "../support/stream-validators/model-runner.ts";
import { completionOf, validateResponsesStream } from "../support/stream-validators/responses.ts";
import { useGateway } from "../support/use-gateway.ts";

const test = useGateway();

/** Makes the sandbox answer with this text, whatever is in it. */
const saying = (text: string) => `[[say64:${Buffer.from(text).toString("base64")}]]`;
/** An answer that is no JSON; the sandbox reads in the request for a repair what it begins with, and obeys. */
const broken = (repair: string) => saying(`Sure! ${saying(repair)}`);

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const GOOD = '{"city":"Paris"}';
const FENCED = `Here you are:\n\`\`\`json\n${GOOD}\n\`\`\``;

interface Style {
  readonly path: string;
  readonly body: (text: string) => Record<string, unknown>;
  readonly answer: (body: never) => string;
  /** The text of a stream. */
  readonly streamed: (text: string) => string;
  /** Something in the place of the format that is none, and the name of the field. */
  readonly unknown: readonly [param: string, extra: Record<string, unknown>];
}
const user = (text: string) => [{ role: "user", content: text }];
const styles: Record<string, Style> = {
  "chat completions": {
    path: "/v1/chat/completions",
    body: (text) => ({
      model: "gpt-4o",
      messages: user(text),
      response_format: { type: "json_schema", json_schema: { name: "place", schema: SCHEMA, strict: true } },
    }),
    answer: (body: { choices: [{ message: { content: string } }] }) => body.choices[0].message.content,
    streamed: (text) => validateChatCompletionsStream(text).completion.text,
    unknown: ["response_format.type", { response_format: { type: "wat" } }],
  },
  responses: {
    path: "/v1/responses",
    body: (text) => ({
      model: "gpt-4o",
      input: text,
      text: { format: { type: "json_schema", name: "place", schema: SCHEMA, strict: true } },
    }),
    answer: (body: { output: { type: string; content: [{ text: string }] }[] }) =>
      body.output.find(({ type }) => type === "message")?.content[0].text ?? "",
    streamed: (text) => completionOf(validateResponsesStream(text).response).text,
    unknown: ["text.format.type", { text: { format: { type: "wat" } } }],
  },
  messages: {
    path: "/v1/messages",
    body: (text) => ({
      model: "claude-sonnet-5",
      max_tokens: 100,
      messages: user(text),
      output_config: { format: { type: "json_schema", schema: SCHEMA } },
    }),
    answer: (body: { content: { type: string; text: string }[] }) =>
      body.content.find(({ type }) => type === "text")?.text ?? "",
    streamed: (text) => validateMessagesStream(text).completion.text,
    unknown: ["output_config.format.type", { output_config: { format: { type: "wat" } } }],
  },
  "content generation": {
    path: "/v1beta/models/gemini-2.5-flash:generateContent",
    body: (text) => ({
      contents: [{ role: "user", parts: [{ text }] }],
      generationConfig: {
        responseMimeType: "application/json",
        responseSchema: { type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] },
      },
    }),
    answer: (body: { candidates: [{ content: { parts: { text: string; thought?: boolean }[] } }] }) =>
      body.candidates[0].content.parts.find(({ thought }) => thought !== true)?.text ?? "",
    streamed: (text) => validateContentGenerationStream(text).completion.text,
    unknown: ["generationConfig.responseMimeType", { generationConfig: { responseMimeType: "audio/wat" } }],
  },
  "model runner": {
    path: "/api/chat",
    body: (text) => ({ model: "llama3.1", stream: false, messages: user(text), format: SCHEMA }),
    answer: (body: { message: { content: string } }) => body.message.content,
    streamed: (text) => validateModelRunnerStream(text).completion.text,
    unknown: ["format", { format: "wat" }],
  },
};

const turns = async () => (await test.gateway.sandbox.state()).turn_count;

async function ask(style: Style, text: string): Promise<string> {
  const response = await test.post(style.path, style.body(text));
  expect(response.status).toBe(200);
  return style.answer(await response.json<never>());
}

async function stream(style: Style, text: string): Promise<string> {
  const path = style.path.replace(":generateContent", ":streamGenerateContent?alt=sse");
  const response = await test.post(path, { ...style.body(text), stream: true });
  expect(response.status).toBe(200);
  return style.streamed(await response.text());
}

describe.each(Object.entries(styles))("a schema for the answer: %s", (_name, style) => {
  it("is passed to the model", async () => {
    await ask(style, saying(GOOD));
    const { prompt } = await test.gateway.sandbox.lastTurn();
    expect(prompt).toContain("JSON schema");
    expect(prompt).toContain('"city"');
  });

  it("gives JSON without its code fence, in one turn", async () => {
    const before = await turns();
    expect(await ask(style, saying(FENCED))).toBe(GOOD);
    expect(await turns()).toBe(before + 1);
  });

  it.each([
    ["in a fence", FENCED],
    ["in a fence from the beginning", `\`\`\`json\n${GOOD}\n\`\`\`\nAnything else?`],
    ["bare", `\n${GOOD}\n`],
    ["within words", `It is ${GOOD}.`],
  ])("streams only the JSON, in one turn: %s", async (_, text) => {
    const before = await turns();
    expect(await stream(style, saying(text))).toBe(GOOD);
    expect(await turns()).toBe(before + 1);
  });

  it("streams an answer without JSON unchanged", async () => {
    const words = "I cannot tell you that, as I do not know it.";
    expect(await stream(style, saying(words))).toBe(words);
  });

  it("is refused by the name of an unknown format, before the provider is asked", async () => {
    const before = await turns();
    const [param, extra] = style.unknown;
    const response = await test.post(style.path, { ...style.body("x"), ...extra });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(param);
    expect(await turns()).toBe(before);
  });

  it("repairs an answer without JSON by one retry", async () => {
    const before = await turns();
    expect(await ask(style, broken(GOOD))).toBe(GOOD);
    expect(await turns()).toBe(before + 2);
  });
});

describe("repairs", () => {
  const chat = (text: string, extra: Record<string, unknown> = {}) =>
    test.chat(text, {
      response_format: { type: "json_schema", json_schema: { name: "place", schema: SCHEMA } },
      ...extra,
    });
  interface Answer {
    choices: [{ message: { content: string } }];
    usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  }
  const read = async (response: Response): Promise<Answer> => response.json();

  it("fix an answer that violates the schema, and tell the model the errors", async () => {
    const { choices } = await read(await chat(saying(JSON.stringify({ [saying(GOOD)]: 1 }))));
    expect(choices[0].message.content).toBe(GOOD);
    const { prompt } = await test.gateway.sandbox.lastTurn();
    expect(prompt).toMatch(/"city"/);
    expect(prompt).toMatch(/Answer again with the corrected JSON/);
  });

  it("are limited to one retry, and keep the better answer", async () => {
    const before = await turns();
    const worse = `{"street":"${saying("no JSON at all")}"}`;
    expect((await read(await chat(saying(worse)))).choices[0].message.content).toBe(worse);
    expect(await turns()).toBe(before + 2);
  });

  it("state the usage of both turns", async () => {
    const plain = await read(await chat(broken(GOOD), { response_format: { type: "text" } }));
    const { usage } = await read(await chat(broken(GOOD)));
    expect(usage.prompt_tokens).toBeGreaterThan(2 * plain.usage.prompt_tokens);
    expect(usage.completion_tokens).toBeGreaterThan(plain.usage.completion_tokens);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  });

  it("keep the first answer if they fail", async () => {
    const text = "Sure! [[status:500:oops]]";
    const response = await chat(saying(text));
    expect(response.status).toBe(200);
    expect((await read(response)).choices[0].message.content).toBe(text);
  });

  it("are not needed if json_object gets any object", async () => {
    const before = await turns();
    const { choices } = await read(await chat(saying(FENCED), { response_format: { type: "json_object" } }));
    expect([choices[0].message.content, await turns()]).toEqual([GOOD, before + 1]);
  });

  it("do not change an answer in the format text", async () => {
    const { choices } = await read(await chat(saying(FENCED), { response_format: { type: "text" } }));
    expect(choices[0].message.content).toBe(FENCED);
  });

  it("are not attempted for a tool call", async () => {
    const before = await turns();
    const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }];
    const response = await chat('[[call:get_weather:{"city":"Paris"}]]', { tools });
    expect(await response.json()).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
    expect(await turns()).toBe(before + 1);
  });

  it("do not change text before a call in a stream", async () => {
    const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }];
    const said = '[[text-and-call]][[call:get_weather:{"city":"Paris"}]]';
    const streamed = async (extra: object) =>
      validateChatCompletionsStream(await (await chat(said, { tools, stream: true, ...extra })).text());
    const { completion } = await streamed({});
    expect(completion.text).not.toBe("");
    const plain = await streamed({ response_format: { type: "text" } });
    expect({ ...completion, usage: null }).toEqual({ ...plain.completion, usage: null });
  });

  it("are not attempted for a truncated answer, which loses its code fence", async () => {
    const before = await turns();
    const text = `${saying('```json\n{"city":"Par')}[[length]]`;
    expect((await read(await chat(text))).choices[0].message.content).toBe('{"city":"Par');
    const streamed = await (await chat(text, { stream: true })).text();
    expect(validateChatCompletionsStream(streamed).completion).toMatchObject({
      text: '{"city":"Par',
      finish: "length",
    });
    expect(await turns()).toBe(before + 2);
  });
});
