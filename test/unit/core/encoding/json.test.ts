import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseObject, parseObjectExactly } from "../../../../src/core/encoding/json.ts";

describe("a JSON object that is printed again", () => {
  it.each([
    '{"id":1234567890123456789}',
    '{"a":1.0,"b":[1e5,-0,0.10],"c":{"d":1E+2,"e":12345678901234567890.5}}',
    '{"text":"1.0 and 1234567890123456789","n":7}',
    '{"__proto__":1.0}',
  ])("keeps its numbers: %s", (text) => {
    expect(JSON.stringify(parseObjectExactly(text))).toBe(text);
  });

  it("has null for a number that is too large", () => {
    expect(JSON.stringify(parseObjectExactly('{"huge":1e999,"one":1.0}'))).toBe('{"huge":null,"one":1.0}');
  });

  it("is the same as any other for all else", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(JSON.stringify(parseObjectExactly(text)))).toEqual(
          JSON.parse(JSON.stringify(parseObject(text))),
        );
      }),
    );
  });

  it.each(["", "7", "[1.0]", '{"a":1.0', "null"])("is empty for %j", (text) => {
    expect(parseObjectExactly(text)).toEqual({});
  });
});
