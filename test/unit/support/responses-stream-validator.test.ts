import { describe, expect, it } from "vitest";
import { validateResponsesStream } from "../../support/stream-validators/responses.ts";
import { render, USAGE } from "../gateway/dialects/responses/support.ts";

const valid = render([
  { type: "start", sessionId: "s" },
  { type: "text", text: "Hello" },
  { type: "tool-call", index: 0, id: "call_1", name: "f" },
  { type: "tool-arguments", index: 0, delta: '{"a":1}' },
  { type: "tool-call-end", index: 0 },
  { type: "finish", reason: "tool_calls", usage: USAGE },
]);

const sources = { queries: ["q"], found: [{ url: "https://a.example", title: "A" }], citations: [] };

const searched = render(
  [
    { type: "start", sessionId: "s" },
    { type: "finish", reason: "stop", usage: USAGE, sources },
  ],
  { tools: [{ type: "web_search" }] },
);

const items = valid.split(/(?<=\n\n)/);

/** Each event again, numbered anew. */
function numbered(events: readonly string[]): string {
  let next = 0;
  return events
    .map((event) =>
      event.replace(/"sequence_number":\d+/, () => {
        next += 1;
        return `"sequence_number":${next - 1}`;
      }),
    )
    .join("");
}

function without(type: string, stream = valid): string {
  const events = stream.split(/(?<=\n\n)/);
  const at = events.findIndex((item) => item.startsWith(`event: ${type}\n`));
  return numbered(events.filter((_, index) => index !== at));
}

describe("the validator of responses streams", () => {
  it("accepts a valid stream, and one with comments", () => {
    expect(validateResponsesStream(valid).completion).toMatchObject({
      text: "Hello",
      toolCalls: [{ id: "call_1", name: "f", arguments: '{"a":1}' }],
    });
    expect(validateResponsesStream(`: keep-alive\n\n${valid}`).events).toHaveLength(items.length - 1);
  });

  it.each([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.completed",
  ])("refuses a stream without %s", (type) => {
    expect(() => validateResponsesStream(without(type))).toThrow(/responses stream/);
  });

  it("accepts a web search, and refuses one without each of its events", () => {
    expect(validateResponsesStream(searched).response["output"]).toMatchObject([{ type: "web_search_call" }]);
    for (const state of ["in_progress", "searching", "completed"]) {
      const text = without(`response.web_search_call.${state}`, searched);
      expect(() => validateResponsesStream(text), state).toThrow(/responses stream/);
    }
  });

  it.each([
    ["without [DONE]", valid.replace("data: [DONE]\n\n", "")],
    ["with something after [DONE]", `${valid}data: [DONE]\n\n`],
    ["with two ends", numbered([...items.slice(0, -1), items.at(-2) ?? "", items.at(-1) ?? ""])],
    ["with a number left out", valid.replace('"sequence_number":4', '"sequence_number":5')],
    ["with an id that changes", valid.replace(/"item_id":"msg_[^"]+"/, '"item_id":"msg_other"')],
    ["with an index that jumps", valid.replace('"output_index":1', '"output_index":2')],
    ["with other text at the end", valid.replace('"delta":"Hello"', '"delta":"Hullo"')],
    ["with another status", valid.replace('"status":"completed","response"', '"status":"failed","response"')],
  ])("refuses a stream %s", (_, text) => {
    expect(text).not.toBe(valid);
    expect(() => validateResponsesStream(text)).toThrow(/responses stream/);
  });
});
