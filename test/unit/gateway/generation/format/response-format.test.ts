import { describe, expect, it } from "vitest";
import { checkFormat } from "../../../../../src/gateway/generation/format/format-check.ts";

const schema = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name"],
  additionalProperties: false,
};
const under = (text: string, given: Record<string, unknown> = schema) =>
  checkFormat(text, { type: "json-schema", schema: given });
const json = (text: string) => checkFormat(text, { type: "json" });

describe("an answer in JSON", () => {
  it.each([
    ["plain", '{"a":1}'],
    ["with space around", '\n {"a":1} \n'],
    ["in a fence", '```json\n{"a":1}\n```'],
    ["in a fence without a language", '```\n{"a":1}\n```\n'],
    ["in a fence with words around", 'Here it is:\n\n```json\r\n{"a":1}\r\n```\nAnything else?'],
    ["in a fence that is never closed", '```json\n{"a":1}'],
    ["after words", 'The answer is {"a":1}.'],
  ])("is found: %s", (_name, text) => {
    expect(json(text)).toEqual({ rank: "valid", text: '{"a":1}', faults: [] });
  });

  it("keeps code fences within it", () => {
    const text = '{"code":"```js\\n1\\n```"}';
    expect(json(`\`\`\`json\n${text}\n\`\`\``)).toMatchObject({ rank: "valid", text });
    expect(json(text)).toMatchObject({ rank: "valid", text });
  });

  it("may be an array, but not a bare word or number", () => {
    expect(json("[1, 2]").rank).toBe("valid");
    expect(json("42")).toMatchObject({ rank: "json", faults: [expect.any(String)] });
  });

  it.each(["", "no", '{"a":', "{a: 1}", "```json\nno\n```"])("is unchanged if it is no JSON: %j", (text) => {
    expect(json(text)).toMatchObject({ rank: "none", text, faults: [expect.stringContaining("not JSON")] });
  });
});

describe("an answer under a schema", () => {
  it("is valid, or its error is reported with its place", () => {
    expect(under('{"name":"Ada","age":36}')).toMatchObject({ rank: "valid", faults: [] });
    const { rank, faults } = under('{"age":"old","shoe":5}');
    expect(rank).toBe("json");
    expect(faults.join("\n")).toMatch(/name/);
    expect(faults.join("\n")).toMatch(/\/age: .*integer/);
    expect(faults.join("\n")).toMatch(/shoe/);
  });

  it("is the first valid JSON, not the first JSON", () => {
    expect(under('[1] is not it, ```\n{"name":"Ada"}\n```')).toMatchObject({
      rank: "valid",
      text: '{"name":"Ada"}',
    });
  });

  it("follows references, also recursive ones", () => {
    const tree = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: {
            value: { type: "number" },
            children: { type: "array", items: { $ref: "#/$defs/node" } },
          },
          required: ["value"],
        },
      },
    };
    expect(under('{"value":1,"children":[{"value":2}]}', tree).rank).toBe("valid");
    expect(under('{"value":1,"children":[{"value":"2"}]}', tree).rank).toBe("json");
  });

  it("is accepted if the schema cannot be applied", () => {
    expect(under('{"a":1}', { $ref: "#/nowhere" }).rank).toBe("valid");
    expect(under('{"a":1}', { $ref: "#" }).rank).toBe("valid");
  });

  it("never runs the caller's regular expressions", () => {
    const slow = { type: "string", pattern: "^(a+)+$" };
    const text = JSON.stringify({ x: `${"a".repeat(40)}!`, pattern: 1 });
    const properties = { x: slow, pattern: { type: "number" } };
    expect(under(text, { type: "object", properties, additionalProperties: false }).rank).toBe("valid");
    expect(
      under('{"x_1":1}', { type: "object", patternProperties: { "^x": {} }, additionalProperties: false })
        .rank,
    ).toBe("valid");
    expect(under(text, { type: "object", properties: { pattern: { type: "string" } } }).rank).toBe("json");
  });

  it("keeps values that look like schemas", () => {
    const given = { enum: [{ pattern: "x" }, { pattern: "y" }] };
    expect(under('{"pattern":"y"}', given).rank).toBe("valid");
    expect(under("{}", given).rank).toBe("json");
  });
});
