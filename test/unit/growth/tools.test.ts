import { describe, expect, it, vi } from "vitest";
import { ToolScanner } from "../../../src/gateway/tools/tool-scanner.ts";
import { DEGENERATE, pieces } from "../../support/degenerate.ts";
import { growthOf, MAX_GROWTH } from "../../support/growth.ts";
import { TYPED } from "../gateway/tools/support.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const open = '<tool_calls><invoke name="write"><parameter name="';
const HEADS: readonly (readonly [string, string])[] = [
  ["in text", ""],
  ["in a string", `${open}content">`],
  ["in a value of any type", `${open}other">`],
  ["in CDATA of any type", `${open}other"><![CDATA[`],
  ["in a JSON body", '<tool_calls><invoke name="now">{"a":"'],
  ["in an invoke without a wrapper", '<invoke name="write"><parameter name="other"><![CDATA['],
];

describe.each(HEADS)("the tool scanner, %s", (_where, head) => {
  it.each(DEGENERATE)("%s", async (_name, text) => {
    const growth = await growthOf((n) => {
      const units = pieces(text(n), 1);
      return () => {
        const scanner = new ToolScanner({ tools: TYPED });
        scanner.push(head);
        for (const unit of units) scanner.push(unit);
        return scanner.finish();
      };
    });
    expect(growth).toBeLessThan(MAX_GROWTH);
  });
});

const call =
  '<|TCML|tool_calls><|TCML|invoke name="write"><|TCML|parameter name="content">x</|TCML|parameter></|TCML|invoke></|TCML|tool_calls>';
const value = '<tool_calls><invoke name="run"><parameter name="q">';
const of =
  (unit: string, head = "", tail = "") =>
  (length: number): string =>
    head + unit.repeat(Math.ceil(length / unit.length)) + tail;
const TEXTS: readonly (readonly [string, (length: number) => string])[] = [
  ["plain text", of("The quick brown fox.\n")],
  ["text with tags and code", of("Some <b>text</b> `code`.\n")],
  ["possible tags", of("<tool_call ")],
  ["orphan invokes", of('<invoke name="a"><parameter name="b">')],
  ["an orphan with a long body", of("a ", '<invoke name="a"><parameter name="b">')],
  ["calls within a pending span", of(`a ${call} b`, "` ")],
  ["a long literal", of("[1,", value)],
  ["a long number", of("12", value)],
  ["a long string", of("a < b & c ] ", value)],
  ["CDATA that never ends", of("</parameter> ]] ", `${value}<![CDATA[`)],
  ["parameters with CDATA that never ends", of('<parameter name="q"><![CDATA[x</parameter>', value)],
  [
    "CDATA that never ends before one that does",
    of('<parameter name="q"><![CDATA[x</parameter>', value, '<parameter name="q"><![CDATA[x]]></parameter>'),
  ],
  [
    "every other CDATA never ends",
    of('<parameter name="q"><![CDATA[x</parameter><parameter name="q"><![CDATA[x]]></parameter>', value),
  ],
  ["fences in CDATA", of("```\n]]></parameter>\n", `${value}<![CDATA[`)],
  ["end tags in a body", of("</invoke> ", value)],
  ["white space in a call", of(" ", "<tool_calls><invoke name='run'>")],
  ["white space after an end tag", of(" ", `${value}x</invoke>`)],
  ["white space after CDATA", of(" ", `${value}<![CDATA[x]]>`)],
  ["JSON bodies", of("{} </invoke>", "<tool_calls><invoke name='run'>{")],
  ["quotes", of("> ")],
  ["blank lines in lists", (length) => "- ".repeat(length / 4) + "\n".repeat(length / 2)],
  ["garbage in a call", of("<x>", `${value}1</parameter>`)],
];

describe.each([
  ["unit by unit", 1],
  ["in one piece", Number.MAX_SAFE_INTEGER],
] as const)("the tool scanner, %s", (_how, size) => {
  it.each(TEXTS)("%s", async (_name, text) => {
    const growth = await growthOf((n) => {
      const units = pieces(text(n), size);
      return () => {
        const scanner = new ToolScanner({ tools: TYPED });
        for (const unit of units) scanner.push(unit);
        return scanner.finish();
      };
    });
    expect(growth).toBeLessThan(MAX_GROWTH);
  });
});

it.each(DEGENERATE)("the tool scanner, with a whole answer at hand: %s", async (_name, text) => {
  for (const head of ["", `${open}other"><![CDATA[`]) {
    const growth = await growthOf((n) => {
      const input = head + text(n);
      return () => {
        const scanner = new ToolScanner({ tools: TYPED, whole: true });
        scanner.push(input);
        return scanner.finish();
      };
    });
    expect(growth).toBeLessThan(MAX_GROWTH);
  }
});
