import { describe, expect, it } from "vitest";
import { stream } from "./fake.ts";
import { begin, block, call, delta, end, finish, input, run, START, STOP, text } from "./stream.ts";

const FIRST = "toolu_01T1x1fJ34qAmk2tNTrN7Up6";
const SECOND = "toolu_01D7FLrfh4GYq7yT1ULFeyMV";
const SAID = text(0, "x");

/** What only this protocol has. What every decoder must do is tested in `../decoders.test.ts`. */
describe("decoding a streamed message", () => {
  it("ends a call without input if text follows, although the message was cut", () => {
    const { events } = run(START, call(0) + end(0) + SAID, finish("max_tokens"), STOP);
    expect(events).toContainEqual({ type: "tool-call-end", index: 0 });
  });

  it("reads events whose type is only in the data", () => {
    const unnamed = stream("tools").replaceAll(/^event: .*\n/gm, "");
    expect(run(unnamed)).toEqual(run(stream("tools")));
  });

  it("ignores blocks of tools that the server runs itself", () => {
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
    const use = { type: "tool_use", id: FIRST, name: "get", input: { x: 1 } };
    const calls = [
      { type: "tool-call", index: 0, id: FIRST, name: "get" },
      { type: "tool-arguments", index: 0, delta: '{"x":1}' },
      { type: "tool-call-end", index: 0 },
    ];
    const started = { type: "start", messageId: "m1" };
    const last = { type: "finish", reason: "tool_calls" };
    const begun = begin({ content: [{ type: "text", text: "I look. " }, use] });
    expect(run(begun, finish("tool_use"), STOP).events).toEqual([
      started,
      { type: "text", text: "I look. " },
      ...calls,
      last,
    ]);
    // A server may stream the call once more.
    const again = block(0, { ...use, input: {} }) + delta(0, { partial_json: '{"x":1}' }) + end(0);
    expect(run(begin({ content: [use] }), again, finish("tool_use"), STOP).events).toEqual([
      started,
      ...calls,
      last,
    ]);
    const empty = begin({ content: [{ ...use, input: {} }] });
    expect(run(empty, finish("tool_use"), STOP).events).toContainEqual({
      type: "tool-arguments",
      index: 0,
      delta: "{}",
    });
    for (const content of [[], null, "x", [null, { type: "text", text: "" }]]) {
      expect(run(begin({ content }), SAID, finish("end_turn"), STOP).events).toEqual([
        started,
        { type: "text", text: "x" },
        { type: "finish", reason: "stop" },
      ]);
    }
  });

  describe("a message that begins again", () => {
    const use = (id: string) => call(0, id);
    const rest = use(SECOND) + input(0, '{"x":2}') + end(0) + finish("tool_use") + STOP;

    it.each([
      ["a call", use(FIRST) + input(0, '{"x":')],
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
      ["within a call whose input is complete", use(FIRST) + input(0, '{"x":1}')],
      ["behind a call without input", use(FIRST) + end(0)],
    ])("continues after %s", (_, before) => {
      const { events, failure } = run(START, before, START, rest);
      expect(failure).toBeNull();
      const begun = events.filter(({ type }) => type === "tool-call").length;
      expect(events.filter(({ type }) => type === "tool-call-end")).toHaveLength(begun);
      expect(events.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
    });
  });
});
