import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeclaredSchema } from "../../../../src/gateway/tools/declared-schema.ts";
import { convertToDeclaredTypes } from "../../../../src/gateway/tools/type-conversion.ts";
import { chunks, scanPieces, scanWhole } from "./support.ts";

const STRING = { type: "string" };
const list = (items: unknown) => ({ type: "array", items });
const object = (properties: object) => ({ type: "object", properties });
const fitted = (source: string, schema: unknown) =>
  convertToDeclaredTypes(source, DeclaredSchema.analyse(schema));

describe("a value that is declared to be a string", () => {
  it.each<[string, string, unknown, string]>([
    ["a number keeps its digits", '{"a": 1.0}', object({ a: STRING }), '{"a": "1.0"}'],
    ["a big integer", '{"a":123456789012345678901}', object({ a: STRING }), '{"a":"123456789012345678901"}'],
    ["true", '{"a":true}', object({ a: STRING }), '{"a":"true"}'],
    ["an object", '{"a":{"b": [1, "x"]}}', object({ a: STRING }), '{"a":"{\\"b\\": [1, \\"x\\"]}"}'],
    ["an array", '{"a":[1]}', object({ a: STRING }), '{"a":"[1]"}'],
    [
      "deep within",
      '{"e":[{"old":1},{"old":2}]}',
      object({ e: list(object({ old: STRING })) }),
      '{"e":[{"old":"1"},{"old":"2"}]}',
    ],
    ["items", "[1,true, null]", list(STRING), '["1","true", null]'],
    ["places", "[1,2,3]", { prefixItems: [STRING, { type: "integer" }], items: STRING }, '["1",2,"3"]'],
    ["places of old drafts", "[1,2]", { items: [STRING], additionalItems: true }, '["1",2]'],
    [
      "whatever it is called",
      '{"x":1,"a":2}',
      { additionalProperties: STRING, properties: { a: {} } },
      '{"x":"1","a":2}',
    ],
    [
      "or null",
      '{"a":1,"b":null}',
      object({ a: { type: ["string", "null"] }, b: { type: ["string", "null"] } }),
      '{"a":"1","b":null}',
    ],
    [
      "by reference",
      '{"a":1}',
      { ...object({ a: { $ref: "#/$defs/n~1a" } }), $defs: { "n/a": STRING } },
      '{"a":"1"}',
    ],
    [
      "by a reference with words",
      '{"a":1}',
      { ...object({ a: { $ref: "#/$defs/t", description: "x" } }), $defs: { t: STRING } },
      '{"a":"1"}',
    ],
    [
      "in any of several ways",
      '{"a":1}',
      object({ a: { anyOf: [{ ...STRING, format: "date" }, { const: "x" }, { enum: ["y"] }] } }),
      '{"a":"1"}',
    ],
    ["in all ways", '{"a":1}', object({ a: { allOf: [{ minLength: 1 }, STRING] } }), '{"a":"1"}'],
    ["in one of two objects", '{"a":1}', { anyOf: [object({ a: STRING }), { type: "null" }] }, '{"a":"1"}'],
    [
      "in a tree",
      '{"v":1,"kids":[{"v":2}]}',
      object({ v: STRING, kids: list({ $ref: "#" }) }),
      '{"v":"1","kids":[{"v":"2"}]}',
    ],
  ])("becomes the text of what it was: %s", (_name, source, schema, wanted) => {
    expect(fitted(source, schema)).toBe(wanted);
  });

  it.each<[string, string, unknown]>([
    ["a string", '{"a": "1"}', object({ a: STRING })],
    ["null", '{"a":null}', object({ a: STRING })],
    ["a number that may be one", '{"a":1}', object({ a: { type: ["string", "integer"] } })],
    ["a number in one of several", '{"a":1}', object({ a: { anyOf: [STRING, { type: "number" }] } })],
    [
      "a number in one of two objects",
      '{"a":1}',
      { oneOf: [object({ a: STRING }), object({ a: { type: "number" } })] },
    ],
    ["an object where anything may be", '{"a":{"b":1}}', object({ a: { anyOf: [STRING, {}] } })],
    ["a wrong value that is to be no string", '{"a":{}}', object({ a: { type: "number" } })],
    ["a value of unknown type", '{"a":1}', object({ a: { type: "text" } })],
    [
      "what matches a pattern",
      '{"a":1}',
      { patternProperties: { "^a$": { type: "number" } }, additionalProperties: STRING },
    ],
    ["a reference elsewhere", '{"a":1}', object({ a: { $ref: "https://example.com/x" } })],
    ["a circle", '{"a":1}', { ...object({ a: { $ref: "#/$defs/a" } }), $defs: { a: { $ref: "#/$defs/a" } } }],
    ["what is not declared", '{"z":1}', object({ a: STRING })],
  ])("is otherwise unchanged: %s", (_name, source, schema) => {
    expect(fitted(source, schema)).toBe(source);
  });

  it("is found with few steps in an exponentially growing schema", () => {
    let looks = 0;
    const part = {
      get $ref() {
        looks += 1;
        return "#/$defs/a";
      },
    };
    const schema = {
      ...object({ a: part }),
      $defs: { a: { anyOf: Array.from({ length: 50 }, () => part) } },
    };
    expect(fitted('{"a":1}', schema)).toBe('{"a":1}');
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThan(1_000);
  });

  it("keeps the shape of the JSON, and is unchanged without a declaration", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), (value, indent) => {
        const source = JSON.stringify(value, null, indent);
        expect(fitted(source, {})).toBe(source);
        const strings = {
          anyOf: [
            STRING,
            { type: "null" },
            list({ $ref: "#" }),
            { type: "object", additionalProperties: { $ref: "#" } },
          ],
        };
        const texts = JSON.stringify(value, (_name, inner: unknown) =>
          typeof inner === "number" || typeof inner === "boolean" ? String(inner) : inner,
        );
        const numbers = /e\+|e-/;
        if (!numbers.test(source)) expect(JSON.parse(fitted(source, strings))).toEqual(JSON.parse(texts));
        else JSON.parse(fitted(source, strings));
      }),
    );
  });
});

describe("the scanner", () => {
  const EDIT = {
    path: STRING,
    lines: list(STRING),
    edits: list(object({ old: STRING, at: { type: "integer" } })),
  };
  const tools = [
    {
      name: "edit",
      parameters: object({ ...EDIT, kind: { enum: ["1", "2"] }, label: { type: ["string", "null"] } }),
    },
  ];
  const markup = (body: string) => `<tool_calls><invoke name="edit">${body}</invoke></tool_calls>`;
  const parameter = (name: string, body: string) => `<parameter name="${name}">${body}</parameter>`;

  it.each([
    [
      "a JSON body",
      '{"path":5,"edits":[{"old":{"a":1},"at":7}]}',
      '{"path":"5","edits":[{"old":"{\\"a\\":1}","at":7}]}',
    ],
    ["a JSON body in a frame", '{"input":{"path":5}}', '{"path":"5"}'],
    ["a nested literal", parameter("edits", '[{"old":1.0,"at":7}]'), '{"edits":[{"old":"1.0","at":7}]}'],
    [
      "nested elements",
      parameter("edits", "<item><old>1</old><at>7</at></item>"),
      '{"edits":[{"old":"1","at":7}]}',
    ],
    ["a repeated parameter", parameter("lines", "1") + parameter("lines", "2"), '{"lines":["1","2"]}'],
    ["an enumeration of strings", parameter("kind", "1"), '{"kind":"1"}'],
    [
      "a string or null",
      parameter("label", "<![CDATA[ 5 ]]>") + parameter("path", "null"),
      '{"label":" 5 ","path":"null"}',
    ],
    ["a string or null that is null", parameter("label", "null"), '{"label":null}'],
  ])("writes strings where they are declared: %s", (_name, body, wanted) => {
    const text = markup(body);
    const found = { text: "", calls: [{ name: "edit", arguments: wanted }] };
    expect(scanWhole(text, tools)).toEqual(found);
    expect(scanPieces(chunks(text, 1), tools)).toEqual(found);
  });
});
