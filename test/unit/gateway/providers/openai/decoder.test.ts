import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { completionEvents } from "../../../../../src/gateway/providers/openai/decoder.ts";
import { WholeAnswerDecoder } from "../../../../../src/gateway/providers/whole-answer.ts";
import { cutAt, decode, utf8 } from "../support.ts";

import { call, chunk, context, DONE, data, run } from "./stream.ts";

const MIXED = [
  ": OPENROUTER PROCESSING\r\n\r\n",
  chunk({ role: "assistant", content: "" }),
  'data:{"id":"c1","choices":[]}\r\n\r\n',
  chunk({ reasoning_content: "hmm é" }),
  'data: {"id":"c1","choices":[{"index":0,\r\ndata: "delta":{"content":"größe 😀"}}]}\r\n\r\n',
  call({ index: 0, id: "a", type: "function", function: { name: "get", arguments: "" } }),
  call({ index: 0, function: { arguments: '{"x":' } }),
  call({ index: 0, function: { arguments: '"ü"}' } }),
  chunk({}, "tool_calls"),
  data({
    id: "c1",
    choices: [],
    usage: { prompt_tokens: 9, completion_tokens: 7, completion_tokens_details: { reasoning_tokens: 4 } },
  }),
  "data: [DONE]",
].join("");

describe("decoding a streamed chat completion", () => {
  it("reads every event, with the usage before the end", () => {
    expect(run(MIXED)).toEqual({
      failure: null,
      events: [
        { type: "start", messageId: "c1" },
        { type: "reasoning", text: "hmm é" },
        { type: "text", text: "größe 😀" },
        { type: "tool-call", index: 0, id: "a", name: "get" },
        { type: "tool-arguments", index: 0, delta: '{"x":' },
        { type: "tool-arguments", index: 0, delta: '"ü"}' },
        { type: "tool-call-end", index: 0 },
        { type: "usage", usage: { prompt: 9, completion: 7, reasoning: 4 } },
        { type: "finish", reason: "tool_calls" },
      ],
    });
  });

  it("reads the same events wherever the bytes are cut", () => {
    const bytes = utf8(MIXED);
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

  it.each([
    ["stop", "stop"],
    ["length", "length"],
    ["max_tokens", "length"],
    ["content_filter", "content_filter"],
    ["eos", "stop"],
  ])("reads the finish reason %s as %s", (said, reason) => {
    expect(run(chunk({ content: "x" }), chunk({}, said), DONE).events.at(-1)).toEqual({
      type: "finish",
      reason,
    });
  });

  it("knows calls although the backend says stop", () => {
    const answer = run(
      call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
      chunk({}, "stop"),
      DONE,
    );
    expect(answer.events.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
  });

  it("is not misled by an empty finish reason", () => {
    expect(
      run(chunk({ content: "a" }, ""), chunk({ content: "b" }, ""), chunk({}, "stop"), DONE).failure,
    ).toBeNull();
    expect(run(chunk({ content: "a" }, "")).failure).toBe("cut");
  });

  it.each([
    ["reasoning", { reasoning: "r" }],
    ["reasoning_content", { reasoning_content: "r" }],
    ["both, said once", { reasoning: "r", reasoning_content: "r" }],
    ["thinking parts", { content: [{ type: "thinking", thinking: [{ type: "text", text: "r" }] }] }],
  ])("reads reasoning in the form of %s", (_form, delta) => {
    const { events } = run(chunk(delta), chunk({}, "stop"), DONE);
    expect(events.filter((event) => event.type === "reasoning")).toEqual([{ type: "reasoning", text: "r" }]);
  });

  it("reads content in parts, and a refusal wherever it stands", () => {
    const { events } = run(
      chunk({ content: [{ type: "text", text: "a" }] }),
      chunk({ refusal: "b" }),
      chunk({ content: [{ type: "refusal", refusal: "c" }] }, "stop"),
      DONE,
    );
    expect(events.slice(1, -1)).toEqual([
      { type: "text", text: "a" },
      { type: "refusal", text: "b" },
      { type: "refusal", text: "c" },
    ]);
  });

  it("reads the tokens of the text, and leaves out those of thoughts and what is malformed", () => {
    const likely = { token: "a", logprob: -0.1, bytes: [97] };
    const content = [
      { ...likely, top_logprobs: [likely, { token: "b", logprob: -2 }, { token: "c" }] },
      { token: 1 },
      null,
    ];
    const told = (delta: object, logprobs: unknown) =>
      data({ id: "c1", choices: [{ index: 0, delta, logprobs, finish_reason: null }] });
    const { events } = run(
      told({ reasoning_content: "Hm" }, { content }),
      told({ content: "a" }, { content }),
      told({ content: "b" }, { content: null }),
      chunk({}, "stop"),
      DONE,
    );
    const top = [likely, { token: "b", logprob: -2, bytes: null }];
    expect(events.slice(1, -1)).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "tokens", tokens: [{ ...likely, top }] },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
  });

  it("reads one choice, and of the others the text alone", () => {
    const other = data({
      id: "c1",
      choices: [{ index: 1, delta: { content: "other" }, finish_reason: "length" }],
    });
    const { events } = run(chunk({ content: "one" }), other, chunk({}, "stop"), DONE);
    expect(events).toEqual([
      { type: "start", messageId: "c1" },
      { type: "text", text: "one" },
      { type: "other-choice", text: "other" },
      { type: "finish", reason: "stop" },
    ]);
  });

  it.each([
    [
      "more than the completion",
      { prompt_tokens: 12, completion_tokens: 1 },
      228,
      { prompt: 12, completion: 229 },
    ],
    [
      "apart from it in the total",
      { prompt_tokens: 12, completion_tokens: 300, total_tokens: 540 },
      228,
      { prompt: 12, completion: 528 },
    ],
    [
      "part of it in the total",
      { prompt_tokens: 12, completion_tokens: 300, total_tokens: 312 },
      228,
      { prompt: 12, completion: 300 },
    ],
    ["all of it", { prompt_tokens: 12, completion_tokens: 228 }, 228, { prompt: 12, completion: 228 }],
    ["stated without a completion", { prompt_tokens: 12 }, 228, { prompt: 12 }],
  ])("reasoning tokens that are %s", (_, counts, reasoning, expected) => {
    for (const stated of [
      { ...counts, completion_tokens_details: { reasoning_tokens: reasoning } },
      { ...counts, reasoning_tokens: reasoning },
    ]) {
      const { events } = run(
        chunk({ content: "x" }, "stop") + data({ id: "c1", choices: [], usage: stated }) + DONE,
      );
      expect(events).toContainEqual({ type: "usage", usage: { ...expected, reasoning } });
    }
  });

  it("counts what was written to the cache, audio, and searches of the backend's own", () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10, audio_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 8, audio_tokens: 4 },
    };
    const expected = {
      prompt: 100,
      completion: 20,
      reasoning: 8,
      cached: 60,
      cacheWritten: 10,
      audioInput: 5,
      audioOutput: 4,
      webSearches: 3,
    };
    for (const searches of [{ server_tool_use: { web_search_requests: 3 } }, { num_search_queries: 3 }]) {
      const { events } = run(
        chunk({ content: "x" }, "stop") +
          data({ id: "c1", choices: [], usage: { ...usage, ...searches } }) +
          DONE,
      );
      expect(events).toContainEqual({ type: "usage", usage: expected });
    }
  });

  it("places a citation without offsets at the end of the text so far", () => {
    const cite = (url: string, nested: boolean) => {
      const page = { url, title: "A" };
      return { type: "url_citation", ...(nested ? { url_citation: page } : page) };
    };
    const { events } = run(
      chunk({ content: "One." }),
      chunk({ annotations: [cite("https://a.example", true)] }),
      chunk({ content: " Two.", annotations: [cite("https://b.example", false)] }, "stop"),
      DONE,
    );
    expect(events.filter(({ type }) => type === "citation")).toEqual([
      { type: "citation", url: "https://a.example", title: "A", start: 4, end: 4 },
      { type: "citation", url: "https://b.example", title: "A", start: 9, end: 9 },
    ]);
  });

  it("takes the last of several usages", () => {
    const counted = (n: number) =>
      data({ id: "c1", choices: [], usage: { prompt_tokens: 1, completion_tokens: n } });
    const { events } = run(
      chunk({ content: "x" }),
      counted(1),
      counted(2),
      chunk({}, "stop"),
      counted(3),
      DONE,
    );
    expect(events.filter((event) => event.type === "usage")).toEqual([
      { type: "usage", usage: { prompt: 1, completion: 3 } },
    ]);
  });

  it("makes up a message id if there is none", () => {
    const bare = data({ choices: [{ delta: { content: "x" }, finish_reason: "stop" }] });
    expect(run(bare, DONE).events[0]).toEqual({ type: "start", messageId: "chatcmpl-made1" });
  });

  it("accepts a missing [DONE] after a finish reason", () => {
    expect(run(chunk({ content: "x" }, "stop")).failure).toBeNull();
  });

  it("accepts a missing finish reason before [DONE] if the answer is whole", () => {
    expect(run(chunk({ content: "x" }), DONE).events.at(-1)).toEqual({ type: "finish", reason: "stop" });
    expect(
      run(call({ index: 0, id: "a", function: { name: "f", arguments: '{"a":1}' } }), DONE).failure,
    ).toBeNull();
  });

  it.each([
    ["nothing", ""],
    ["text without an end", chunk({ content: "x" })],
    ["[DONE] alone", DONE],
    ["[DONE] after an empty answer", chunk({ role: "assistant" }) + DONE],
    ["[DONE] within a call", call({ index: 0, id: "a", function: { name: "f", arguments: '{"a":' } }) + DONE],
    ["half a chunk", `${chunk({ content: "x" })}data: {"choi`],
  ])("calls an answer cut that consists of %s", (_what, text) => {
    expect(run(text).failure).toBe("cut");
  });

  it.each([
    ["an object", { error: { message: "overloaded", type: "server_error", code: null } }, "server_error"],
    ["a code of its own", { error: { message: "slow down", code: "rate_limit_exceeded" } }, "rate_limited"],
    [
      "a type of its own",
      { error: { message: "no such tool", type: "invalid_request_error", code: "strange" } },
      "invalid_request",
    ],
    ["a limit as its type", { error: { message: "slow down", type: "rate_limit_error" } }, "rate_limited"],
    ["a status as its code", { error: { message: "slow down", code: 429 } }, "rate_limited"],
    ["a string", { error: "out of memory" }, "server_error"],
    [
      "beside choices",
      { error: { code: 502, message: "x" }, choices: [{ delta: {}, finish_reason: "error" }] },
      "server_error",
    ],
  ])("fails at an error in mid-stream: %s", (_form, body, kind) => {
    const { events, failure } = run(chunk({ content: "x" }), data(body), DONE);
    expect(failure).toBe(kind);
    expect(events).toContainEqual({ type: "text", text: "x" });
  });

  it.each(["error", "abort", "insufficient_system_resource"])("fails at the finish reason %s", (reason) => {
    expect(run(chunk({ content: "x" }), chunk({}, reason), DONE).failure).toBe("server_error");
  });

  it("calls broken chunks malformed", () => {
    expect(run("data: {oops}\n\n", DONE).failure).toBe("malformed");
    expect(run("data: []\n\n", DONE).failure).toBe("malformed");
  });

  it("never throws anything but a provider's failure, whatever the chunks", () => {
    const value = fc.jsonValue();
    const delta = fc.record(
      {
        content: value,
        reasoning: value,
        tool_calls: fc.oneof(value, fc.array(value)),
        function_call: value,
      },
      { requiredKeys: [] },
    );
    const fuzzed = fc.oneof(
      value,
      fc.record({ id: value, error: value, usage: value, choices: value }, { requiredKeys: [] }),
      fc.record({
        choices: fc.array(fc.record({ index: value, delta, finish_reason: value }, { requiredKeys: [] })),
      }),
    );
    fc.assert(
      fc.property(fc.array(fuzzed), fc.array(fc.nat(400), { maxLength: 4 }), (chunks, offsets) => {
        const bytes = utf8(chunks.map(data).join("") + DONE);
        const whole = run(bytes);
        expect(
          run(
            ...cutAt(
              bytes,
              offsets.filter((offset) => offset <= bytes.length),
            ),
          ),
        ).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });
});

it("reads the stop sequence that vLLM and SGLang name, and no token's number", () => {
  const last = (choice: object) =>
    run(
      chunk({ content: "a" }),
      data({ choices: [{ index: 0, delta: {}, finish_reason: "stop", ...choice }] }),
      DONE,
    ).events.at(-1);
  const hit = { type: "finish", reason: "stop", stopSequence: "END" };
  expect(last({ stop_reason: "END" })).toEqual(hit);
  expect(last({ matched_stop: "END" })).toEqual(hit);
  for (const other of [{ stop_reason: 128009 }, { stop_reason: null }, { matched_stop: 2 }]) {
    expect(last(other)).toEqual({ type: "finish", reason: "stop" });
  }
});

describe("decoding a chat completion that came whole", () => {
  const whole = (...pieces: readonly Uint8Array[]) =>
    decode(new WholeAnswerDecoder((completion) => completionEvents(completion, context())), pieces);
  const body = utf8(
    JSON.stringify({
      id: "c1",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            reasoning_content: "hmm",
            content: "größe 😀",
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    }),
  );

  it("gives the same events as a stream, wherever the bytes are cut", () => {
    for (let offset = 0; offset <= body.length; offset += 1) {
      expect(whole(...cutAt(body, [offset]))).toEqual({
        failure: null,
        events: [
          { type: "start", messageId: "c1" },
          { type: "reasoning", text: "hmm" },
          { type: "text", text: "größe 😀" },
          { type: "tool-call", index: 0, id: "a", name: "f" },
          { type: "tool-arguments", index: 0, delta: "{}" },
          { type: "tool-call-end", index: 0 },
          { type: "usage", usage: { prompt: 1, completion: 2 } },
          { type: "finish", reason: "tool_calls" },
        ],
      });
    }
  });

  it("tells an error from an answer", () => {
    expect(whole(utf8('{"error":{"message":"no","code":"model_not_found"}}')).failure).toBe(
      "model_unavailable",
    );
    expect(whole(body.subarray(0, 100)).failure).toBe("malformed");
    expect(whole(utf8("{}")).failure).toBe("cut");
  });
});
