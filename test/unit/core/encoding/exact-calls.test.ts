import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonWithCalls } from "../../../../src/core/encoding/exact-calls.ts";

const LONG = "1234567890123456789";

describe("JSON with calls of functions", () => {
  it.each([
    `{"type":"tool_use","input":{"id":${LONG}}}`,
    `[{"function":{"name":"f","arguments":{"list":[${LONG},{"one":1.0}]}}}]`,
    `[{"functionCall":{"name":"f","args":{"id":-${LONG}}}},{"functionResponse":{"name":"f","response":{"id":${LONG}}}}]`,
    `{"type":"mcp_tool_use","input":{"text":"say \\"input\\":{","id":${LONG}},"name":"f","args":{"args":{"id":${LONG}}}}`,
  ])("keeps the numbers in their arguments and results: %s", (text) => {
    expect(JSON.stringify(parseJsonWithCalls(text))).toBe(text);
  });

  it.each([
    `{"max_tokens":${LONG},"input":[${LONG}],"name":"f","args":${LONG},"response":{"usage":${LONG}}}`,
    `{"__proto__":{"id":${LONG}},"text":"\\"input\\":{${LONG}}","deep":[[{"seed":0.${LONG}}]]}`,
    `{"say \\"input":{"id":${LONG}}}`,
    `{"properties":{"input":{"type":"integer","maximum":${LONG}},"name":{},"args":{"const":${LONG}}}}`,
    `{"type":{"toString":1},"input":{"id":${LONG}}}`,
    LONG,
  ])("is the same as any other elsewhere: %s", (text) => {
    expect(parseJsonWithCalls(text)).toEqual(JSON.parse(text));
  });

  it("rounds old calls beyond a number of characters, not late ones", () => {
    const call = (id: string) => ({ type: "tool_use", input: { id: JSON.rawJSON(id) } });
    const large = { type: "tool_use", input: { id: JSON.rawJSON(LONG), text: "x".repeat(262_064) } };
    const text = JSON.stringify([call("1234567890123456781"), large, call("1234567890123456783")]);
    const [first, , last] = Object(parseJsonWithCalls(text));
    expect(first).toEqual({ type: "tool_use", input: { id: 1234567890123456800 } });
    expect(JSON.stringify(last)).toContain("1234567890123456783");
  });

  it("may be nested deeper than functions", () => {
    const depth = 200_000;
    const text = `{"deep":${"[".repeat(depth)}{"type":"tool_use","input":{"id":${LONG}}}${"]".repeat(depth)}}`;
    expect(() => parseJsonWithCalls(text)).not.toThrow();
  });

  it("is anything that is JSON, and nothing else", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const text = `{"any":${json},"name":"f","args":{"id":${LONG},"any":${json}}}`;
        expect(JSON.parse(JSON.stringify(parseJsonWithCalls(text)))).toEqual(
          JSON.parse(JSON.stringify(JSON.parse(text))),
        );
      }),
    );
    expect(() => parseJsonWithCalls(`{"args":{"id":${LONG}`)).toThrow(SyntaxError);
  });
});
