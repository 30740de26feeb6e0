import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../../../src/core/conversation/events.ts";
import { toMessage } from "../../../../../src/gateway/dialects/messages/response.ts";
import { MessageStream } from "../../../../../src/gateway/dialects/messages/stream.ts";
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
import { canonicalMessage, validateMessagesStream } from "../../../../support/stream-validators/messages.ts";

const USAGE = { prompt: 11, completion: 5, reasoning: 2 };

/** The events of a stream. The validator knows no citations. */
const jsonItems = (text: string) =>
  text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));

function render(events: readonly GenerationEvent[]): string {
  const stream = new MessageStream(testInfo());
  return events.map((event) => stream.push(event)).join("");
}

const typesOf = (events: readonly GenerationEvent[]) =>
  validateMessagesStream(render(events)).events.map((event) => event["type"]);

describe("a message stream", () => {
  it("is valid and equals the whole answer for any generation", () => {
    fc.assert(
      fc.property(wholeGenerations, (events) => {
        const streamed = validateMessagesStream(render(events)).completion;
        const body: unknown = JSON.parse(JSON.stringify(toMessage(completionOf(events), testInfo())));
        expect(streamed).toEqual(canonicalMessage(body));
      }),
    );
  });

  it("ends with an error event, without message_stop, if the generation breaks off", () => {
    fc.assert(
      fc.property(brokenGenerations, (events) => {
        const { completion, events: sent } = validateMessagesStream(render(events));
        expect(completion.error).toBe("the provider's answer was cut off");
        expect(sent.map((event) => event["type"])).not.toContain("message_stop");
      }),
    );
  });

  it("begins with an empty message that has the requested name and an estimate of the prompt", () => {
    const stream = new MessageStream(testInfo({ model: "claude-sonnet-4-5" }));
    const text = [START, finishEvent()].map((event) => stream.push(event)).join("");
    const [first] = validateMessagesStream(text).events;
    expect(first).toMatchObject({
      message: { model: "claude-sonnet-4-5", content: [], usage: { input_tokens: 7, output_tokens: 0 } },
    });
  });

  it("opens a block for each change of kind, and closes it first", () => {
    expect(
      typesOf([
        START,
        { type: "reasoning", text: "a" },
        { type: "reasoning", text: "b" },
        { type: "text", text: "c" },
        ...callEvents(0, "go", ['{"to":', '"Rome"}']),
        { type: "text", text: "d" },
        { type: "reasoning", text: "e" },
        finishEvent("tool_calls"),
      ]),
    ).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it("has a block for each separate text, with its citations, like the body", () => {
    const cited = (start: number) => ({
      url: `https://${start}.example`,
      title: "A",
      start,
      end: start,
      claim: { start, text: "" },
    });
    const events: GenerationEvent[] = [
      START,
      { type: "text", text: "One." },
      { type: "text", text: "\n\n", separator: { citations: [cited(4)] } },
      { type: "text", text: "Two." },
      {
        type: "finish",
        reason: "stop",
        usage: USAGE,
        sources: { queries: [], found: [], citations: [cited(4), cited(10)] },
      },
    ];
    const info = testInfo({ webSearch: {} });
    const stream = new MessageStream(info);
    const sent = jsonItems(events.map((event) => stream.push(event)).join(""));
    expect(
      sent.slice(1, -2).map(({ index, content_block: block, delta }) => ({ index, block, delta })),
    ).toMatchObject([
      { index: 0, block: { type: "text" } },
      { index: 0, delta: { text: "One." } },
      { index: 0, delta: { citation: { url: "https://4.example" } } },
      { index: 0 },
      { index: 1, block: { type: "text" } },
      { index: 1, delta: { text: "Two." } },
      { index: 1, delta: { citation: { url: "https://10.example" } } },
      { index: 1 },
    ]);
    expect(toMessage(completionOf(events), info)["content"]).toMatchObject([
      { type: "text", text: "One.", citations: [{ url: "https://4.example" }] },
      { type: "text", text: "Two.", citations: [{ url: "https://10.example" }] },
    ]);
  });

  it("sends one input delta for a call without arguments", () => {
    const { completion } = validateMessagesStream(
      render([START, ...callEvents(0, "go", []), finishEvent("tool_calls")]),
    );
    expect(completion.toolCalls).toEqual([{ name: "go", arguments: {} }]);
  });

  it("never sends a signature", () => {
    expect(render([START, { type: "reasoning", text: "a" }, finishEvent()])).not.toContain("signature_delta");
  });

  it.each([
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
  ] as const)("converts %s to stop_reason %s", (reason, stopReason) => {
    const { events } = validateMessagesStream(render([START, finishEvent(reason)]));
    expect(events.at(-2)).toEqual({
      type: "message_delta",
      delta: {
        container: null,
        stop_details:
          reason === "content_filter" ? { type: "refusal", category: null, explanation: null } : null,
        stop_reason: stopReason,
        stop_sequence: null,
      },
      usage: {
        input_tokens: 11,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 5,
        output_tokens_details: { thinking_tokens: 2 },
        server_tool_use: null,
      },
    });
  });

  it("has errors with the body of the HTTP error", () => {
    expect(validateMessagesStream(render([START, FAILURE])).events.at(-1)).toEqual({
      type: "error",
      error: {
        type: "overloaded_error",
        message: "the provider's answer was cut off",
        code: "upstream_error",
        param: null,
      },
      request_id: testInfo().requestId,
    });
  });

  it("sends ping events as keep-alive, anywhere", () => {
    const events = [START, { type: "text" as const, text: "a" }, finishEvent()];
    const sent = new MessageStream(testInfo());
    const text = sent.keepAlive + events.map((event) => sent.push(event) + sent.keepAlive).join("");
    const cutAtEnd = text.slice(0, -sent.keepAlive.length);
    expect(validateMessagesStream(cutAtEnd).completion.text).toBe("a");
  });
});
