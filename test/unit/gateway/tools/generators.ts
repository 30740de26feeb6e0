import fc from "fast-check";
import type { ToolDefinition } from "../../../../src/core/conversation/tool.ts";
import type { Found } from "./support.ts";

/** Random calls, written with random drift, and random Markdown that holds no call. */

interface Parameter {
  name: string;
  /** The body as written and the JSON that it stands for. */
  body: string;
  json: string;
}

/** A tool whose parameters `s0`… are declared strings, while `u0`… are not declared. */
export const GENERATED: readonly ToolDefinition[] = [
  {
    name: "act",
    parameters: {
      type: "object",
      properties: Object.fromEntries([0, 1, 2].map((index) => [`s${index}`, { type: "string" }])),
    },
  },
];

const shells = fc.constantFrom(
  ...[
    "",
    "|TCML|",
    "｜TCML｜",
    "TCML",
    "tcml_",
    "tcml-",
    "TCML|TCML|",
    "|TCML ",
    "、TCML、",
    "！TCML！",
    "T|TCML|",
  ],
  ...["proto💥", "TCML\u2402", "ＴＣＭＬ|", "|\u200bTCML|", "TCML▁", "|"],
);
const brackets = fc.constantFrom(
  ["<", ">"],
  ["＜", "＞"],
  ["〈", "〉"],
  ["<", "＞"],
  ["<", "|>"],
  ["<", " >"],
);
const quotes = fc.constantFrom(["“", "”"], ['"', '"'], ["'", "'"], ["＂", "＂"]);
const space = fc.constantFrom("", "\n", "  ", "\n    ");
const letters: Record<string, readonly string[]> = {
  o: ["o", "O", "о", "ο", "ｏ"],
  a: ["a", "A", "а", "ａ"],
  e: ["e", "E", "е"],
  _: ["_", "＿"],
  i: ["i", "і"],
  l: ["l", "L", "l\u200b"],
};

interface Drift {
  shell: string;
  bracket: readonly string[];
  quote: readonly string[];
  picks: number[];
  space: string;
}
const drift: fc.Arbitrary<Drift> = fc.record({
  shell: shells,
  bracket: brackets,
  quote: quotes,
  picks: fc.array(fc.nat(20), { minLength: 4, maxLength: 4 }),
  space,
});

function drifted(local: string, picks: readonly number[]): string {
  return [...local]
    .map((char, index) => {
      const forms = letters[char] ?? [char];
      const pick = picks[index % picks.length] ?? 0;
      return forms[pick % forms.length] ?? char;
    })
    .join("");
}

function tag(
  local: string,
  close: boolean,
  name: string | undefined,
  { shell, bracket, quote, picks }: Drift,
): string {
  const [open = "<", end = ">"] = bracket;
  const [left = '"', right = '"'] = quote;
  const attributes = name === undefined ? "" : ` name=${left}${name}${right}`;
  return `${open}${close ? "/" : ""}${shell}${drifted(local, picks)}${attributes}${end}`;
}

const prose = fc.string({
  unit: fc.constantFrom(..."abc xyz.,<>&/|\"'`~]![{}1\n\t 〈＜é👍-#*\\".split("")),
  maxLength: 60,
});

/** Text in CDATA that neither ends it early nor opens a fence, as a declared string. */
const quotedText = prose
  .filter((text) => text.trim() !== "" && !/[`~]{3}|[\]］】]$/.test(text) && !/\]\]/.test(text))
  .map((text) => ({ body: `<![CDATA[${text}]]>`, json: JSON.stringify(text) }));
const escapedText = prose
  .map((text) => text.trim())
  .map((text) => ({
    body: text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll("＜", "&#xff1c;")
      .replaceAll("〈", "&#12296;"),
    json: JSON.stringify(text),
  }));
const jsonValue = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => typeof value !== "string")
  .map((value) => JSON.stringify(value))
  .filter((json) => !/[`~]{3}/.test(json))
  .map((json) => ({
    body: /[<&＜〈\]]/.test(json) ? `<![CDATA[${json.replaceAll("]]>", "]]\\u003e")}]]>` : json,
    json: json.replaceAll("]]>", "]]\\u003e"),
  }));

const parameters: fc.Arbitrary<Parameter[]> = fc
  .tuple(fc.array(fc.oneof(quotedText, escapedText), { maxLength: 3 }), fc.array(jsonValue, { maxLength: 2 }))
  .map(([strings, values]) => [
    ...strings.map((one, index) => ({ name: `s${index}`, ...one })),
    ...values.map((one, index) => ({ name: `u${index}`, ...one })),
  ]);

export interface Generated {
  text: string;
  shown: string;
  calls: Found[];
}

/** Calls with random drift in every tag, between prose that holds no markup. */
export const generatedCalls: fc.Arbitrary<Generated> = fc
  .record({
    before: fc.constantFrom("", "Let me look.\n", "a ` b\n\n", "> x\n\n", "`code` and "),
    after: fc.constantFrom("", "\n", " done", "\n\n`x` <b>"),
    calls: fc.array(fc.tuple(parameters, drift), { minLength: 1, maxLength: 3 }),
    outer: drift,
    orphan: fc.boolean(),
  })
  .map(({ before, after, calls, outer, orphan }) => {
    const body = calls.map(([list, style]) => {
      const inner = list.map((one) => {
        const opening = tag("parameter", false, one.name, style);
        return `${opening}${one.body}${tag("parameter", true, undefined, style)}${style.space}`;
      });
      return `${tag("invoke", false, "act", style)}${style.space}${inner.join("")}${tag("invoke", true, undefined, style)}${style.space}`;
    });
    const opening = orphan ? "" : tag("tool_calls", false, undefined, outer) + outer.space;
    const closing = tag("tool_calls", true, undefined, outer);
    return {
      text: `${before}${opening}${body.join("")}${closing}${after}`,
      shown: before + after,
      calls: calls.map(([list]) => ({
        name: "act",
        arguments: list.length === 0 ? "{}" : `{${list.map((one) => `"${one.name}":${one.json}`).join(",")}}`,
      })),
    };
  });

/** Markdown full of things that look like calls and are none. */
export const plainMarkdown: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      ...[
        "<",
        "<<",
        "</",
        ">",
        "〈",
        "＜",
        "|",
        "TCML",
        "<|TCML|",
        "tool_calls",
        "<tool_calls",
        "<tool_call>",
        "<tool_calls>x",
      ],
      ...[
        "<invoke",
        " name=",
        '"x"',
        "<parameter",
        '<parameter name="a">',
        "</parameter>",
        "</invoke>",
        "<![CDATA[",
        "]]>",
      ],
      ...[
        "`",
        "``",
        "```",
        "```xml\n",
        "~~~",
        "\n",
        "\n\n",
        "- ",
        "> ",
        "1. ",
        "    ",
        "# ",
        "\\",
        "\r\n",
        " ",
        "a",
        "é",
        "👍",
        "2 < 3",
      ],
      ...[
        "<function_calls>",
        "<tools>",
        '{"tool_calls":[]}',
        "<tool-calls>",
        "</tool_calls> ",
        "<b>bold</b>",
        "&lt;",
      ],
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""))
  .filter((text) => !/invoke\s+name="x"/.test(text));

const MARKERS = /<[^<>]*>|\]\]>|<!\[CDATA\[/g;

/** A text with one marker removed or doubled, or cut short. */
export function mutate(text: string, kind: number, place: number): string {
  const marks = [...text.matchAll(MARKERS)];
  const mark = marks[Math.floor(place * marks.length)];
  const at = mark?.index ?? Math.floor(place * text.length);
  const length = mark?.[0].length ?? 1;
  if (kind === 0) return text.slice(0, Math.floor(place * text.length));
  if (kind === 1) return text.slice(0, at) + text.slice(at + length);
  if (kind === 2) return text.slice(0, at + length) + text.slice(at);
  return text.slice(0, at + Math.floor(length / 2)) + text.slice(at + length);
}
