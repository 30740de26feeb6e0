/**
 * `npm run fakes`: tests each driver against a third-party mock of the vendor's API, installed from npm into `.cache`. Each
 * row is one driver with one kind of answer. The command fails if the driver's result differs from the answer.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { cacheFolder } from "../../scripts/development.mjs";
import { ProviderError } from "../../src/core/errors/provider-error.ts";
import type { ProviderEvent } from "../../src/gateway/providers/answers/provider-events.ts";
import { getDriver } from "../../src/gateway/providers/drivers.ts";
import type { Provider } from "../../src/gateway/providers/provider.ts";
import { thinkingConversation } from "../support/conversations.ts";

const PACKAGE = "@copilotkit/aimock";
const VERSION = "1.43.0";

/** The used part of the mock's interface. */
interface Fake {
  readonly url: string;
  addFixtures(fixtures: readonly object[]): void;
  start(): Promise<unknown>;
  stop(): Promise<unknown>;
}

/** Drivers, with the base paths of their APIs. */
const DRIVERS = [
  ["openai", "/v1"],
  ["openai-responses", "/v1"],
  ["anthropic", ""],
  ["gemini", ""],
] as const;

const SHELL = {
  name: "shell",
  description: "Runs a command",
  parameters: { type: "object", properties: { command: { type: "string" } } },
};
const run = (command: string) => ({ name: "shell", arguments: JSON.stringify({ command }) });
/** 11 prompt tokens and 4 completion tokens, in the names of every protocol. */
const USAGE = {
  prompt_tokens: 11,
  completion_tokens: 4,
  input_tokens: 11,
  output_tokens: 4,
  promptTokenCount: 11,
  candidatesTokenCount: 4,
};

/** Result of a request. */
interface Came {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly string[];
  readonly counts?: readonly [number | undefined, number | undefined];
  readonly end?: string;
  readonly failure?: string;
}

interface Case {
  readonly response: object;
  readonly more?: object;
  readonly tools?: true;
  readonly expected: Came;
}

const failing = (status: number, code: string, failure: string): Case => ({
  response: { error: { message: `It says ${status}.`, type: code, code }, status },
  expected: { failure },
});

const CASES: Readonly<Record<string, Case>> = {
  text: {
    response: { content: "Hello there, friend." },
    expected: { text: "Hello there, friend.", end: "stop" },
  },
  reasoning: {
    response: { content: "Hello.", reasoning: "Let me think." },
    expected: { text: "Hello.", reasoning: "Let me think.", end: "stop" },
  },
  "one tool": {
    tools: true,
    response: { toolCalls: [run("ls")] },
    expected: { calls: ['shell {"command":"ls"}'], end: "tool_calls" },
  },
  "two tools": {
    tools: true,
    response: { content: "I look.", toolCalls: [run("ls"), run("pwd")] },
    expected: {
      text: "I look.",
      calls: ['shell {"command":"ls"}', 'shell {"command":"pwd"}'],
      end: "tool_calls",
    },
  },
  length: {
    response: { content: "Cut sh", finishReason: "length" },
    expected: { text: "Cut sh", end: "length" },
  },
  400: failing(400, "invalid_request_error", "invalid_request"),
  401: failing(401, "authentication_error", "token_expired"),
  429: failing(429, "rate_limit_error", "rate_limited"),
  500: failing(500, "server_error", "server_error"),
  "broken JSON": {
    response: { content: "x" },
    more: { chaos: { malformedRate: 1 } },
    expected: { failure: "malformed" },
  },
  "cut stream": {
    response: { content: "one two three four five six seven eight" },
    more: { chunkSize: 4, truncateAfterChunks: 4, latency: 5 },
    expected: { failure: "cut" },
  },
};

function installed(): string {
  const folder = join(cacheFolder, "fakes");
  const entry = join(folder, "node_modules", PACKAGE, "dist", "index.js");
  if (existsSync(entry)) return entry;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const wanted = `${PACKAGE}@${VERSION}`;
  const npm = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", wanted], {
    cwd: folder,
    stdio: "inherit",
  });
  if (npm.status !== 0) throw new Error(`${wanted} cannot be installed here.`);
  return entry;
}

const wordsOf = (events: readonly ProviderEvent[], type: "text" | "reasoning"): string =>
  events.map((event) => (event.type === type ? event.text : "")).join("");

function cameOf(events: readonly ProviderEvent[]): Came {
  const text = wordsOf(events, "text");
  const reasoning = wordsOf(events, "reasoning");
  const calls: string[] = [];
  for (const event of events) {
    if (event.type === "tool-call") calls[event.index] = `${event.name} `;
    if (event.type === "tool-arguments") calls[event.index] += event.delta;
  }
  const counted = events.find((event) => event.type === "usage")?.usage;
  const finish = events.find((event) => event.type === "finish");
  return {
    ...(text === "" ? {} : { text }),
    ...(reasoning === "" ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(counted === undefined ? {} : { counts: [counted.prompt, counted.completion] }),
    ...(finish === undefined ? {} : { end: finish.reason }),
  };
}

async function ask(provider: Provider, name: string, stream: boolean, tools: boolean): Promise<Came> {
  const account = { token: "key", fetch: globalThis.fetch };
  const asked = thinkingConversation({
    stream,
    tools: tools ? [SHELL] : [],
    messages: [{ role: "user", parts: [{ type: "text", text: `case ${name}.` }] }],
  });
  const options = {
    thinkingInjection: null,
    inputFileMinChars: null,
    fetchAttachment: () => Promise.reject(new Error("nothing is attached")),
  };
  const events: ProviderEvent[] = [];
  try {
    const turn = await provider.prepare(asked, options).open(account, AbortSignal.timeout(10_000), null);
    if ("read" in turn) events.push(...(await turn.read()));
    else {
      const reader = turn.body.getReader();
      for (let read = await broken(reader.read()); !read.done; read = await broken(reader.read())) {
        events.push(...turn.decoder.push(read.value));
      }
      events.push(...turn.decoder.finish());
    }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { failure: error.kind };
  }
  return cameOf(events);
}

/** The gateway treats a broken connection as a cut answer. */
function broken<T>(read: Promise<T>): Promise<T> {
  return read.catch((error: unknown) => {
    throw new ProviderError("cut", "the connection broke", { cause: error });
  });
}

const { LLMock }: { LLMock: new (options: { port: number }) => Fake } = await import(
  pathToFileURL(installed()).href
);
const fake = new LLMock({ port: 0 });
fake.addFixtures(
  Object.entries(CASES).map(([name, { response, more = {} }]) => ({
    match: { userMessage: `case ${name}.` },
    response: "error" in response ? response : { ...response, usage: USAGE },
    ...more,
  })),
);
await fake.start();
let wrong = 0;
const rows: Record<string, Record<string, string>> = {};
try {
  for (const [driver, base] of DRIVERS) {
    const provider = getDriver(driver).create({
      baseUrl: fake.url + base,
      token: "key",
      models: {},
      toolCalls: "native",
      wholeAnswers: true,
      newId: () => crypto.randomUUID(),
      sleep: async () => undefined,
    });
    for (const [name, { expected, tools = false }] of Object.entries(CASES)) {
      for (const stream of [true, false]) {
        // Non-streamed answers have no pieces to cut.
        if (name === "cut stream" && !stream) continue;
        const came = await ask(provider, name, stream, tools);
        const counts = expected.failure === undefined ? { counts: [11, 4] } : {};
        const right = isDeepStrictEqual(came, { ...expected, ...counts });
        if (!right) {
          wrong += 1;
          console.log(`${driver}, ${name}, ${stream ? "streamed" : "whole"}:`, came, "instead of", expected);
        }
        const row = `${name}${stream ? "" : ", whole"}`;
        rows[row] = { ...rows[row], [driver]: right ? "yes" : "no" };
      }
    }
  }
} finally {
  await fake.stop();
}
console.table(rows);
if (wrong > 0) process.exitCode = 1;
