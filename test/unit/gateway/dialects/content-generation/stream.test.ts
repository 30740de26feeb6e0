import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../../../src/core/conversation/events.ts";
import { toContentResponse } from "../../../../../src/gateway/dialects/content-generation/response.ts";
import { ContentStream } from "../../../../../src/gateway/dialects/content-generation/stream.ts";
import {
  brokenGenerations,
  callEvents,
  completionOf,
  FAILURE,
  finishEvent,
  START,
  testInfo,
  wholeGenerations,
} from "../../../../support/generation-events.ts";
import {
  canonicalContent,
  validateContentGenerationStream,
} from "../../../../support/stream-validators/content-generation.ts";

function render(events: readonly GenerationEvent[]): string {
  const stream = new ContentStream(testInfo());
  return events.map((event) => stream.push(event)).join("");
}

const eventsOf = (events: readonly GenerationEvent[]) =>
  validateContentGenerationStream(render(events)).events;

describe("a content-generation stream", () => {
  it("is valid and equals the whole answer for any generation", () => {
    fc.assert(
      fc.property(wholeGenerations, (events) => {
        const streamed = validateContentGenerationStream(render(events)).completion;
        const body: unknown = JSON.parse(JSON.stringify(toContentResponse(completionOf(events), testInfo())));
        expect(streamed).toEqual(canonicalContent(body));
      }),
    );
  });

  it("ends with an error, without a finishReason, if the generation breaks off", () => {
    fc.assert(
      fc.property(brokenGenerations, (events) => {
        const text = render(events);
        expect(validateContentGenerationStream(text).completion.error).toBe(
          "the provider's answer was cut off",
        );
        expect(text).not.toContain('"finishReason"');
      }),
    );
  });

  it("sends text and thoughts at once, and calls in the last chunk", () => {
    const candidates = eventsOf([
      START,
      { type: "reasoning", text: "hm" },
      { type: "text", text: "a" },
      ...callEvents(0, "go", ['{"to":', '"Rome"}']),
      { type: "text", text: "b" },
      ...callEvents(1, "go", []),
      finishEvent("tool_calls"),
    ]).map(({ candidates }) => (Array.isArray(candidates) ? candidates[0] : null));
    const chunk = (...parts: unknown[]) => ({ content: { role: "model", parts }, index: 0 });
    expect(candidates).toEqual([
      chunk({ text: "hm", thought: true }),
      chunk({ text: "a" }),
      chunk({ text: "b" }),
      {
        ...chunk(
          { functionCall: { id: "call_0", name: "go", args: { to: "Rome" } } },
          { functionCall: { id: "call_1", name: "go", args: {} } },
        ),
        finishReason: "STOP",
      },
    ]);
  });

  it("keeps the digits of numbers in arguments", () => {
    const call = callEvents(0, "go", ['{"n":123456789012345678901234567890,"f":1.0}']);
    expect(render([START, ...call, finishEvent("tool_calls")])).toContain(
      '{"n":123456789012345678901234567890,"f":1.0}',
    );
  });

  it.each(["\n", "\r", "\r\n", "\n\n", " \r\n\r\n\t"])(
    "leaves out line breaks between arguments: %j",
    (space) => {
      const words = "a\\n\\nb\\r\u2028c";
      const text = `${space}{${space}"words":${space}"${words}",${space}"n":${space}1.0}${space}`;
      const item = render([START, ...callEvents(0, "go", [...text]), finishEvent("tool_calls")]);
      expect(item.split(/\r\n|\r|\n/)).toEqual([expect.stringMatching(/^data: /), "", ""]);
      expect(item).toMatch(/"n":\s+1\.0/);
      const { completion } = validateContentGenerationStream(item);
      expect(completion.toolCalls).toEqual([{ name: "go", arguments: { words: "a\n\nb\r\u2028c", n: 1 } }]);
    },
  );

  it("stays valid if a backend breaks off the arguments", () => {
    const { completion } = validateContentGenerationStream(
      render([START, ...callEvents(0, "go", ['{"to":"Ro']), finishEvent("tool_calls")]),
    );
    expect(completion.toolCalls).toEqual([{ name: "go", arguments: {} }]);
  });

  it.each([
    ["stop", "STOP"],
    ["length", "MAX_TOKENS"],
    ["content_filter", "SAFETY"],
  ] as const)("converts %s to finishReason %s, with a part even without text", (reason, finishReason) => {
    expect(eventsOf([START, finishEvent(reason)])).toEqual([
      {
        candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason, index: 0 }],
        usageMetadata: {
          promptTokenCount: 11,
          candidatesTokenCount: 3,
          thoughtsTokenCount: 2,
          totalTokenCount: 16,
        },
        modelVersion: "provider-v4-flash",
        responseId: "session-1",
      },
    ]);
  });

  it("has errors with the body of the HTTP error", () => {
    expect(eventsOf([START, FAILURE])).toEqual([
      { error: { code: 503, message: "the provider's answer was cut off", status: "UNAVAILABLE" } },
    ]);
  });

  it("accepts a keep-alive anywhere", () => {
    const stream = new ContentStream(testInfo());
    const events = [START, { type: "text" as const, text: "a" }, finishEvent()];
    const text = stream.keepAlive + events.map((event) => stream.push(event) + stream.keepAlive).join("");
    expect(validateContentGenerationStream(text).completion.text).toBe("a");
  });
});
