import { describe, expect, it } from "vitest";
import { isUnambiguousJson } from "../../../../src/core/encoding/json-exactness.ts";

describe("a JSON text that all parsers read alike", () => {
  it.each([
    '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}',
    '{"a":"a","b" : "a:","c":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":[],"b":{},"c":-0.5e3}',
    '["a","a",{"x":"y"}]',
    '"a"',
  ])("%s", (text) => {
    expect(isUnambiguousJson(text)).toBe(true);
  });

  it.each([
    ["a member twice", '{"a":1,"a":1}'],
    ["a member twice, once with an escape", '{"a":1,"\\u0061":2}'],
    ["a member twice behind an object", '{"a":{"b":1} , "c":[{}], "a" :2}'],
    ["a member twice in an object of a list", '[{"a":1},{"a":1,"b":2,"a":3}]'],
    ["a member twice that objects inherit", '{"__proto__":1,"__proto__":2}'],
    ["a number with more digits than are kept", '{"a":0.12345678901234567890}'],
  ])("is not one with %s", (_, text) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(isUnambiguousJson(text)).toBe(false);
  });
});
