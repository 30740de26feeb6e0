import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../../../src/core/conversation/events.ts";
import { GatewayError } from "../../../../../src/core/errors/gateway-error.ts";
import { renderStoredResponse } from "../../../../../src/gateway/dialects/responses/replay.ts";
import { streamOf, USAGE } from "./support.ts";

const start: GenerationEvent = { type: "start", sessionId: "session" };
const finish: GenerationEvent = { type: "finish", reason: "stop", usage: USAGE };
const sources = { queries: ["q"], found: [{ url: "https://a.example", title: "A" }], citations: [] };
const custom = { tools: [{ type: "custom", name: "patch" }] };

/** The events of a stream. */
const eventsOf = (text: string): unknown[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? ""));

function call(name: string, input: string): GenerationEvent[] {
  return [
    { type: "tool-call", index: 0, id: "call_1", name },
    { type: "tool-arguments", index: 0, delta: input },
    { type: "tool-call-end", index: 0 },
  ];
}

describe("a stored response, streamed again", () => {
  it.each<[string, GenerationEvent[], Record<string, unknown>?]>([
    ["text behind reasoning", [{ type: "reasoning", text: "hm" }, { type: "text", text: "Yes." }, finish]],
    ["a refusal", [{ type: "refusal", text: "I would rather not." }, finish]],
    ["a call", [{ type: "text", text: "Let me see." }, ...call("f", '{"a":1}'), finish]],
    ["a call of a free-text tool", [...call("patch", '{"input":"text"}'), finish], custom],
    ["nothing", [finish]],
    [
      "a web search",
      [
        { type: "text", text: "Much." },
        { ...finish, sources },
      ],
      { tools: [{ type: "web_search" }] },
    ],
    [
      "text that was cut",
      [
        { type: "text", text: "Ye" },
        { type: "finish", reason: "length", usage: USAGE },
      ],
    ],
    [
      "text that broke off",
      [
        { type: "text", text: "Ye" },
        { type: "error", error: new GatewayError(503, "cut off", { code: "upstream_error" }) },
      ],
    ],
  ])("has its original events, each text in one piece: %s", (_, events, body) => {
    const stream = streamOf(body);
    const text = [start, ...events].map((event) => stream.push(event)).join("");
    const again = renderStoredResponse(stream.finalJson ?? "", -1);
    expect(eventsOf(again)).toEqual(eventsOf(text));
    expect(eventsOf(renderStoredResponse(stream.finalJson ?? "", 2))).toEqual(eventsOf(text).slice(3));
  });
});
