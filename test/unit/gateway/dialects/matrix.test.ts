import { describe, expect, it } from "vitest";
import {
  COMPLETIONS_CLIENT,
  DIALECT_CLIENTS,
  type DialectClient,
  type DialectConversation,
  isPrompt,
} from "../../../support/dialect-clients.ts";
import type { Protocol } from "../../../support/fault-body.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { type ModelAnswer, streamModelAnswer, type ToolCalls } from "../../../support/model-answers.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import type { CanonicalCompletion } from "../../../support/stream-validators/completion.ts";
import { completionsScript, inOnePiece, sessionsScript } from "../../../support/upstream-scripts.ts";

/** Every dialect in front of every driver, streaming and not: whatever a model says means the same in all of them. */

const make = useMemoryGateway();

interface Backend {
  readonly name: string;
  readonly protocol: Protocol;
  readonly toolCalls: ToolCalls;
  readonly env: Readonly<Record<string, string>>;
}

/** The rules of translation hold for each pair, also where no translation would be needed. */
const TRANSLATED = { PROVIDER_NATIVE: "false" };

const BACKENDS: readonly Backend[] = [
  { name: "sessions", protocol: "sessions", toolCalls: "markup", env: {} },
  {
    name: "openai",
    protocol: "chat-completions",
    toolCalls: "native",
    env: { ...TRANSLATED, PROVIDER_DRIVER: "openai" },
  },
  {
    name: "openai, calls in markup",
    protocol: "chat-completions",
    toolCalls: "markup",
    env: { ...TRANSLATED, PROVIDER_DRIVER: "openai", PROVIDER_TOOL_CALLS: "markup" },
  },
  {
    name: "openai-responses",
    protocol: "responses",
    toolCalls: "native",
    env: { ...TRANSLATED, PROVIDER_DRIVER: "openai-responses" },
  },
  {
    name: "openai-responses, calls in markup",
    protocol: "responses",
    toolCalls: "markup",
    env: { ...TRANSLATED, PROVIDER_DRIVER: "openai-responses", PROVIDER_TOOL_CALLS: "markup" },
  },
  {
    name: "anthropic",
    protocol: "messages",
    toolCalls: "native",
    env: { ...TRANSLATED, PROVIDER_DRIVER: "anthropic" },
  },
  {
    name: "anthropic, calls in markup",
    protocol: "messages",
    toolCalls: "markup",
    env: { ...TRANSLATED, PROVIDER_DRIVER: "anthropic", PROVIDER_TOOL_CALLS: "markup" },
  },
  {
    name: "gemini",
    protocol: "content-generation",
    toolCalls: "native",
    env: { ...TRANSLATED, PROVIDER_DRIVER: "gemini" },
  },
  {
    name: "gemini, calls in markup",
    protocol: "content-generation",
    toolCalls: "markup",
    env: { ...TRANSLATED, PROVIDER_DRIVER: "gemini", PROVIDER_TOOL_CALLS: "markup" },
  },
];

const schema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const PLAIN: DialectConversation = { steps: [{ user: "Hello?" }] };
/** One pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WITH_IMAGE: DialectConversation = { steps: [{ user: "What is it?", image: PNG }] };
const WITH_TOOLS: DialectConversation = {
  ...PLAIN,
  tools: [{ name: "shell", description: "Runs a command", schema }],
};

const EDIT = {
  name: "edit",
  description: "Edits a file",
  schema: {
    type: "object",
    properties: { text: { type: "string" }, places: { type: "object" } },
    required: ["text", "places"],
  },
};
const edit = {
  name: "edit",
  input: { text: "One\n\ntwo\r\nthree\u2028four", places: { first: [1, 2], last: "a\u2028b\rc\n\nd" } },
};

const ls = { name: "shell", input: { command: "ls -l" } };
const pwd = { name: "shell", input: { command: "pwd" } };
/** As it came, it would be a command; half of it is another one. */
const half = { name: "shell", parameter: "command", begun: "rm -rf /tmp/ca" };
const called = (...calls: readonly (typeof ls)[]) =>
  calls.map(({ name, input }) => ({ name, arguments: input }));

interface Cell {
  readonly conversation: DialectConversation;
  readonly answer: ModelAnswer;
  /** The answer that every style must give. */
  readonly means: Partial<CanonicalCompletion>;
}

const CELLS: Readonly<Record<string, Cell>> = {
  text: { conversation: PLAIN, answer: { text: "Hello there.", end: "stop" }, means: { finish: "stop" } },
  reasoning: {
    conversation: PLAIN,
    answer: { reasoning: "Let me see.", text: "Hello there.", end: "stop" },
    means: { reasoning: "Let me see.", finish: "stop" },
  },
  "one tool": {
    conversation: WITH_TOOLS,
    answer: { calls: [ls], end: "stop" },
    means: { toolCalls: called(ls), finish: "tool_calls" },
  },
  "two tools, and words before": {
    conversation: WITH_TOOLS,
    answer: { reasoning: "Hm.", text: "I look. ", calls: [ls, pwd], end: "stop" },
    means: { reasoning: "Hm.", toolCalls: called(ls, pwd), finish: "tool_calls" },
  },
  ...Object.fromEntries(
    ["  ", "\n\n  \r\r\n\r\n\t"].map((indent) => [
      `arguments over several lines, each after ${JSON.stringify(indent)}`,
      {
        conversation: { ...PLAIN, tools: [EDIT] },
        answer: { calls: [edit, edit], indent, end: "stop" as const },
        means: {
          toolCalls: [edit, edit].map(({ name, input }) => ({ name, arguments: input })),
          finish: "tool_calls" as const,
        },
      },
    ]),
  ),
  "a text that is cut": {
    conversation: PLAIN,
    answer: { text: "One two", end: "length" },
    means: { finish: "length" },
  },
  "a call that is cut": {
    conversation: WITH_TOOLS,
    answer: { text: "I clean up. ", half, end: "length" },
    means: { toolCalls: [], finish: "length" },
  },
  "a second call that is cut": {
    conversation: WITH_TOOLS,
    answer: { calls: [ls], half, end: "length" },
    means: { toolCalls: called(ls), finish: "length" },
  },
  "a call that is cut, and said to be complete": {
    conversation: WITH_TOOLS,
    answer: { text: "I clean up. ", half, end: "stop" },
    means: { toolCalls: [], finish: "length" },
  },
  "a cut behind a call": {
    conversation: WITH_TOOLS,
    answer: { calls: [ls], end: "length" },
    means: { toolCalls: called(ls), finish: "length" },
  },
  "an answer that is filtered": {
    conversation: PLAIN,
    answer: { text: "One two", end: "filter" },
    means: { finish: "content_filter" },
  },
  "a filter behind a call": {
    conversation: WITH_TOOLS,
    answer: { calls: [ls], end: "filter" },
    means: { toolCalls: called(ls), finish: "content_filter" },
  },
};

/** Backends whose protocol tells a refusal from a text; in the others it is an answer that is filtered. */
const REFUSING = BACKENDS.filter(
  ({ protocol }) => protocol === "chat-completions" || protocol === "responses",
);
/** Styles that do. */
const TELL_REFUSALS = ["chat-completions", "responses"];

/** A gateway in front of a backend that says so. */
function gatewayOf({ protocol, toolCalls, env }: Backend, answer: ModelAnswer): Promise<MemoryGateway> {
  const turns = () => streamModelAnswer(answer, protocol, toolCalls);
  if (protocol === "sessions")
    return make({ upstream: new ScriptedUpstream(sessionsScript({ turns })), env });
  const upstream = new ScriptedUpstream(
    protocol === "chat-completions"
      ? completionsScript({ turns })
      : (asked) =>
          asked.path.endsWith(protocol === "content-generation" ? "enerateContent" : `/${protocol}`)
            ? inOnePiece(protocol, asked, turns())
            : { status: 404, json: {} },
  );
  return make({ upstream, env, config: { accounts: [{ token: "key" }] } });
}

async function ask(
  gateway: MemoryGateway,
  client: DialectClient,
  conversation: DialectConversation,
  stream: boolean,
) {
  const response = await client.send(gateway, conversation, stream);
  const text = await response.text();
  await gateway.settle();
  return { status: response.status, text };
}

describe.each(BACKENDS)("behind $name", (backend) => {
  it.each(Object.entries(CELLS))("%s", async (_, { conversation, answer, means }) => {
    const clients = isPrompt(conversation) ? [...DIALECT_CLIENTS, COMPLETIONS_CLIENT] : DIALECT_CLIENTS;
    const gateway = await gatewayOf(backend, answer);
    for (const client of clients) {
      for (const stream of [true, false]) {
        const what = `${client.name}, stream: ${stream}`;
        const { status, text } = await ask(gateway, client, conversation, stream);
        expect(status, `${what}: ${text}`).toBe(200);
        const completion = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        // Beside calls a whole chat completion has no text (docs/contract/answers.md, Chat completion); text completions have no place for reasoning.
        const silent = client.name === "chat-completions" && !stream && completion.toolCalls.length > 0;
        const wordless = client === COMPLETIONS_CLIENT;
        expect(completion, `${what}: ${text}`).toMatchObject({
          toolCalls: [],
          ...means,
          text: silent ? "" : (answer.text ?? ""),
          reasoning: wordless ? "" : (means.reasoning ?? ""),
          usage: { prompt: 40, completion: 9 },
          error: null,
        });
      }
    }
  });

  it("a question about an image", async () => {
    const gateway = await gatewayOf(backend, { text: "One pixel.", end: "stop" });
    for (const client of DIALECT_CLIENTS) {
      for (const stream of [true, false]) {
        const what = `${client.name}, stream: ${stream}`;
        const before = gateway.upstream.asked.length;
        const { status, text } = await ask(gateway, client, WITH_IMAGE, stream);
        expect(status, `${what}: ${text}`).toBe(200);
        const completion = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        expect(completion, what).toMatchObject({ text: "One pixel.", finish: "stop", error: null });
        const asked = gateway.upstream.asked.slice(before);
        const took = asked.some(({ path, body }) => path === "/api/files" || body.includes(PNG));
        expect(took, what).toBe(true);
        if (backend.protocol === "sessions") {
          expect(asked.find(({ path }) => path.endsWith("/turns"))?.json()["model"], what).toBe("vision");
        }
      }
    }
  });

  it("an answer that breaks off", async () => {
    const gateway = await gatewayOf(backend, { text: "Hello there.", end: "broken" });
    for (const client of [...DIALECT_CLIENTS, COMPLETIONS_CLIENT]) {
      const { text } = await ask(gateway, client, PLAIN, true);
      expect(client.streamed(text), `${client.name}: ${text}`).toMatchObject({
        error: expect.any(String),
        finish: null,
        usage: null,
      });
      expect((await ask(gateway, client, PLAIN, false)).status, client.name).toBe(503);
    }
  });
});

/** Backends with messages or blocks, and styles with them. */
const SEPARATING = BACKENDS.filter(({ protocol }) => protocol === "messages" || protocol === "responses");
const HAVE_BLOCKS = ["messages", "responses"];

describe.each(SEPARATING)("behind $name", (backend) => {
  it.each([PLAIN, WITH_TOOLS])("separate texts (case %#)", async (conversation) => {
    const gateway = await gatewayOf(backend, {
      earlier: "I look at the links.",
      text: "Here are two.",
      end: "stop",
    });
    const clients = isPrompt(conversation) ? [...DIALECT_CLIENTS, COMPLETIONS_CLIENT] : DIALECT_CLIENTS;
    for (const client of clients) {
      const between = HAVE_BLOCKS.includes(client.name) ? "" : "\n\n";
      for (const stream of [true, false]) {
        const what = `${client.name}, stream: ${stream}`;
        const { status, text } = await ask(gateway, client, conversation, stream);
        expect(status, `${what}: ${text}`).toBe(200);
        const completion = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        expect(completion, `${what}: ${text}`).toMatchObject({
          text: `I look at the links.${between}Here are two.`,
          finish: "stop",
          error: null,
        });
      }
    }
  });
});

describe.each(REFUSING)("behind $name", (backend) => {
  it("a refusal in words", async () => {
    const refusal = "I cannot help with that.";
    const gateway = await gatewayOf(backend, { refusal, end: "stop" });
    for (const client of [...DIALECT_CLIENTS, COMPLETIONS_CLIENT]) {
      const means = TELL_REFUSALS.includes(client.name)
        ? { text: "", refusal, finish: "stop" }
        : { text: refusal, finish: "content_filter" };
      for (const stream of [true, false]) {
        const what = `${client.name}, stream: ${stream}`;
        const { status, text } = await ask(gateway, client, PLAIN, stream);
        expect(status, `${what}: ${text}`).toBe(200);
        const completion = stream ? client.streamed(text) : client.whole(JSON.parse(text));
        const usage = { prompt: 40, completion: 9 };
        expect(completion, `${what}: ${text}`).toEqual({
          ...means,
          reasoning: "",
          toolCalls: [],
          usage,
          error: null,
        });
      }
    }
  });
});
