import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../src/core/conversation/events.ts";
import { ChatStream } from "../../../src/gateway/dialects/chat-completions/stream.ts";
import { CompletionStream } from "../../../src/gateway/dialects/completions/stream.ts";
import { ContentStream } from "../../../src/gateway/dialects/content-generation/stream.ts";
import { MessageStream } from "../../../src/gateway/dialects/messages/stream.ts";
import { CHAT_FORMAT } from "../../../src/gateway/dialects/model-runner/answer-format.ts";
import { RunnerStream } from "../../../src/gateway/dialects/model-runner/stream.ts";
import { DeclaredTools } from "../../../src/gateway/dialects/shared/declared-tools.ts";
import type { StreamRenderer } from "../../../src/gateway/generation/stream.ts";
import { callEvents, finishEvent, START, testInfo } from "../../support/generation-events.ts";
import { validateChatCompletionsStream } from "../../support/stream-validators/chat-completions.ts";
import type { ValidStream } from "../../support/stream-validators/completion.ts";
import { validateCompletionsStream } from "../../support/stream-validators/completions.ts";
import { validateContentGenerationStream } from "../../support/stream-validators/content-generation.ts";
import { validateMessagesStream } from "../../support/stream-validators/messages.ts";
import { validateModelRunnerStream } from "../../support/stream-validators/model-runner.ts";

const EVENTS = [
  START,
  { type: "reasoning" as const, text: "hm" },
  { type: "text" as const, text: "a" },
  ...callEvents(0, "go", ['{"to":', '"Rome"}']),
  ...callEvents(1, "go", ["{}"]),
  finishEvent("tool_calls"),
];

const render = (renderer: StreamRenderer, events: readonly GenerationEvent[] = EVENTS) =>
  events.map((event) => renderer.push(event)).join("");
const sources = { queries: ["q"], found: [{ url: "https://a.example", title: "A" }], citations: [] };
const SEARCHED = [START, { type: "text" as const, text: "a" }, { ...finishEvent(), sources }];
const WATCH = { startedAt: 0, now: () => 1, firstTokenMs: () => 0 };

/**
 * A stream of each dialect; what may be lost from it without breaking a rule: content, and counts that were asked for; and
 * how many of the calls it shows.
 */
const streams: [string, string, (text: string) => ValidStream, string, RegExp, number][] = [
  ["message", render(new MessageStream(testInfo())), validateMessagesStream, "\n\n", /^(?!)/, 2],
  [
    "message with a search",
    render(new MessageStream(testInfo({ webSearch: {} })), SEARCHED),
    validateMessagesStream,
    "\n\n",
    /^(?!)/,
    0,
  ],
  [
    "content-generation",
    render(new ContentStream(testInfo())),
    validateContentGenerationStream,
    "\n\n",
    /"text":"(?:hm|a)"/,
    2,
  ],
  [
    "chat-completions",
    render(new ChatStream(testInfo(), { tools: new DeclaredTools(), isLegacy: false }, false)),
    validateChatCompletionsStream,
    "\n\n",
    /"content":"a"|"reasoning_content"/,
    2,
  ],
  [
    "local-runner",
    render(new RunnerStream(testInfo(), CHAT_FORMAT, WATCH)),
    validateModelRunnerStream,
    "\n",
    /"content":"a"|"thinking"|"index":1/,
    2,
  ],
  [
    "text-completions",
    render(new CompletionStream(testInfo(), "", true)),
    validateCompletionsStream,
    "\n\n",
    /"text":"a"|"usage"/,
    0,
  ],
];

describe.each(streams)("the %s validator", (_, text, validate, end, content, calls) => {
  const items = text.split(end).slice(0, -1);
  const join = (list: readonly string[]) => list.map((item) => item + end).join("");

  it("accepts the stream as it is", () => {
    const { text: said, toolCalls } = validate(text).completion;
    expect([said, toolCalls.length]).toEqual(["a", calls]);
  });

  it("misses every item that is lost, unless it held content alone", () => {
    for (const [index, item] of items.entries()) {
      const lost = join(items.filter((_, at) => at !== index));
      if (content.test(item)) expect(() => validate(lost)).not.toThrow();
      else expect(() => validate(lost), item).toThrow();
    }
  });

  it("sees that the end came early, or twice", () => {
    const place = fc.integer({ min: 0, max: items.length - 1 });
    fc.assert(
      fc.property(place, (length) => {
        expect(() => validate(join(items.slice(0, length)))).toThrow();
      }),
    );
    expect(() => validate(join([...items, items.at(-1) ?? ""]))).toThrow();
  });

  it("sees a last item that is torn", () => {
    expect(() => validate(text.slice(0, -end.length - 2))).toThrow();
  });
});
