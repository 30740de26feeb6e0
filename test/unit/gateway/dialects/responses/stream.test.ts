import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../../../src/core/conversation/events.ts";
import { GatewayError } from "../../../../../src/core/errors/gateway-error.ts";
import { validateResponsesStream } from "../../../../support/stream-validators/responses.ts";
import { RESPONSE_ID, render, streamOf, USAGE } from "./support.ts";

const start: GenerationEvent = { type: "start", sessionId: "session" };
const finish: GenerationEvent = { type: "finish", reason: "stop", usage: USAGE };
const calls: GenerationEvent = { type: "finish", reason: "tool_calls", usage: USAGE };

function call(index: number, name: string, pieces: readonly string[]): GenerationEvent[] {
  return [
    { type: "tool-call", index, id: `call_${index}`, name },
    ...pieces.map((delta): GenerationEvent => ({ type: "tool-arguments", index, delta })),
    { type: "tool-call-end", index },
  ];
}

describe("a responses stream", () => {
  it("carries text in one message, with the fields of the contract and of the SDKs", () => {
    const text = render([start, { type: "text", text: "Hel" }, { type: "text", text: "lo" }, finish]);
    const { events, completion, response } = validateResponsesStream(text);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events[0]).toMatchObject({ id: RESPONSE_ID, status: "in_progress" });
    expect(events[4]).toMatchObject({
      response_id: RESPONSE_ID,
      output_index: 0,
      content_index: 0,
      delta: "Hel",
    });
    expect(completion).toMatchObject({ text: "Hello", finishReason: "stop", usage: USAGE });
    expect(response).toMatchObject({
      status: "completed",
      completed_at: 1_700_000_005,
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    });
  });

  it("carries reasoning as a summary, before the message", () => {
    const text = render([
      start,
      { type: "reasoning", text: "hm" },
      { type: "reasoning", text: "m" },
      { type: "text", text: "yes" },
      finish,
    ]);
    const { response, completion } = validateResponsesStream(text);
    expect(completion).toMatchObject({ reasoning: "hmm", text: "yes" });
    expect(response["output"]).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "hmm" }] },
      { type: "message", content: [{ type: "output_text", text: "yes", annotations: [] }] },
    ]);
  });

  it("gives each parallel call of one tool its own index, item id and call id", () => {
    const text = render([
      start,
      { type: "text", text: "both:" },
      ...call(0, "weather", ['{"city"', ':"Rome"}']),
      ...call(1, "weather", ['{"city":"Oslo"}']),
      calls,
    ]);
    const { events, completion, response } = validateResponsesStream(text);
    expect(completion.toolCalls).toEqual([
      { id: "call_0", name: "weather", arguments: '{"city":"Rome"}' },
      { id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
    ]);
    expect(response["status"]).toBe("completed");
    const done = events.filter(({ type }) => type === "response.function_call_arguments.done");
    expect(done).toMatchObject([
      { response_id: RESPONSE_ID, output_index: 1, call_id: "call_0", name: "weather" },
      { response_id: RESPONSE_ID, output_index: 2, call_id: "call_1", name: "weather" },
    ]);
    expect(new Set(done.map((event) => event["item_id"])).size).toBe(2);
  });

  it("continues in another message if text follows a call", () => {
    const { response, completion } = validateResponsesStream(
      render([
        start,
        { type: "text", text: "a" },
        ...call(0, "f", ["{}"]),
        { type: "text", text: "b" },
        calls,
      ]),
    );
    expect(completion.text).toBe("ab");
    expect(response["output"]).toMatchObject([
      { type: "message" },
      { type: "function_call" },
      { type: "message" },
    ]);
  });

  it("has a message for each separate text, with its citations", () => {
    const cited = (start: number) => ({
      url: `https://${start}.example`,
      title: "A",
      start,
      end: start,
      claim: { start, text: "" },
    });
    // The validator knows no citations.
    const lines = render([
      start,
      { type: "text", text: "One." },
      { type: "text", text: "\n\n", separator: { citations: [cited(4)] } },
      { type: "text", text: "Two." },
      { ...finish, sources: { queries: [], found: [], citations: [cited(4), cited(10)] } },
    ]).split("\n");
    const last = JSON.parse(lines.findLast((line) => line.startsWith("data: {"))?.slice(6) ?? "");
    const message = (text: string, url: string) => ({
      type: "message",
      status: "completed",
      content: [{ text, annotations: [{ url, start_index: 4, end_index: 4 }] }],
    });
    expect(last.response.output).toMatchObject([
      message("One.", "https://4.example"),
      message("Two.", "https://10.example"),
    ]);
  });

  it("streams the input of a free-text tool, decoded", () => {
    const body = { tools: [{ type: "custom", name: "patch" }] };
    const text = render([start, ...call(0, "patch", ['{"inp', 'ut":"a\\', "nb \\u00", 'e9"}']), calls], body);
    const { events, response } = validateResponsesStream(text);
    expect(response["output"]).toMatchObject([
      { type: "custom_tool_call", call_id: "call_0", name: "patch", input: "a\nb é", status: "completed" },
    ]);
    const deltas = events.filter(({ type }) => type === "response.custom_tool_call_input.delta");
    expect(deltas.length).toBeGreaterThan(1);
  });

  it("uses the caller's names for tools of a namespace", () => {
    const body = { tools: [{ type: "namespace", name: "crm", tools: [{ type: "function", name: "find" }] }] };
    for (const called of ["crm__find", "find"]) {
      const { response } = validateResponsesStream(render([start, ...call(0, called, ["{}"]), calls], body));
      expect(response["output"]).toMatchObject([{ type: "function_call", namespace: "crm", name: "find" }]);
    }
  });

  it("ends incomplete if the model ran out of tokens or was stopped", () => {
    for (const [reason, said] of [
      ["length", "max_output_tokens"],
      ["content_filter", "content_filter"],
    ] as const) {
      const text = render([start, { type: "text", text: "cut" }, { type: "finish", reason, usage: USAGE }]);
      const { events, response, completion } = validateResponsesStream(text);
      expect(events.at(-1)?.type).toBe("response.incomplete");
      expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: said } });
      expect(response["output"]).toMatchObject([{ type: "message", status: "incomplete" }]);
      expect(completion.finishReason).toBe(reason);
    }
  });

  it("fails with an error in the response, and never as completed", () => {
    const error = new GatewayError(422, "no call", { code: "tool_choice_violation" });
    const text = render([start, { type: "text", text: "no" }, { type: "error", error }]);
    const validated = validateResponsesStream(text);
    expect(validated.error).toEqual({ code: "tool_choice_violation", message: "no call" });
    expect(validated.response).toMatchObject({ status: "failed", usage: null });
    expect(text).not.toContain("response.completed");
  });

  it("does not close an incomplete call, because clients would run it", () => {
    const error = new GatewayError(503, "gone", { code: "upstream_error" });
    const text = render([start, ...call(0, "rm", ['{"path":"/']).slice(0, 2), { type: "error", error }]);
    const { events, response } = validateResponsesStream(text);
    expect(events.some(({ type }) => type === "response.output_item.done")).toBe(false);
    expect(response["output"]).toEqual([]);
  });

  it("gives no index to an incomplete call, so that indices match the final output", () => {
    const cut = call(0, "weather", ['{"city"']).slice(0, -1);
    const after: GenerationEvent[] = [{ type: "text", text: "Well." }, ...call(1, "weather", ["{}"])];
    const events = render([start, { type: "text", text: "So: " }, ...cut, ...after, calls])
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice(6)));
    const { output } = events.at(-1).response;
    const done = events.filter(({ type }) => type === "response.output_item.done");
    expect(done.map(({ output_index: index, item }) => [index, item])).toEqual([...output.entries()]);
    const ids = events.filter(({ type }) => type === "response.output_item.added").map(({ item }) => item.id);
    expect(new Set(ids).size).toBe(4);
  });

  it("starts with response.created, even if only an error follows", () => {
    const error = new GatewayError(429, "empty", { code: "upstream_empty_output" });
    const { events } = validateResponsesStream(render([{ type: "error", error }]));
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.failed",
    ]);
  });

  it("stores exactly the final response that it sent", () => {
    const stream = streamOf({ instructions: "be brief", metadata: { a: "1" } });
    let text = "";
    for (const event of [start, { type: "text", text: "x" } as const, finish]) text += stream.push(event);
    const { response } = validateResponsesStream(text);
    expect(JSON.parse(stream.finalJson ?? "")).toEqual(response);
    expect(response).toMatchObject({ instructions: "be brief", metadata: { a: "1" } });
  });

  const piece = fc.string({ unit: "grapheme", minLength: 1 });
  const step = fc.oneof(
    fc.record({ type: fc.constant("text" as const), text: piece }),
    fc.record({ type: fc.constant("reasoning" as const), text: piece }),
    fc.record({
      type: fc.constant("call" as const),
      name: fc.constantFrom("f", "patch", "crm__find"),
      input: fc.string(),
    }),
  );

  it("is valid for any mixture of reasoning, text and calls", () => {
    const tools = [
      { type: "function", name: "f" },
      { type: "custom", name: "patch" },
      { type: "namespace", name: "crm", tools: [{ type: "function", name: "find" }] },
    ];
    fc.assert(
      fc.property(fc.array(step), fc.integer({ min: 1, max: 9 }), (steps, size) => {
        const inputs: string[] = [];
        const events = steps.flatMap((each): GenerationEvent[] => {
          if (each.type !== "call") return [each];
          const json = JSON.stringify({ input: each.input });
          inputs.push(each.name === "patch" ? each.input : json);
          const pieces = Array.from({ length: Math.ceil(json.length / size) }, (_, at) =>
            json.slice(at * size, (at + 1) * size),
          );
          return call(inputs.length - 1, each.name, pieces);
        });
        const { completion } = validateResponsesStream(render([start, ...events, finish], { tools }));
        expect(completion.toolCalls.map((made) => made.arguments)).toEqual(inputs);
        const joined = (type: string) =>
          steps.map((each) => (each.type !== "call" && each.type === type ? each.text : "")).join("");
        expect(completion.text).toBe(joined("text"));
        expect(completion.reasoning).toBe(joined("reasoning"));
      }),
    );
  });
});
