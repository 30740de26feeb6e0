import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeWholeMessage,
  MessageStreamDecoder,
} from "../../../../../src/gateway/providers/anthropic/decoder.ts";
import type { WireThinkingBlock } from "../../../../../src/gateway/providers/anthropic/wire.ts";
import { WholeAnswerDecoder } from "../../../../../src/gateway/providers/whole-answer.ts";
import { cutAt, decode, type Outcome, utf8, withLastCounts } from "../support.ts";
import { event, stream } from "./fake.ts";

const FIRST = "toolu_01T1x1fJ34qAmk2tNTrN7Up6";
const SECOND = "toolu_01D7FLrfh4GYq7yT1ULFeyMV";

function context() {
  let made = 0;
  const thoughts = new Map<string, readonly WireThinkingBlock[]>();
  return {
    secret: "token-of-the-account",
    newId: () => `made-${++made}`,
    rememberThinking: (callId: string, before: readonly WireThinkingBlock[]) =>
      void thoughts.set(callId, before),
    thoughts,
  };
}

function run(...pieces: readonly (string | Uint8Array)[]): Outcome & { thoughts: unknown } {
  const heard = context();
  const bytes = pieces.map((piece) => (typeof piece === "string" ? utf8(piece) : piece));
  const outcome = withLastCounts(decode(new MessageStreamDecoder(heard), bytes));
  return { ...outcome, thoughts: Object.fromEntries(heard.thoughts) };
}

const START = event("message_start", { message: { id: "m1", usage: { input_tokens: 3, output_tokens: 1 } } });
const STOP = event("message_stop");
const block = (index: number, content: object) =>
  event("content_block_start", { index, content_block: content });
const delta = (index: number, change: object) => event("content_block_delta", { index, delta: change });
const end = (index: number) => event("content_block_stop", { index });
const finish = (reason: string | null) => event("message_delta", { delta: { stop_reason: reason } });
const SAID = block(0, { type: "text", text: "x" }) + end(0);

describe("decoding a streamed message", () => {
  it("reads text", () => {
    expect(run(stream("text"))).toEqual({
      failure: null,
      thoughts: {},
      events: [
        { type: "start", messageId: "msg_01TextOnly" },
        { type: "text", text: "Grüße" },
        { type: "text", text: ", 😀" },
        { type: "text", text: "!" },
        {
          type: "usage",
          usage: { prompt: 25, completion: 15, cached: 0, cacheWritten: 0, cacheWritten1h: 0 },
        },
        { type: "finish", reason: "stop" },
      ],
    });
  });

  it("reads thinking, and counts it", () => {
    expect(run(stream("thinking")).events).toEqual([
      { type: "start", messageId: "msg_01Thinking" },
      { type: "reasoning", text: "The user asks " },
      { type: "reasoning", text: "for 27 × 453." },
      { type: "text", text: "27 × 453 = 12,231" },
      {
        type: "usage",
        usage: { prompt: 25, completion: 56, reasoning: 21, cached: 0, cacheWritten: 0, cacheWritten1h: 0 },
      },
      { type: "finish", reason: "stop" },
    ]);
  });

  it("reads calls, one without input, and counts what was cached as prompt", () => {
    expect(run(stream("tools")).events).toEqual([
      { type: "start", messageId: "msg_01TwoCalls" },
      { type: "reasoning", text: "Oslo, and the time." },
      { type: "text", text: "Let me look." },
      { type: "tool-call", index: 0, id: FIRST, name: "get_weather" },
      { type: "tool-arguments", index: 0, delta: '{"city":' },
      { type: "tool-arguments", index: 0, delta: ' "Ørsta"' },
      { type: "tool-arguments", index: 0, delta: "}" },
      { type: "tool-call-end", index: 0 },
      { type: "tool-call", index: 1, id: SECOND, name: "get_time" },
      { type: "tool-arguments", index: 1, delta: "{}" },
      { type: "tool-call-end", index: 1 },
      {
        type: "usage",
        usage: {
          prompt: 1112,
          completion: 89,
          reasoning: 30,
          cached: 1000,
          cacheWritten: 100,
          cacheWritten1h: 0,
        },
      },
      { type: "finish", reason: "tool_calls" },
    ]);
  });

  it("tells what was thought before each call, as it was signed", () => {
    expect(run(stream("tools")).thoughts).toEqual({
      [FIRST]: [
        { type: "thinking", thinking: "Oslo, and the time.", signature: "EpwBCkYIChgCKkBxy+thought+one==" },
        { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3" },
      ],
      [SECOND]: [],
    });
  });

  it.each(["text", "thinking", "tools"])("reads the same of %s wherever the bytes are cut", (name) => {
    const bytes = utf8(stream(name));
    const whole = run(bytes);
    for (let offset = 0; offset <= bytes.length; offset += 1) {
      expect(run(...cutAt(bytes, [offset])), `cut at ${offset}`).toEqual(whole);
    }
    expect(run(...cutAt(bytes, [...bytes.keys()]))).toEqual(whole);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (offsets) => {
        expect(run(...cutAt(bytes, offsets))).toEqual(whole);
      }),
    );
  });

  it("calls a stream cut that ends anywhere before it says that it has ended", () => {
    const bytes = utf8(stream("tools"));
    // Without the blank line at the end it is whole.
    const last = stream("tools").lastIndexOf("}\n\n");
    const enough = utf8(stream("tools").slice(0, last)).length;
    for (let length = 0; length <= enough; length += 1) {
      expect(run(bytes.subarray(0, length)).failure, `after ${length} bytes`).toBe("cut");
    }
    expect(run(bytes.subarray(0, enough + 1)).failure).toBeNull();
  });

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["max_output_tokens", "length"],
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["refusal", "content_filter"],
    ["pause_turn", "incomplete"],
    ["something_new", "stop"],
    [null, "stop"],
  ])("reads the stop reason %s as %s", (said, reason) => {
    expect(run(START, SAID, finish(said), STOP).events.at(-1)).toEqual({ type: "finish", reason });
  });

  it("knows calls although the backend says end_turn", () => {
    const call = block(0, { type: "tool_use", id: "a", name: "f", input: {} }) + end(0);
    expect(run(START, call, finish("end_turn"), STOP).events.at(-1)).toEqual({
      type: "finish",
      reason: "tool_calls",
    });
  });

  describe("a call that was cut off", () => {
    const call = (index: number) => block(index, { type: "tool_use", id: `c${index}`, name: "f", input: {} });
    const input = (index: number, json: string) =>
      delta(index, { type: "input_json_delta", partial_json: json });
    const ended = (...pieces: string[]) =>
      run(START, ...pieces, STOP).events.flatMap((one) => (one.type === "tool-call-end" ? [one.index] : []));

    it("has no end, however the message ended, and those before it have", () => {
      const half = call(0) + input(0, "{}") + end(0) + call(1) + input(1, '{"a":') + end(1);
      for (const reason of ["max_tokens", "refusal", "tool_use"]) {
        expect(ended(half, finish(reason)), reason).toEqual([0]);
      }
    });

    it("is complete if its input parses", () => {
      expect(ended(call(0) + input(0, '{"a":1}') + end(0), finish("max_tokens"))).toEqual([0]);
    });

    it("may be one whose input has not begun, but not if something follows", () => {
      expect(ended(call(0) + end(0), finish("max_tokens"))).toEqual([]);
      expect(ended(call(0) + end(0) + call(1) + end(1), finish("max_tokens"))).toEqual([0]);
      expect(ended(call(0) + end(0) + SAID, finish("max_tokens"))).toEqual([0]);
      expect(ended(call(0) + end(0), finish("tool_use"))).toEqual([0]);
    });
  });

  it("says that an answer was withheld", () => {
    expect(run(stream("refusal")).events.at(-1)).toEqual({ type: "finish", reason: "content_filter" });
  });

  it("fails at an error in mid-stream, after what preceded it", () => {
    const { events, failure } = run(stream("error"));
    expect(events).toContainEqual({ type: "text", text: "Hello" });
    expect(failure).toBe("model_unavailable");
  });

  it.each([
    ["authentication_error", "token_expired"],
    ["permission_error", "account_suspended"],
    ["rate_limit_error", "rate_limited"],
    ["invalid_request_error", "invalid_request"],
    ["not_found_error", "model_unavailable"],
    ["request_too_large", "too_large"],
    ["timeout_error", "timeout"],
    ["api_error", "server_error"],
    ["something_new", "server_error"],
  ])("takes the error %s for %s", (type, kind) => {
    expect(run(START, event("error", { error: { type, message: "no" } })).failure).toBe(kind);
  });

  it("forgives what compatible servers do differently", () => {
    const unnamed = (text: string) => text.replaceAll(/^event: .*\n/gm, "");
    expect(run(unnamed(stream("tools")))).toEqual(run(stream("tools")));
    expect(run(stream("text"), "data: [DONE]\n\n")).toEqual(run(stream("text")));
    // The type stands in the name alone; input comes at once; nothing ends; there are neither ids nor counts.
    const bare = [
      "event: message_start\ndata: {}\n\n",
      block(0, { type: "thinking", thinking: "hm" }),
      block(1, { type: "tool_use", name: "f", input: { a: 1 } }),
      STOP,
    ];
    expect(run(...bare)).toEqual({
      failure: null,
      thoughts: { toolu_made2: [] },
      events: [
        { type: "start", messageId: "msg_made-1" },
        { type: "reasoning", text: "hm" },
        { type: "tool-call", index: 0, id: "toolu_made2", name: "f" },
        { type: "tool-arguments", index: 0, delta: '{"a":1}' },
        { type: "tool-call-end", index: 0 },
        { type: "finish", reason: "tool_calls" },
      ],
    });
  });

  it.each([
    [{ input_tokens: 9 }, { input_tokens: 0, output_tokens: 5 }],
    [{ input_tokens: 0 }, { input_tokens: 9, output_tokens: 5 }],
    [
      { input_tokens: 4, cache_read_input_tokens: 5 },
      { input_tokens: null, output_tokens: 5 },
    ],
  ])("counts what is stated at the beginning and at the end: %j %j", (first, last) => {
    const begun = event("message_start", { message: { id: "m1", usage: { ...first, output_tokens: 1 } } });
    const { events } = run(begun, SAID, event("message_delta", { delta: {}, usage: last }), STOP);
    const counted = expect.objectContaining({ prompt: 9, completion: 5 });
    expect(events).toContainEqual({ type: "usage", usage: counted });
  });

  it("states what was cached at the beginning, because a stream that breaks off has no end", () => {
    const usage = { input_tokens: 4, output_tokens: 1, cache_read_input_tokens: 90 };
    const { events, failure } = decode(new MessageStreamDecoder(context()), [
      utf8(event("message_start", { message: { id: "m1", usage } }) + SAID),
    ]);
    expect(failure).toBe("cut");
    expect(events).toContainEqual({ type: "usage", usage: { prompt: 94, completion: 1, cached: 90 } });
  });

  const lifetimes = (short: number, long: number) => ({
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
  });
  it.each([
    ["by lifetime", { ...lifetimes(30, 10), cache_creation_input_tokens: 40 }, {}, 44, 40, 10],
    ["by lifetime alone", lifetimes(30, 10), {}, 44, 40, 10],
    ["in total alone", { cache_creation_input_tokens: 40 }, {}, 44, 40, undefined],
    // The counts at the end are cumulative: they replace the first ones.
    [
      "again at the end",
      { ...lifetimes(30, 10), cache_creation_input_tokens: 40 },
      { cache_creation_input_tokens: 40 },
      44,
      40,
      10,
    ],
    [
      "as more at the end",
      { ...lifetimes(0, 40), cache_creation_input_tokens: 40 },
      { cache_creation_input_tokens: 60 },
      64,
      60,
      60,
    ],
  ])("counts what was written to the cache, stated %s", (_, first, last, prompt, written, longLived) => {
    const begun = event("message_start", {
      message: { id: "m1", usage: { input_tokens: 4, output_tokens: 1, ...first } },
    });
    const ended = event("message_delta", { delta: {}, usage: { output_tokens: 7, ...last } });
    const usage = run(begun, SAID, ended, STOP).events.find(({ type }) => type === "usage");
    expect(usage).toEqual({
      type: "usage",
      usage: {
        prompt,
        completion: 7,
        cacheWritten: written,
        ...(longLived === undefined ? {} : { cacheWritten1h: longLived }),
      },
    });
  });

  it("counts the requests of the server's own tools, and samplings that the totals do not include", () => {
    const iterations = [
      { type: "compaction", input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 500 },
      { type: "message", input_tokens: 20, output_tokens: 7 },
      { type: "advisor_message", model: "larger", input_tokens: 300, output_tokens: 30 },
    ];
    const usage = { input_tokens: 20, output_tokens: 7, iterations };
    const server_tool_use = { web_search_requests: 2, web_fetch_requests: 1 };
    const ended = event("message_delta", { delta: {}, usage: { ...usage, server_tool_use } });
    expect(run(START, SAID, ended, STOP).events).toContainEqual({
      type: "usage",
      usage: { prompt: 1_820, completion: 137, cached: 500, webSearches: 2, webFetches: 1 },
    });
  });

  it("keeps calls apart that come interleaved", () => {
    const call = (index: number) => block(index, { type: "tool_use", id: `c${index}`, name: "f", input: {} });
    const part = (index: number, json: string) =>
      delta(index, { type: "input_json_delta", partial_json: json });
    const { events } = run(
      START,
      call(0) +
        call(1) +
        part(1, '{"b":') +
        part(0, '{"a":') +
        part(1, "2}") +
        part(0, "1}") +
        end(0) +
        end(1),
      STOP,
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

  it("passes over blocks of tools that the server runs itself", () => {
    const search =
      block(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }) +
      delta(0, { type: "input_json_delta", partial_json: '{"query":"x"}' }) +
      end(0) +
      block(1, { type: "web_search_tool_result", tool_use_id: "s", content: [] }) +
      end(1);
    expect(run(START, search, SAID, finish("end_turn"), STOP).events.map(({ type }) => type)).toEqual([
      "start",
      "server-tool",
      "search-query",
      "text",
      "usage",
      "finish",
    ]);
  });

  it("separates the texts around a server tool, not those of cited blocks", () => {
    const text = (index: number, words: string) => block(index, { type: "text", text: words }) + end(index);
    const search =
      block(1, { type: "server_tool_use", id: "s", name: "web_search", input: {} }) +
      end(1) +
      block(2, { type: "web_search_tool_result", tool_use_id: "s", content: [] }) +
      end(2);
    const citation = { type: "web_search_result_location", url: "https://a.example", title: "A" };
    const cited =
      block(3, { type: "text", text: "" }) +
      delta(3, { type: "text_delta", text: "Here are" }) +
      delta(3, { type: "citations_delta", citation }) +
      end(3);
    const { events } = run(
      START,
      text(0, "The links."),
      search,
      cited,
      text(4, " two."),
      finish("end_turn"),
      STOP,
    );
    expect(events.filter(({ type }) => type === "text" || type === "citation")).toEqual([
      { type: "text", text: "The links." },
      { type: "text", text: "\n\n", isSeparator: true },
      { type: "text", text: "Here are" },
      {
        type: "citation",
        url: "https://a.example",
        title: "A",
        start: 20,
        end: 20,
        claim: { start: 12, end: 20 },
      },
      { type: "text", text: " two." },
    ]);
  });

  it("reads the content that a message begins with", () => {
    const begins = (content: unknown) => event("message_start", { message: { id: "m1", content } });
    const use = { type: "tool_use", id: FIRST, name: "get", input: { x: 1 } };
    const calls = [
      { type: "tool-call", index: 0, id: FIRST, name: "get" },
      { type: "tool-arguments", index: 0, delta: '{"x":1}' },
      { type: "tool-call-end", index: 0 },
    ];
    const started = { type: "start", messageId: "m1" };
    const last = { type: "finish", reason: "tool_calls" };
    const begun = begins([{ type: "text", text: "I look. " }, use]);
    expect(run(begun, finish("tool_use"), STOP).events).toEqual([
      started,
      { type: "text", text: "I look. " },
      ...calls,
      last,
    ]);
    // A server may stream the call once more.
    const again = block(0, { ...use, input: {} }) + delta(0, { partial_json: '{"x":1}' }) + end(0);
    expect(run(begins([use]), again, finish("tool_use"), STOP).events).toEqual([started, ...calls, last]);
    const empty = begins([{ ...use, input: {} }]);
    expect(run(empty, finish("tool_use"), STOP).events).toContainEqual({
      type: "tool-arguments",
      index: 0,
      delta: "{}",
    });
    for (const content of [[], null, "x", [null, { type: "text", text: "" }]]) {
      expect(run(begins(content), SAID, finish("end_turn"), STOP).events).toEqual([
        started,
        { type: "text", text: "x" },
        { type: "finish", reason: "stop" },
      ]);
    }
  });

  describe("a message that begins again", () => {
    const input = (json: string) => delta(0, { type: "input_json_delta", partial_json: json });
    const use = (id: string) => block(0, { type: "tool_use", id, name: "get", input: {} });
    const rest = use(SECOND) + input('{"x":2}') + end(0) + finish("tool_use") + STOP;

    it.each([
      ["a call", use(FIRST) + input('{"x":')],
      ["a call without input", use(FIRST)],
    ])("within %s is cut off", (_, open) => {
      const { events, failure } = run(START, open, START, rest);
      expect(failure).toBe("cut");
      expect(events.some(({ type }) => type === "tool-call-end" || type === "finish")).toBe(false);
    });

    it.each([
      ["before its content", ""],
      ["within a text", block(0, { type: "text", text: "x" })],
      ["behind a text", SAID],
      ["within a call whose input is complete", use(FIRST) + input('{"x":1}')],
      ["behind a call without input", use(FIRST) + end(0)],
    ])("%s goes on", (_, before) => {
      const { events, failure } = run(START, before, START, rest);
      expect(failure).toBeNull();
      const begun = events.filter(({ type }) => type === "tool-call").length;
      expect(events.filter(({ type }) => type === "tool-call-end")).toHaveLength(begun);
      expect(events.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
    });
  });

  it("calls broken events malformed", () => {
    expect(run("data: {oops}\n\n").failure).toBe("malformed");
    expect(run(START, "data: []\n\n").failure).toBe("malformed");
    expect(run(START, block(0, { type: "tool_use", id: "a" }), STOP).failure).toBe("malformed");
  });

  it("never throws anything but a provider's failure, whatever the events", () => {
    const value = fc.jsonValue();
    const type = fc.constantFrom("text", "thinking", "redacted_thinking", "tool_use", "other");
    const content = fc.record(
      {
        type,
        text: value,
        thinking: value,
        signature: value,
        data: value,
        id: value,
        name: value,
        input: value,
      },
      { requiredKeys: ["type"] },
    );
    const change = fc.record(
      { text: value, thinking: value, signature: value, partial_json: value, stop_reason: value },
      { requiredKeys: [] },
    );
    const fuzzed = fc.record(
      {
        type: fc.constantFrom(
          "message_start",
          "content_block_start",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
        ),
        index: fc.oneof(fc.nat(3), value),
        message: value,
        content_block: fc.oneof(content, value),
        delta: fc.oneof(change, value),
        usage: value,
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.array(fuzzed), fc.array(fc.nat(400), { maxLength: 4 }), (events, offsets) => {
        const bytes = utf8(events.map((each) => event(each.type, each)).join("") + STOP);
        const whole = run(bytes);
        const cuts = offsets.filter((offset) => offset <= bytes.length);
        expect(run(...cutAt(bytes, cuts))).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });
});

describe("decoding a message that came whole", () => {
  const whole = (...pieces: readonly Uint8Array[]) =>
    withLastCounts(
      decode(new WholeAnswerDecoder((message) => decodeWholeMessage(message, context())), pieces),
    );
  const body = utf8(
    JSON.stringify({
      id: "msg_01TwoCalls",
      type: "message",
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Oslo, and the time.", signature: "s" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: FIRST, name: "get_weather", input: { city: "Ørsta" } },
        { type: "tool_use", id: SECOND, name: "get_time", input: {} },
      ],
      stop_reason: "tool_use",
      usage: {
        input_tokens: 12,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 1000,
        output_tokens: 89,
        output_tokens_details: { thinking_tokens: 30 },
      },
    }),
  );

  it("gives the events of the stream, wherever the bytes are cut", () => {
    for (let offset = 0; offset <= body.length; offset += 1) {
      expect(whole(...cutAt(body, [offset]))).toEqual({
        failure: null,
        events: [
          { type: "start", messageId: "msg_01TwoCalls" },
          { type: "reasoning", text: "Oslo, and the time." },
          { type: "text", text: "Let me look." },
          { type: "tool-call", index: 0, id: FIRST, name: "get_weather" },
          { type: "tool-arguments", index: 0, delta: '{"city":"Ørsta"}' },
          { type: "tool-call-end", index: 0 },
          { type: "tool-call", index: 1, id: SECOND, name: "get_time" },
          { type: "tool-arguments", index: 1, delta: "{}" },
          { type: "tool-call-end", index: 1 },
          {
            type: "usage",
            usage: { prompt: 1112, completion: 89, reasoning: 30, cached: 1000, cacheWritten: 100 },
          },
          { type: "finish", reason: "tool_calls" },
        ],
      });
    }
  });

  it("tells an error from an answer", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(whole(utf8(JSON.stringify(error))).failure).toBe("model_unavailable");
    expect(whole(body.subarray(0, 100)).failure).toBe("malformed");
    expect(whole(utf8("{}")).failure).toBe("cut");
    expect(whole(utf8('{"content":[null,"x"]}')).failure).toBeNull();
  });
});
