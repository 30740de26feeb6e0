import { describe, expect, it } from "vitest";
import { decodeWholeResponse } from "../../../../../src/gateway/providers/openai-responses/decoder.ts";
import type { Outcome } from "../support.ts";
import { stream } from "./fake.ts";
import { added, CREATED, call, completed, context, done, event, run, runWhole, text } from "./stream.ts";

/** What only this protocol has. What every decoder must do is tested in `../decoders.test.ts`. */
describe("decoding a streamed response", () => {
  it("keeps open thoughts, and no sealed ones without content", () => {
    const open = {
      type: "reasoning",
      id: "rs",
      summary: [],
      content: [{ type: "reasoning_text", text: "hm" }],
    };
    const kept = { type: "reasoning", id: "rs_2", summary: [], encrypted_content: null };
    const { remembered, events } = run(
      CREATED,
      added(0, { ...open, content: [] }),
      event("response.reasoning_text.delta", { output_index: 0, content_index: 0, delta: "hm" }),
      done(0, { ...open, status: "completed" }),
      done(1, kept),
      done(2, call("c", "{}")),
      completed(),
    );
    expect(remembered).toEqual({ c: [open] });
    expect(events).toContainEqual({ type: "reasoning", text: "hm" });
  });

  it("reads a refusal separately from text", () => {
    expect(run(stream("refusal")).events.slice(1, 3)).toEqual([
      { type: "refusal", text: "I cannot " },
      { type: "refusal", text: "help with that." },
    ]);
  });

  it("reads open thoughts and a refusal in a whole answer", () => {
    const output = [
      { type: "reasoning", id: "rs", summary: [], content: [{ type: "reasoning_text", text: "hm" }] },
      { type: "message", content: [{ type: "refusal", refusal: "No." }] },
    ];
    expect(runWhole({ status: "completed", output }).events.slice(1)).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "refusal", text: "No." },
      { type: "finish", reason: "stop" },
    ]);
  });

  it("separates the texts of messages, not those of the parts of one", () => {
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
      begun(0, "message") + text(0, "I look ") + text(0, "at the links.", 1) + done(0, messages[0] ?? {}),
      begun(1, "web_search_call") + done(1, { type: "web_search_call" }),
      begun(2, "message") + text(2, "Here are two.") + done(2, messages[2] ?? {}),
      completed(),
    );
    expect(streamed.events.slice(1, -1)).toEqual(expected);
    const whole = decodeWholeResponse({ status: "completed", output: messages }, context());
    expect(whole.slice(1, -1)).toEqual(expected);
  });

  it("counts calls of the backend's own tools in a whole answer", () => {
    const output = [
      { type: "web_search_call", action: { type: "search", query: "a" } },
      { type: "web_search_call" },
      { type: "web_search_call", action: { type: "open_page", url: "https://a.example" } },
      { type: "web_search_call", action: { type: "find_in_page", pattern: "x" } },
    ];
    const usage = { input_tokens: 9, output_tokens: 3 };
    expect(runWhole({ status: "completed", output, usage }).events).toContainEqual({
      type: "usage",
      usage: { prompt: 9, completion: 3, webSearches: 2, webFetches: 1 },
    });
  });

  it("reads items without event names, without deltas, or all at the end", () => {
    const expected = run(stream("tools"));
    expect(run(stream("tools").replaceAll(/^event: .*\n/gm, ""))).toEqual(expected);
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
  });
});
