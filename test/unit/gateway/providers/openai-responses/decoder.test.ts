import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeWholeResponse,
  ResponseStreamDecoder,
} from "../../../../../src/gateway/providers/openai-responses/decoder.ts";
import type { WireReasoningItem } from "../../../../../src/gateway/providers/openai-responses/wire.ts";
import { WholeAnswerDecoder } from "../../../../../src/gateway/providers/whole-answer.ts";
import { cutAt, decode, type Outcome, textOfEvents, utf8 } from "../support.ts";
import { event, stream, whole } from "./fake.ts";

const FIRST = "call_Vd8kP2mQ7xLz3RtY9wNbC4Hj";
const SECOND = "call_J5hT1cXe8ZqW6uKoS0gMfA2B";

function context() {
  let made = 0;
  const thoughts = new Map<string, readonly WireReasoningItem[]>();
  return {
    secret: "token-of-the-account",
    newId: () => `made-${++made}`,
    rememberReasoning: (callId: string, before: readonly WireReasoningItem[]) =>
      void thoughts.set(callId, before),
    thoughts,
  };
}

function run(...pieces: readonly (string | Uint8Array)[]): Outcome & { thoughts: unknown } {
  const heard = context();
  const bytes = pieces.map((piece) => (typeof piece === "string" ? utf8(piece) : piece));
  const outcome = decode(new ResponseStreamDecoder(heard), bytes);
  return { ...outcome, thoughts: Object.fromEntries(heard.thoughts) };
}

const runWhole = (answer: object | string) =>
  decode(new WholeAnswerDecoder((response) => decodeWholeResponse(response, context())), [
    utf8(typeof answer === "string" ? answer : JSON.stringify(answer)),
  ]);

const CREATED = event("response.created", { response: { id: "r1" } });
const added = (output_index: number, item: object) =>
  event("response.output_item.added", { output_index, item });
const done = (output_index: number, item: object) =>
  event("response.output_item.done", { output_index, item });
const args = (output_index: number, delta: string) =>
  event("response.function_call_arguments.delta", { output_index, delta });
const completed = (response: object = { status: "completed" }) => event("response.completed", { response });
const call = (callId: string, text = "") => ({
  type: "function_call",
  call_id: callId,
  name: "f",
  arguments: text,
});

describe("decoding a streamed response", () => {
  it("reads text", () => {
    expect(run(stream("text"))).toEqual({
      failure: null,
      thoughts: {},
      events: [
        { type: "start", messageId: "resp_0a1b2c3d" },
        { type: "text", text: "Grüße" },
        { type: "text", text: ", 😀" },
        { type: "text", text: "!" },
        { type: "usage", usage: { prompt: 25, completion: 15, reasoning: 0, cached: 0 } },
        { type: "finish", reason: "stop" },
      ],
    });
  });

  it("tells what was thought before each call, sealed as it came when it was complete", () => {
    const summary = [{ type: "summary_text", text: "Oslo, and the time." }];
    expect(run(stream("tools")).thoughts).toEqual({
      [FIRST]: [{ type: "reasoning", id: "rs_01", summary, encrypted_content: "gAAAAABsealed+one==" }],
      [SECOND]: [],
    });
  });

  it("keeps thoughts that lie open, and none of which the backend gave nothing back", () => {
    const open = {
      type: "reasoning",
      id: "rs",
      summary: [],
      content: [{ type: "reasoning_text", text: "hm" }],
    };
    const kept = { type: "reasoning", id: "rs_2", summary: [], encrypted_content: null };
    const { thoughts, events } = run(
      CREATED,
      added(0, { ...open, content: [] }),
      event("response.reasoning_text.delta", { output_index: 0, content_index: 0, delta: "hm" }),
      done(0, { ...open, status: "completed" }),
      done(1, kept),
      done(2, call("c", "{}")),
      completed(),
    );
    expect(thoughts).toEqual({ c: [open] });
    expect(events).toContainEqual({ type: "reasoning", text: "hm" });
  });

  it("reads the words of a refusal apart from text", () => {
    expect(run(stream("refusal")).events.slice(1, 3)).toEqual([
      { type: "refusal", text: "I cannot " },
      { type: "refusal", text: "help with that." },
    ]);
  });

  it("reads the log probabilities of text", () => {
    const logprobs = [{ token: "Hi", logprob: -0.5, bytes: [72, 105], top_logprobs: [] }];
    const delta = { output_index: 0, content_index: 0, delta: "Hi", logprobs };
    const { events } = run(CREATED, event("response.output_text.delta", delta), completed());
    expect(events.slice(1, 3)).toEqual([
      { type: "tokens", tokens: [{ token: "Hi", logprob: -0.5, bytes: [72, 105], top: [] }] },
      { type: "text", text: "Hi" },
    ]);
  });

  it("separates the texts of messages, not those of the parts of one", () => {
    const text = (output_index: number, content_index: number, delta: string) =>
      event("response.output_text.delta", { output_index, content_index, delta });
    const begun = (output_index: number, type: string) =>
      event("response.output_item.added", { output_index, item: { type } });
    const part = (words: string) => ({ type: "output_text", text: words });
    const annotation = { type: "url_citation", url: "https://a.example", start_index: 0, end_index: 4 };
    const messages = [
      { type: "message", content: [part("I look "), part("at the links.")] },
      { type: "web_search_call" },
      { type: "message", content: [{ ...part("Here are two."), annotations: [annotation] }] },
    ];
    const expected = [
      { type: "text", text: "I look " },
      { type: "text", text: "at the links." },
      { type: "server-tool" },
      { type: "text", text: "\n\n", isSeparator: true },
      { type: "text", text: "Here are two." },
      { type: "citation", url: "https://a.example", title: "https://a.example", start: 22, end: 26 },
    ];
    const streamed = run(
      CREATED,
      begun(0, "message") + text(0, 0, "I look ") + text(0, 1, "at the links.") + done(0, messages[0] ?? {}),
      begun(1, "web_search_call") + done(1, { type: "web_search_call" }),
      begun(2, "message") + text(2, 0, "Here are two.") + done(2, messages[2] ?? {}),
      completed(),
    );
    expect(streamed.events.slice(1, -1)).toEqual(expected);
    const whole = decodeWholeResponse({ status: "completed", output: messages }, context());
    expect(whole.slice(1, -1)).toEqual(expected);
  });

  it("counts searches and opened pages of the backend's own tool, which the usage does not state", () => {
    const calls = [
      { type: "web_search_call", action: { type: "search", query: "a" } },
      { type: "web_search_call" },
      { type: "web_search_call", action: { type: "open_page", url: "https://a.example" } },
      { type: "web_search_call", action: { type: "find_in_page", pattern: "x" } },
    ];
    const usage = { input_tokens: 9, output_tokens: 3, input_tokens_details: { cache_write_tokens: 4 } };
    const expected = { prompt: 9, completion: 3, cacheWritten: 4, webSearches: 2, webFetches: 1 };
    const items = calls.map((item, index) => added(index, item) + done(index, item));
    const streamed = run(CREATED, ...items, completed({ status: "completed", usage }));
    expect(streamed.events).toContainEqual({ type: "usage", usage: expected });
    const whole = runWhole({ status: "completed", output: calls, usage });
    expect(whole.events).toContainEqual({ type: "usage", usage: expected });
  });

  it("places a citation without offsets at the end of the text", () => {
    const annotation = { type: "url_citation", url: "https://a.example", title: "A" };
    const content = [{ type: "output_text", text: "One.", annotations: [annotation] }];
    const { events } = run(CREATED, done(0, { type: "message", content }), completed());
    const place = { start: 4, end: 4 };
    expect(events).toContainEqual({ type: "citation", url: "https://a.example", title: "A", ...place });
  });

  it("places citations in the answer, not in their part", () => {
    const annotation = {
      type: "url_citation",
      url: "https://a.example",
      title: "A",
      start_index: 1,
      end_index: 3,
    };
    const text = (output_index: number, delta: string) =>
      event("response.output_text.delta", { output_index, content_index: 0, delta });
    const { events } = run(
      CREATED,
      text(0, "Before. "),
      text(1, "[a]"),
      event("response.output_text.annotation.added", { output_index: 1, content_index: 0, annotation }),
      done(1, { type: "message", content: [] }),
      completed(),
    );
    expect(events).toContainEqual({
      type: "citation",
      url: "https://a.example",
      title: "A",
      start: 9,
      end: 11,
    });
  });

  it.each(["text", "reasoning", "tools", "search", "cut-call"])(
    "reads the same of %s wherever the bytes are cut",
    (name) => {
      const bytes = utf8(stream(name));
      const entire = run(bytes);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (offsets) => {
          expect(run(...cutAt(bytes, offsets))).toEqual(entire);
        }),
        { numRuns: 20 },
      );
      expect(run(...cutAt(bytes, [...bytes.keys()]))).toEqual(entire);
    },
  );

  it("calls a stream cut that ends anywhere before it says that it has ended", () => {
    const bytes = utf8(stream("text"));
    const last = stream("text").lastIndexOf("}\n\n");
    const enough = utf8(stream("text").slice(0, last)).length;
    for (let length = 0; length <= enough; length += 7) {
      expect(run(bytes.subarray(0, length)).failure, `after ${length} bytes`).toBe("cut");
    }
    expect(run(bytes.subarray(0, enough)).failure).toBe("cut");
    expect(run(bytes.subarray(0, enough + 1)).failure).toBeNull();
  });

  it.each([
    ["response.completed", { status: "completed" }, "stop"],
    ["response.completed", {}, "stop"],
    ["response.incomplete", { incomplete_details: { reason: "max_output_tokens" } }, "length"],
    ["response.incomplete", { incomplete_details: { reason: "content_filter" } }, "content_filter"],
    ["response.incomplete", { incomplete_details: { reason: "something_new" } }, "length"],
    ["response.incomplete", {}, "length"],
    ["response.completed", { status: "incomplete" }, "length"],
    ["response.completed", { status: "cancelled" }, "length"],
  ])("reads the end %s %j as %s", (type, response, reason) => {
    expect(run(CREATED, event(type, { response })).events.at(-1)).toEqual({ type: "finish", reason });
  });

  describe("a call that was cut off", () => {
    const ended = (...pieces: string[]) =>
      run(CREATED, ...pieces).events.flatMap((one) => (one.type === "tool-call-end" ? [one.index] : []));
    const half = added(0, call("a")) + args(0, "{}") + added(1, call("b")) + args(1, '{"a":');
    const incomplete = (reason: string) =>
      event("response.incomplete", { response: { incomplete_details: { reason } } });

    it("has no end, however the response ended, and those before it have", () => {
      expect(ended(half, incomplete("max_output_tokens"))).toEqual([0]);
      expect(ended(half, incomplete("content_filter"))).toEqual([0]);
      expect(ended(half, completed())).toEqual([0]);
    });

    it("may be one whose arguments have not begun, but not in an answer that is complete", () => {
      expect(ended(added(0, call("a")), done(0, call("a")), incomplete("max_output_tokens"))).toEqual([]);
      expect(ended(added(0, call("a")), done(0, call("a")), completed())).toEqual([0]);
    });
  });

  it("keeps calls apart that come interleaved", () => {
    const { events } = run(
      CREATED,
      added(0, call("c0")) + added(1, call("c1")),
      args(1, '{"b":') + args(0, '{"a":') + args(1, "2}") + args(0, "1}"),
      done(0, call("c0", '{"a":1}')) + done(1, call("c1", '{"b":2}')),
      completed(),
    );
    expect(events.filter(({ type }) => type.startsWith("tool"))).toEqual([
      { type: "tool-call", index: 0, id: "c0", name: "f" },
      { type: "tool-arguments", index: 0, delta: '{"a":' },
      { type: "tool-arguments", index: 0, delta: "1}" },
      { type: "tool-call-end", index: 0 },
      { type: "tool-call", index: 1, id: "c1", name: "f" },
      { type: "tool-arguments", index: 1, delta: '{"b":2}' },
      { type: "tool-call-end", index: 1 },
    ]);
  });

  it("forgives what compatible servers do differently", () => {
    const expected = run(stream("tools"));
    expect(run(stream("tools").replaceAll(/^event: .*\n/gm, ""))).toEqual(expected);
    expect(run(stream("text"), "data: [DONE]\n\n")).toEqual(run(stream("text")));
    const joined = ({ events }: Outcome) => ({
      words: events.map((one) => (one.type === "text" || one.type === "reasoning" ? one.text : "")).join(""),
      calls: events.filter(({ type }) => type === "tool-call"),
      end: events.at(-1),
    });
    // Items come whole, without deltas.
    const whollies = stream("tools").replaceAll(/event: response\.\S+\.delta\n.*\n\n/g, "");
    expect(joined(run(whollies))).toEqual(joined(expected));
    // All comes at the end.
    const last = stream("tools").slice(stream("tools").lastIndexOf("event: "));
    expect(joined(run(last))).toEqual(joined(expected));
    // Nothing is counted, and there are no ids.
    const { events } = run(
      event("response.output_item.added", { item: { type: "function_call", name: "f" }, item_id: "x" }),
      event("response.function_call_arguments.delta", { item_id: "x", delta: "{}" }),
      completed(),
    );
    expect(events).toEqual([
      { type: "start", messageId: "resp_made-1" },
      { type: "tool-call", index: 0, id: "call_made2", name: "f" },
      { type: "tool-arguments", index: 0, delta: "{}" },
      { type: "tool-call-end", index: 0 },
      { type: "finish", reason: "tool_calls" },
    ]);
  });

  it.each([
    [{ code: "server_error", message: "no" }, "server_error"],
    [{ code: "rate_limit_exceeded", message: "no" }, "rate_limited"],
    [{ code: "insufficient_quota", message: "no" }, "rate_limited"],
    [{ code: "server_is_overloaded", message: "no" }, "model_unavailable"],
    [{ code: "context_length_exceeded", message: "no" }, "context_length"],
    [{ code: "invalid_prompt", message: "flagged" }, "content_filter"],
    [{ code: "invalid_image", message: "no" }, "invalid_request"],
    [{ code: null, message: "no", type: "invalid_request_error" }, "invalid_request"],
    [{ code: null, message: "no" }, "server_error"],
  ])("takes %j for %s, wherever it is told", (error, kind) => {
    expect(run(CREATED, event("response.failed", { response: { error } })).failure).toBe(kind);
    expect(run(CREATED, event("error", { error })).failure).toBe(kind);
    expect(runWhole({ status: "failed", error, output: [] }).failure).toBe(kind);
    if (!("type" in error)) expect(run(CREATED, event("error", error)).failure).toBe(kind);
  });

  it("calls broken events malformed", () => {
    expect(run("data: {oops}\n\n").failure).toBe("malformed");
    expect(run(CREATED, "data: []\n\n").failure).toBe("malformed");
    expect(run(CREATED, added(0, { type: "function_call", call_id: "a" }), completed()).failure).toBe(
      "malformed",
    );
  });

  it("never throws anything but a provider's failure, whatever the events", () => {
    const value = fc.jsonValue();
    const item = fc.record(
      {
        type: fc.constantFrom("message", "reasoning", "function_call", "web_search_call", "other"),
        id: value,
        call_id: value,
        name: value,
        arguments: value,
        content: value,
        summary: value,
        action: value,
      },
      { requiredKeys: ["type"] },
    );
    const fuzzed = fc.record(
      {
        type: fc.constantFrom(
          "response.created",
          "response.output_item.added",
          "response.output_item.done",
          "response.output_text.delta",
          "response.refusal.delta",
          "response.reasoning_summary_text.delta",
          "response.function_call_arguments.delta",
          "response.output_text.annotation.added",
        ),
        output_index: fc.oneof(fc.nat(3), value),
        content_index: value,
        item: fc.oneof(item, value),
        delta: fc.oneof(fc.string(), value),
        annotation: value,
        logprobs: value,
        response: value,
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.array(fuzzed), fc.array(fc.nat(400), { maxLength: 4 }), (events, offsets) => {
        const bytes = utf8(events.map((each) => event(each.type, each)).join("") + completed());
        const entire = run(bytes);
        const cuts = offsets.filter((offset) => offset <= bytes.length);
        expect(run(...cutAt(bytes, cuts))).toEqual(entire);
      }),
      { numRuns: 150 },
    );
  });
});

describe("decoding a response that came whole", () => {
  it("gives the calls, the words and the counts of the stream", () => {
    const streamed = run(stream("tools")).events;
    const told = runWhole(whole("tools")).events;
    const kept = ["start", "reasoning", "tool-call", "tool-call-end", "usage", "finish"];
    const of = (events: Outcome["events"]) => events.filter(({ type }) => kept.includes(type));
    expect(of(told)).toEqual(of(streamed));
    expect(textOfEvents(told, "text")).toBe(textOfEvents(streamed, "text"));
    expect(told).toContainEqual({ type: "tool-arguments", index: 0, delta: '{"city": "Ørsta"}' });
  });

  it("tells a failure, and an answer without an end, from an answer", () => {
    expect(runWhole("{}").failure).toBe("cut");
    for (const status of ["in_progress", "queued", "cancelled"]) {
      expect(runWhole({ status, output: [] }).failure).toBe("cut");
    }
    expect(runWhole(whole("tools").slice(0, 100)).failure).toBe("malformed");
    expect(runWhole({ status: "completed", output: [null, "x"] }).failure).toBeNull();
  });
});
