import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonWithCalls } from "../../../../src/core/encoding/exact-calls.ts";

const LONG = "1234567890123456789";

describe("JSON with calls of functions", () => {
  it.each([
    `{"input":{"id":${LONG}}}`,
    `[{"function":{"arguments":{"list":[${LONG},{"one":1.0}]}}}]`,
    `[{"functionCall":{"args":{"id":-${LONG}}}},{"functionResponse":{"response":{"id":${LONG}}}}]`,
    `{"input":{"text":"say \\"input\\":{","id":${LONG}},"args":{"args":{"id":${LONG}}}}`,
  ])("keeps the numbers in their arguments and results: %s", (text) => {
    expect(JSON.stringify(parseJsonWithCalls(text))).toBe(text);
  });

  it.each([
    `{"max_tokens":${LONG},"input":[${LONG}],"args":${LONG},"response":{"usage":${LONG}}}`,
    `{"__proto__":{"id":${LONG}},"text":"\\"input\\":{${LONG}}","deep":[[{"seed":0.${LONG}}]]}`,
    `{"say \\"input":{"id":${LONG}}}`,
    LONG,
  ])("is the same as any other elsewhere: %s", (text) => {
    expect(parseJsonWithCalls(text)).toEqual(JSON.parse(text));
  });

  it("may be nested deeper than functions", () => {
    const depth = 200_000;
    const text = `{"deep":${"[".repeat(depth)}{"input":{"id":${LONG}}}${"]".repeat(depth)}}`;
    expect(() => parseJsonWithCalls(text)).not.toThrow();
  });

  it("is anything that is JSON, and nothing else", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const text = `{"any":${json},"args":{"id":${LONG},"any":${json}}}`;
        expect(JSON.parse(JSON.stringify(parseJsonWithCalls(text)))).toEqual(
          JSON.parse(JSON.stringify(JSON.parse(text))),
        );
      }),
    );
    expect(() => parseJsonWithCalls(`{"args":{"id":${LONG}`)).toThrow(SyntaxError);
  });
});
