import { describe, expect, it, vi } from "vitest";
import { CompletionFold } from "../../../src/core/conversation/completion-fold.ts";
import type { AnswerToken, GenerationEvent } from "../../../src/core/conversation/events.ts";
import { toChatCompletion } from "../../../src/gateway/dialects/chat-completions/response.ts";
import { ChatStream } from "../../../src/gateway/dialects/chat-completions/stream.ts";
import { toTextCompletion } from "../../../src/gateway/dialects/completions/response.ts";
import { CompletionStream } from "../../../src/gateway/dialects/completions/stream.ts";
import { toContentResponse } from "../../../src/gateway/dialects/content-generation/response.ts";
import { ContentStream } from "../../../src/gateway/dialects/content-generation/stream.ts";
import { toMessage } from "../../../src/gateway/dialects/messages/response.ts";
import { MessageStream } from "../../../src/gateway/dialects/messages/stream.ts";
import { CHAT_FORMAT } from "../../../src/gateway/dialects/model-runner/answer-format.ts";
import { toRunnerResponse } from "../../../src/gateway/dialects/model-runner/response.ts";
import { RunnerStream } from "../../../src/gateway/dialects/model-runner/stream.ts";
import { DeclaredTools } from "../../../src/gateway/dialects/shared/declared-tools.ts";
import { FreeTextDecoder } from "../../../src/gateway/dialects/shared/free-text.ts";
import { Assembler } from "../../../src/gateway/generation/assembly/assembler.ts";
import { CitationFilter, linkCitations } from "../../../src/gateway/generation/assembly/citations.ts";
import { checkFormat } from "../../../src/gateway/generation/format/format-check.ts";
import { JsonExtractor } from "../../../src/gateway/generation/format/json-extractor.ts";
import { StreamedFormat } from "../../../src/gateway/generation/format/streamed-format.ts";
import type { StreamRenderer } from "../../../src/gateway/generation/stream.ts";
import type { ProviderEvent } from "../../../src/gateway/providers/answers/provider-events.ts";
import { conversation } from "../../support/conversations.ts";
import { DEGENERATE, pieces } from "../../support/degenerate.ts";
import { completionOf, finishEvent, START, testInfo } from "../../support/generation-events.ts";
import { growthOf, MAX_GROWTH, type Work } from "../../support/growth.ts";
import { streamOf } from "../gateway/dialects/responses/support.ts";
import { TYPED } from "../gateway/tools/support.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

/** Answers have at most four times so many events, and schemas so many members. */
const MAX_EVENTS = 1 << 14;

const linear = async (work: Work, maxSize?: number) =>
  expect(await growthOf(work, maxSize)).toBeLessThan(MAX_GROWTH);
const many = <T>(n: number, make: (index: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

/** Puts what a provider says through the stage that makes events of it. */
function assembled(events: readonly ProviderEvent[]): GenerationEvent[] {
  const assembler = new Assembler(conversation({ tools: TYPED, thinking: true, showReasoning: true }));
  const out: GenerationEvent[] = [];
  for (const event of events) assembler.push([event], out);
  assembler.finishTurn(out);
  return out;
}

it.each(DEGENERATE)("an answer's text and reasoning of %s", (_name, text) =>
  linear((n) => {
    const events = pieces(text(n), 2).flatMap((piece): ProviderEvent[] => [
      { type: "reasoning", text: piece },
      { type: "text", text: piece },
    ]);
    return () => completionOf(assembled(events));
  }),
);

const token = (text: string): AnswerToken => ({ token: text, logprob: -1, bytes: null, top: [] });

/** Answers of many parts. */
const ANSWERS: Readonly<Record<string, (n: number) => GenerationEvent[]>> = {
  texts: (n) => many(n, () => ({ type: "text", text: "x" })),
  "texts of white space": (n) => many(n, () => ({ type: "text", text: " " })),
  "tokens with their probabilities": (n) =>
    many(n, () => ({ type: "text", text: "x", tokens: [token("x")] })),
  thoughts: (n) => many(n, () => ({ type: "reasoning", text: "x" })),
  "thoughts and texts in turns": (n) =>
    many(n, (index) => ({ type: index % 2 === 0 ? "reasoning" : "text", text: "x" })),
  calls: (n) =>
    many(n, (index) => index).flatMap((index): GenerationEvent[] => [
      { type: "tool-call", index, id: `c${index}`, name: "run" },
      { type: "tool-arguments", index, delta: "{}" },
      { type: "tool-call-end", index },
    ]),
  "pieces of arguments": (n) => [
    { type: "tool-call", index: 0, id: "c", name: "run" },
    { type: "tool-arguments", index: 0, delta: '{"a":"' },
    ...many(n, (): GenerationEvent => ({ type: "tool-arguments", index: 0, delta: "x" })),
    { type: "tool-arguments", index: 0, delta: '"}' },
    { type: "tool-call-end", index: 0 },
  ],
};

const CALLED = { tools: new DeclaredTools(), isLegacy: false };
const WATCH = { startedAt: 0, now: () => 1, firstTokenMs: () => 1 };
const info = testInfo();
const STREAMS: Readonly<Record<string, () => StreamRenderer>> = {
  "chat-completions": () => new ChatStream(info, CALLED, true),
  completions: () => new CompletionStream(info, "", true),
  responses: () => streamOf(),
  messages: () => new MessageStream(info),
  "content-generation": () => new ContentStream(info),
  "model-runner": () => new RunnerStream(info, CHAT_FORMAT, WATCH),
};

describe.each(Object.entries(STREAMS))("a stream in the style %s of many", (_dialect, make) => {
  it.each(Object.entries(ANSWERS))("%s", (_name, answer) =>
    linear((n) => {
      const events = [START, ...answer(n), finishEvent()];
      return () => {
        const renderer = make();
        for (const event of events) renderer.push(event);
      };
    }, MAX_EVENTS),
  );
});

it.each(Object.entries(ANSWERS))("whole answers in all styles of many %s", (_name, answer) =>
  linear((n) => {
    const events = [START, ...answer(n), finishEvent()];
    return () => {
      const whole = completionOf(events);
      return JSON.stringify([
        toChatCompletion(whole, info, CALLED),
        toTextCompletion(whole, info, ""),
        toMessage(whole, info),
        toContentResponse(whole, info),
        toRunnerResponse(whole, info, CHAT_FORMAT, WATCH),
      ]);
    };
  }, MAX_EVENTS),
);

it.each(DEGENERATE)("citations in %s", (_name, text) =>
  linear((n) => {
    const whole = text(n);
    const units = pieces(whole, 1);
    return () => {
      const filter = new CitationFilter();
      for (const unit of units) filter.push(unit);
      filter.finish();
      return linkCitations(whole, [{ index: 1, url: "https://example.com", title: "" }]);
    };
  }),
);

it("citations of many pages", () =>
  linear((n) => {
    const results = many(n, (index) => ({ index, url: `https://example.com/${index}`, title: "" }));
    const text = many(n, (index) => `x[citation:${index}]`).join("");
    return () => linkCitations(text, results);
  }, MAX_EVENTS));

it.each(DEGENERATE)("the input of a free-text tool, of %s", (_name, text) =>
  linear((n) => {
    const units = [...pieces(`{"input":"${text(n)}`, 1), '"}'];
    const other = text(n);
    return () => {
      const input = new FreeTextDecoder();
      for (const unit of units) input.push(unit);
      input.finish();
      const whole = new FreeTextDecoder();
      return whole.push(`{"input":${other}`) + whole.finish();
    };
  }),
);

describe("an answer in a requested format", () => {
  it.each(DEGENERATE)("of %s", (_name, text) =>
    linear((n) => {
      const answer = `{"a":${text(n)}`;
      const units = pieces(answer, 1).map((unit): GenerationEvent => ({ type: "text", text: unit }));
      const words = pieces(text(n), 1).map((unit): GenerationEvent => ({ type: "text", text: unit }));
      return () => {
        for (const events of [units, words]) {
          const stage = new StreamedFormat({ type: "json" });
          const fold = new CompletionFold();
          for (const event of [...events, finishEvent()]) {
            for (const shown of stage.push([event])) fold.push(shown);
          }
        }
        return checkFormat(answer, { type: "json" });
      };
    }),
  );

  it.each(["", "{", "```json\n", '```json\n{"a":1}', "words "])(
    "that goes on with white space for ever behind %j",
    (head) =>
      linear((n) => () => {
        const stage = new JsonExtractor({ type: "json" });
        stage.push(head);
        for (let index = 0; index < n; index += 1) stage.push("  ");
        return stage.finish();
      }),
  );

  const numbers = (n: number) => JSON.stringify(many(n, (index) => index));
  const words = (n: number) => many(n, (index) => `w${index}`);
  const objects = (n: number) => `[${"{},".repeat(n)}{}]`;
  /** What grows on both sides costs the product, up to the work at which a check is given up: these are beyond it. */
  const BEYOND = 1_000;
  it.each<[string, (n: number) => [answer: string, schema: Record<string, unknown>]]>([
    ["items", (n) => [numbers(n), { type: "array", items: { type: "number" } }]],
    ["items that break it", (n) => [numbers(n), { type: "array", items: { type: "string" } }]],
    ["items that must differ", (n) => [numbers(n), { type: "array", uniqueItems: true }]],
    ["values and items", (n) => [numbers(n), { items: { enum: words(n) } }]],
    ["requirements and items", (n) => [objects(BEYOND + n), { items: { required: words(BEYOND + n) } }]],
    [
      "properties and items",
      (n) => [
        objects(BEYOND + n),
        { items: { properties: Object.fromEntries(words(BEYOND + n).map((word) => [word, {}])) } },
      ],
    ],
  ])("with many %s", (_name, make) =>
    linear((n) => {
      const [answer, schema] = make(n);
      return () => checkFormat(answer, { type: "json-schema", schema });
    }, MAX_EVENTS),
  );
});
