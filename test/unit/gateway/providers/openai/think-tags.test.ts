import { describe, expect, it } from "vitest";
import type { ProviderEvent } from "../../../../../src/gateway/providers/answers/provider-events.ts";
import {
  CompletionStreamDecoder,
  completionEvents,
} from "../../../../../src/gateway/providers/openai/decoder.ts";
import { decode, utf8 } from "../support.ts";
import { call, chunk, context, DONE, data, run } from "./stream.ts";

/** Engines without a reasoning parser leave the model's thoughts in the text, between tags. */

function joined(events: readonly ProviderEvent[]) {
  let text = "";
  let reasoning = "";
  for (const event of events) {
    if (event.type === "text") text += event.text;
    if (event.type === "reasoning") reasoning += event.text;
  }
  return { reasoning, text };
}

const streamed = (...pieces: readonly string[]) =>
  joined(run(...pieces.map((content) => chunk({ content })), chunk({}, "stop"), DONE).events);

const whole = (content: string) =>
  joined(
    completionEvents({ choices: [{ index: 0, message: { content }, finish_reason: "stop" }] }, context()),
  );

const CASES: readonly (readonly [content: string, reasoning: string, text: string])[] = [
  ["<think>I see.</think>Hello", "I see.", "Hello"],
  ["\n <think>\nI see.\n</think>\n\nHello\n", "I see.\n", "Hello\n"],
  ["<think>\n\n</think>\n\nHello", "", "Hello"],
  ["<think>a </thin or < b</think>c", "a </thin or < b", "c"],
  ["<think>a <think> b</think>c</think>", "a <think> b", "c</think>"],
  ["<think>not closed </thi", "not closed </thi", ""],
  ["<think>a</think>", "a", ""],
  ["<think>a</think>The tag <think>b</think>", "a", "The tag <think>b</think>"],
  ["The tag <think> begins thoughts.</think>", "", "The tag <think> begins thoughts.</think>"],
  ["<Think>I see.</Think>", "", "<Think>I see.</Think>"],
  ["<thinking>a</thinking>", "", "<thinking>a</thinking>"],
  [" \n<thin", "", " \n<thin"],
  ["  Hello", "", "  Hello"],
  ["</think>Hello", "", "</think>Hello"],
];

describe("reasoning between tags", () => {
  it.each(CASES)("is read from a whole answer: %j", (content, reasoning, text) => {
    expect(whole(content)).toEqual({ reasoning, text });
  });

  it.each(CASES)("is read from a stream in any split: %j", (content, reasoning, text) => {
    for (let first = 0; first <= content.length; first += 1) {
      for (let second = first; second <= content.length; second += 1) {
        const pieces = [content.slice(0, first), content.slice(first, second), content.slice(second)];
        expect(streamed(...pieces), JSON.stringify(pieces)).toEqual({ reasoning, text });
      }
    }
    expect(streamed(...content)).toEqual({ reasoning, text });
  });

  it("is sent without delay, and so is text", () => {
    const decoder = new CompletionStreamDecoder(context());
    const taken = (content: string) => joined(decoder.push(utf8(chunk({ content }))));
    expect(taken("<think>I see")).toEqual({ reasoning: "I see", text: "" });
    expect(taken(" it</")).toEqual({ reasoning: " it", text: "" });
    expect(taken("think>Hel")).toEqual({ reasoning: "", text: "Hel" });
    expect(taken("lo <th")).toEqual({ reasoning: "", text: "lo <th" });
  });

  it("is only recognized at the start of the answer", () => {
    const tagged = chunk({ content: "<think>a</think>b" });
    const end = chunk({}, "stop") + DONE;
    expect(joined(run(chunk({ reasoning_content: "Hm." }), tagged, end).events)).toEqual({
      reasoning: "Hm.",
      text: "<think>a</think>b",
    });
    const first = call({ index: 0, id: "a", type: "function", function: { name: "get", arguments: "{}" } });
    expect(joined(run(first, tagged, end).events).text).toBe("<think>a</think>b");
  });

  it("stays text for callers of a native answer", () => {
    const decoder = new CompletionStreamDecoder({ ...context(), keepsThinkTags: true });
    const { events } = decode(decoder, [utf8(chunk({ content: "<think>a</think>b" }, "stop") + DONE)]);
    expect(joined(events)).toEqual({ reasoning: "", text: "<think>a</think>b" });
  });

  it("does not count for tokens and citations of the text", () => {
    const token = (text: string) => ({ token: text, logprob: -1, bytes: null, top_logprobs: [] });
    const pieces = ["<think>", "Hm", "</think>", "\n", "See", " one"];
    const annotations = [
      { type: "url_citation", url_citation: { start_index: 22, end_index: 25, url: "https://one.example/" } },
    ];
    const content = pieces.join("");
    const logprobs = { content: pieces.map(token) };
    const message = { content, annotations };
    const choice = { index: 0, message, logprobs, finish_reason: "stop" };
    const chunks = pieces.map((text) =>
      data({ choices: [{ index: 0, delta: { content: text }, logprobs: { content: [token(text)] } }] }),
    );
    for (const events of [
      completionEvents({ choices: [choice] }, context()),
      run(...chunks, chunk({ annotations }, "stop"), DONE).events,
    ]) {
      const tokens = events.flatMap((event) => (event.type === "tokens" ? event.tokens : []));
      expect(tokens.map((item) => item.token)).toEqual(["See", " one"]);
      expect(events).toContainEqual(expect.objectContaining({ type: "citation", start: 4, end: 7 }));
    }
    const unclosed = ["<think>", "Hm", "</thi"].map((text) =>
      data({ choices: [{ index: 0, delta: { content: text }, logprobs: { content: [token(text)] } }] }),
    );
    const { events } = run(...unclosed, chunk({}, "stop"), DONE);
    expect(events.map(({ type }) => type)).not.toContain("tokens");
  });
});
