import { describe, expect, it, vi } from "vitest";
import { type ScanEvent, ToolScanner } from "../../../../src/gateway/tools/tool-scanner.ts";
import { findCalls } from "../../../support/find-calls.ts";
import { cases } from "./corpus.ts";
import { chunks, fold, LOOSE, scan, TYPED } from "./support.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const call = (body: string, name = "content"): string =>
  `<|TCML|tool_calls><|TCML|invoke name="write"><|TCML|parameter name="${name}">${body}</|TCML|parameter></|TCML|invoke></|TCML|tool_calls>`;

function fragments(events: readonly ScanEvent[]): string[] {
  return events.flatMap((event) => (event.type === "tool-arguments" ? [event.delta] : []));
}

describe("the time at which the scanner sends events", () => {
  it("announces a call as soon as its first parameter opens", () => {
    const scanner = new ToolScanner({ tools: TYPED });
    expect(scanner.push('Hi <|TCML|tool_calls>\n<|TCML|invoke name="write">\n')).toEqual([
      { type: "text", text: "Hi " },
    ]);
    expect(scanner.push('<|TCML|parameter name="content"')).toEqual([]);
    expect(scanner.push(">")).toEqual([{ type: "tool-call", index: 0, name: "write" }]);
    expect(scanner.push("a")).toEqual([{ type: "tool-arguments", index: 0, delta: '{"content":"a' }]);
    expect(scanner.push("b")).toEqual([{ type: "tool-arguments", index: 0, delta: "b" }]);
    expect(scanner.push("</|TCML|parameter>")).toEqual([{ type: "tool-arguments", index: 0, delta: '"' }]);
    expect(scanner.push("</|TCML|invoke>")).toEqual([
      { type: "tool-arguments", index: 0, delta: "}" },
      { type: "tool-call-end", index: 0 },
    ]);
    expect(scanner.push("</|TCML|tool_calls> bye")).toEqual([{ type: "text", text: " bye" }]);
    expect(scanner.finish()).toEqual([]);
  });

  it("announces a call without parameters at its end", () => {
    const scanner = new ToolScanner({ tools: TYPED });
    expect(scanner.push('<tool_calls><invoke name="now"></invoke')).toEqual([]);
    expect(scanner.push(">")).toEqual([
      { type: "tool-call", index: 0, name: "now" },
      { type: "tool-arguments", index: 0, delta: "{}" },
      { type: "tool-call-end", index: 0 },
    ]);
  });

  it.each([
    ["declared, in CDATA", TYPED, "content", "<![CDATA[", "]]>"],
    ["declared, bare", TYPED, "content", "", ""],
    ["not declared", LOOSE, "other", "<![CDATA[", "]]>"],
  ] as const)("sends a long string while it arrives: %s", (_name, tools, name, open, close) => {
    const value = Array.from({ length: 2000 }, (_, index) => `line ${index} <`)
      .join("\n")
      .slice(0, 20_000);
    const size = value.length / 200;
    const scanner = new ToolScanner({ tools });
    const [head = "", tail = ""] = call(`${open}\0${close}`, name).split("\0");
    const events = scanner.push(head);
    let first = -1;
    let at = 0;
    for (const piece of chunks(value, size)) {
      at += piece.length;
      const now = scanner.push(piece);
      if (first < 0 && fragments(now).length > 0) first = at;
      events.push(...now);
    }
    expect(fragments(events).length).toBeGreaterThanOrEqual(100);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(value.length * 0.05);
    events.push(...scanner.push(tail), ...scanner.finish());
    expect(JSON.parse(fold(events).calls[0]?.arguments ?? "")).toEqual({ [name]: value.trim() });
  });

  it("never splits a character over two events", () => {
    const text = `👍${call("<![CDATA[👍 a 👍]]>")}👍 🏽`;
    const scanner = new ToolScanner({ tools: TYPED });
    const events = [...chunks(text, 1)].flatMap((unit) => scanner.push(unit));
    events.push(...scanner.finish());
    for (const event of events) {
      const shown = event.type === "text" ? event.text : event.type === "tool-arguments" ? event.delta : "";
      expect(shown.isWellFormed()).toBe(true);
    }
    expect(fold(events).text).toBe("👍👍 🏽");
  });

  it("shows no part of a tag while a call arrives", () => {
    for (const one of cases) {
      const scanner = new ToolScanner({ tools: one.tools });
      let shown = "";
      for (const unit of chunks(one.input, 1)) {
        for (const event of scanner.push(unit)) if (event.type === "text") shown += event.text;
        expect(one.text.startsWith(shown)).toBe(true);
      }
    }
  });

  it("releases a broken JSON body at its closing wrapper", () => {
    const scanner = new ToolScanner({ tools: LOOSE });
    const text = '<tool_calls><invoke name="run">{"q":</invoke>\n</tool_calls>';
    expect(scanner.push(`${text} and on`)).toEqual([{ type: "text", text: `${text} and on` }]);
  });

  it("announces a call after an invoke that is only mentioned", () => {
    const scanner = new ToolScanner({ tools: LOOSE });
    const mention = 'Use <invoke name="a"><parameter name="b"> so. ';
    expect(scanner.push(`${mention}<tool_calls><invoke name="now"></invoke></tool_calls>`)).toEqual([
      { type: "text", text: mention },
      { type: "tool-call", index: 0, name: "now" },
      { type: "tool-arguments", index: 0, delta: "{}" },
      { type: "tool-call-end", index: 0 },
    ]);
  });

  it("delays at most 128 units of a text without calls", () => {
    const hostile = [
      "<".repeat(300),
      `<${"a".repeat(300)}`,
      `<${"a ".repeat(150)}`,
      `<|TCML|tool_calls${"|".repeat(300)}`,
      `<invoke name="${"x".repeat(300)}`,
      `<tool_calls>${" ".repeat(300)}x`,
      `<parameter ${"a='b' ".repeat(60)}`,
      "`".repeat(300),
      ...cases.filter((one) => one.calls.length === 0 && !/invoke/.test(one.input)).map((one) => one.input),
    ];
    for (const text of hostile) {
      const scanner = new ToolScanner({ tools: LOOSE });
      let shown = 0;
      let fed = 0;
      for (const unit of chunks(text, 1)) {
        fed += unit.length;
        for (const event of scanner.push(unit)) if (event.type === "text") shown += event.text.length;
        expect(fed - shown, text).toBeLessThanOrEqual(129);
      }
      expect(scan(text)).toEqual({ text, calls: [] });
    }
  });

  it("sends a repeated parameter as an array even if the first was already sent", () => {
    const long = "x".repeat(200);
    const text = `<tool_calls><invoke name="run"><parameter name="a">${long}</parameter><parameter name="b">1</parameter><parameter name="a">2</parameter></invoke></tool_calls>`;
    const streamed = scan(text).calls[0]?.arguments ?? "";
    expect(JSON.parse(streamed)).toEqual({ a: [long, 2], b: 1 });
    expect(findCalls(text, LOOSE).calls[0]?.arguments).toBe(`{"a":["${long}",2],"b":1}`);
  });
});

describe("the scanner's options", () => {
  it("finds nothing without tools", () => {
    const text = call("x");
    expect(scan(text, [])).toEqual({ text, calls: [] });
    expect(findCalls(text, [])).toEqual({ text, calls: [] });
  });

  it("counts from the first index", () => {
    const scanner = new ToolScanner({ tools: TYPED, firstIndex: 3 });
    const events = [...scanner.push(call("a") + call("b")), ...scanner.finish()];
    expect(fold(events, 3).calls).toHaveLength(2);
  });

  it("strips calls from reasoning and keeps its code state apart", () => {
    const reasoning = new ToolScanner({ tools: TYPED });
    const visible = new ToolScanner({ tools: TYPED });
    expect(fold([...reasoning.push("I think ```\n"), ...reasoning.finish()]).text).toBe("I think ```\n");
    expect(fold([...visible.push(call("a")), ...visible.finish()]).calls).toHaveLength(1);
    const other = new ToolScanner({ tools: TYPED });
    const found = fold([...other.push(`Let me write. ${call("a")} Done.`), ...other.finish()]);
    expect(found).toEqual({
      text: "Let me write.  Done.",
      calls: [{ name: "write", arguments: '{"content":"a"}' }],
    });
  });

  it("finds calls and the text around them in a whole text", () => {
    expect(findCalls(`a${call("b")}c`, TYPED)).toEqual({
      text: "ac",
      calls: [{ index: 0, name: "write", arguments: '{"content":"b"}' }],
    });
  });
});

describe("unusual input", () => {
  it("keeps a value that is nested too deeply for JSON as a string", () => {
    const deep = "[".repeat(200_000);
    expect(JSON.parse(scan(call(deep, "q")).calls[0]?.arguments ?? "")).toEqual({ q: deep });
    const elements = "<a>".repeat(5000) + "</a>".repeat(5000);
    expect(JSON.parse(scan(call(elements, "q")).calls[0]?.arguments ?? "")).toEqual({ q: elements });
  });

  it("passes on text and leaves the call incomplete after an internal failure", () => {
    const broken = {
      get type(): string {
        throw new Error("a schema that can not be read");
      },
    };
    const tools = [{ name: "write", parameters: { properties: { content: broken } } }];
    const scanner = new ToolScanner({ tools });
    const events = [...scanner.push(`a ${call("b")}`), ...scanner.push(" c"), ...scanner.finish()];
    const shown = events.map((event) => (event.type === "text" ? event.text : "")).join("");
    expect(shown).toMatch(/^a .* c$/);
    expect(events.filter(({ type }) => type !== "text")).toEqual([
      { type: "tool-call", index: 0, name: "write" },
    ]);
  });
});

it("reads ten thousand parameters whose CDATA is never closed", () => {
  const body = '<parameter name="q"><![CDATA[x</parameter>'.repeat(10_000);
  for (const end of ["", '<parameter name="q"><![CDATA[x]]></parameter>']) {
    const text = `<tool_calls><invoke name="run">${body}${end}</invoke></tool_calls>.`;
    const wanted = Array.from({ length: end === "" ? 10_000 : 10_001 }, () => "x");
    const { calls, text: rest } = findCalls(text, LOOSE);
    expect(JSON.parse(calls[0]?.arguments ?? "")).toEqual({ q: wanted });
    expect(rest).toBe(".");
  }
});
