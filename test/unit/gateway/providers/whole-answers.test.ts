import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CompletionFold } from "../../../../src/core/conversation/completion-fold.ts";
import type { GenerationEvent } from "../../../../src/core/conversation/events.ts";
import { Assembler } from "../../../../src/gateway/generation/assembly/assembler.ts";
import { anthropicDriver } from "../../../../src/gateway/providers/anthropic/driver.ts";
import { geminiDriver } from "../../../../src/gateway/providers/gemini/driver.ts";
import { openaiDriver } from "../../../../src/gateway/providers/openai/driver.ts";
import { openaiResponsesDriver } from "../../../../src/gateway/providers/openai-responses/driver.ts";
import { eventBlocks } from "../../../support/fault-body.ts";
import { type ModelAnswer, streamModelAnswer } from "../../../support/model-answers.ts";
import { wantsWhole, wholeAnswer } from "../../../support/whole-answers.ts";
import { keyed } from "./keyed.ts";
import {
  conversation,
  eventStream,
  FakeUpstream,
  neverAborted,
  prepareOptions,
  readTurn,
  WEATHER,
} from "./support.ts";

/** Answers that nobody wants streamed are asked for in one piece, and mean the same. */

const BACKENDS = [
  { name: "openai", driver: openaiDriver, protocol: "chat-completions", path: "/chat/completions" },
  { name: "openai-responses", driver: openaiResponsesDriver, protocol: "responses", path: "/responses" },
  { name: "anthropic", driver: anthropicDriver, protocol: "messages", path: "/v1/messages" },
  {
    name: "gemini",
    driver: geminiDriver,
    protocol: "content-generation",
    path: "/v1beta/models/provider-v4-flash:streamGenerateContent?alt=sse",
  },
] as const;
type Backend = (typeof BACKENDS)[number];

const providerFor = ({ driver, path }: Backend) =>
  keyed({ driver, baseUrl: "http://engine.example", path, answer: "" }).provider;

/** The blocks of the stream that says so. */
function blocksOf({ protocol }: Backend, modelAnswer: ModelAnswer): string[] {
  const reply = streamModelAnswer(modelAnswer, protocol, "native");
  if (typeof reply === "string" || !("body" in reply)) throw new Error("not a stream");
  return [...reply.body].map(String);
}

/** What an answer comes to for whoever does not stream. */
async function completionOf(backend: Backend, respond: () => Response) {
  const fake = new FakeUpstream(respond);
  const asked = conversation({ stream: false, tools: [WEATHER], thinking: true, showReasoning: true });
  const turn = await providerFor(backend)()
    .prepare(asked, prepareOptions())
    .open(fake.account, neverAborted(), null);
  const { events, failure } = await readTurn(turn);
  const assembler = new Assembler(asked);
  const out: GenerationEvent[] = [];
  assembler.push(events, out);
  const { reason, isEmpty } = assembler.finishTurn(out);
  const fold = new CompletionFold();
  for (const event of out) fold.push(event);
  return { ...fold.completion(), failure, reason, empty: isEmpty, usage: assembler.usage("") };
}

const words = fc.string({ unit: "grapheme", maxLength: 40 });
const calls = fc.array(
  fc.record({ name: fc.constantFrom("get_weather", "other"), input: fc.dictionary(words, fc.jsonValue()) }),
  { maxLength: 3 },
);
const half = { name: "get_weather", parameter: "city", begun: "Os" };

const answers: fc.Arbitrary<ModelAnswer> = fc.record(
  {
    text: words,
    reasoning: words,
    calls,
    half: fc.constant(half),
    end: fc.constantFrom("stop", "length", "filter"),
  },
  { requiredKeys: ["end"] },
);

describe.each(BACKENDS)("$name", (backend) => {
  // An object says nothing of whether it is complete: calls of the message style are read as they come.
  const modelAnswer =
    backend.name !== "anthropic"
      ? answers
      : answers.map(({ half: _half, calls: made = [], ...rest }) =>
          rest.end === "stop" ? { ...rest, calls: made } : rest,
        );

  it("gives the same whole answer as its stream", async () => {
    await fc.assert(
      fc.asyncProperty(modelAnswer, async (answer) => {
        const blocks = blocksOf(backend, answer);
        const streamed = await completionOf(backend, () => eventStream(blocks.join("")));
        const whole = await completionOf(backend, () =>
          Response.json(JSON.parse(wholeAnswer(backend.protocol, blocks))),
        );
        expect(whole).toEqual(streamed);
      }),
      { numRuns: 200 },
    );
  });

  const plain = eventBlocks(backend.protocol, { text: "Hi" });
  const body = wholeAnswer(backend.protocol, plain);
  const headers = { "content-type": "application/json" };

  it("is asked for a whole answer without streaming, unless the deployment disables it", async () => {
    const asks = async (stream: boolean, wholeAnswers: boolean, tools = false) => {
      const fake = new FakeUpstream(() => new Response(body, { headers }));
      const asked = conversation({ stream, tools: tools ? [WEATHER] : [] });
      const prepared = providerFor(backend)({ wholeAnswers }).prepare(asked, prepareOptions());
      const turn = await prepared.open(fake.account, neverAborted(), null);
      expect((await readTurn(turn)).events).toContainEqual({ type: "text", text: "Hi" });
      const whole = wantsWhole(fake.seen[0]?.body ?? "", fake.seen[0]?.url ?? "");
      expect(prepared.whole).toBe(whole);
      return whole;
    };
    expect(await asks(false, true)).toBe(true);
    expect(await asks(true, true)).toBe(false);
    expect(await asks(false, false)).toBe(false);
    expect(await asks(false, true, true)).toBe(backend.name !== "anthropic");
  });

  it.each([
    ["of a known length", { "content-length": String(new TextEncoder().encode(body).length) }],
    ["of an unknown length", {}],
    ["that is unpacked", { "content-length": "10", "content-encoding": "gzip" }],
  ])("is read if it gives an answer %s", async (_, more) => {
    const { text, failure } = await completionOf(
      backend,
      () => new Response(body, { headers: { ...headers, ...more } }),
    );
    expect({ text, failure }).toEqual({ text: "Hi", failure: null });
  });

  const broken = (length: boolean) =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.enqueue(new TextEncoder().encode(body.slice(0, 20)));
          controller.error(new TypeError("reset"));
        },
      }),
      { headers: { ...headers, ...(length ? { "content-length": String(body.length) } : {}) } },
    );
  const endless = () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024).fill(32)) }),
      { headers },
    );

  it.each([
    ["breaks off", () => broken(false), "cut"],
    ["breaks off though it said how long it is", () => broken(true), "cut"],
    ["is half an object", () => new Response(body.slice(0, -1), { headers }), "malformed"],
    ["is no object", () => Response.json([]), "malformed"],
    ["never ends", endless, "malformed"],
  ])("fails with an answer that %s", async (_, respond, kind) => {
    expect(await completionOf(backend, respond)).toMatchObject({ failure: kind, text: "" });
  });

  it("ends with the reason of its cancellation", async () => {
    const abort = new AbortController();
    const fake = new FakeUpstream(() => broken(false));
    const turn = await providerFor(backend)()
      .prepare(conversation({ stream: false }), prepareOptions())
      .open(fake.account, abort.signal, null);
    abort.abort(new RangeError("enough"));
    await expect(readTurn(turn)).rejects.toThrow("enough");
  });
});

it("leaves out the last call of a cut message", async () => {
  const message = (stop_reason: string) => ({
    id: "msg_1",
    content: [
      { type: "tool_use", id: "toolu_1", name: "get_weather", input: { city: "Oslo" } },
      { type: "tool_use", id: "toolu_2", name: "get_weather", input: { city: "Ro" } },
    ],
    stop_reason,
  });
  const names = async (reason: string) => {
    const { toolCalls } = await completionOf(BACKENDS[2], () => Response.json(message(reason)));
    return toolCalls.map(({ id }) => id);
  };
  expect(await names("max_tokens")).toEqual(["toolu_1"]);
  expect(await names("tool_use")).toEqual(["toolu_1", "toolu_2"]);
});
