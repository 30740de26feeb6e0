import { describe, expect, it } from "vitest";
import { call, chunk, counted, DONE, data, run } from "./stream.ts";

/** What only this protocol has. What every decoder must do is tested in `../decoders.test.ts`. */
describe("decoding a streamed chat completion", () => {
  it("ignores an empty finish reason", () => {
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

  it("reads content in parts, and a refusal anywhere", () => {
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

  it("reads one choice, and only the text of others", () => {
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
  ])("counts reasoning tokens that are %s", (_, counts, reasoning, expected) => {
    for (const stated of [
      { ...counts, completion_tokens_details: { reasoning_tokens: reasoning } },
      { ...counts, reasoning_tokens: reasoning },
    ]) {
      const { events } = run(counted(stated));
      expect(events).toContainEqual({ type: "usage", usage: { ...expected, reasoning } });
    }
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
    ["[DONE] alone", DONE],
    ["[DONE] after an empty answer", chunk({ role: "assistant" }) + DONE],
    ["[DONE] within a call", call({ index: 0, id: "a", function: { name: "f", arguments: '{"a":' } }) + DONE],
  ])("calls an answer cut that consists of %s", (_what, text) => {
    expect(run(text).failure).toBe("cut");
  });
});

it("reads the stop sequence that vLLM and SGLang name, but no token number", () => {
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
