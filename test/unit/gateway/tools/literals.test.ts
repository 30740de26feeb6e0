import { describe, expect, it } from "vitest";
import { parseArguments } from "../../../../src/gateway/tools/literals.ts";

describe("the arguments object that a JSON body stands for", () => {
  const none: ReadonlySet<string> = new Set();

  it("is what its only member holds, as it was written", () => {
    expect(parseArguments(' { "input" : {"a": 1.0} } ', none)).toBe('{"a": 1.0}');
    expect(parseArguments('{"input":{"a":1}}', new Set(["input"]))).toBe('{"input":{"a":1}}');
    expect(parseArguments('{"input":[1]}', none)).toBe('{"input":[1]}');
  });

  it("takes no longer to find behind much white space", () => {
    const inner = `{"a":1,${" ".repeat(300_000)}"b":{}}`;
    expect(parseArguments(`{"input":${inner}${" ".repeat(300_000)}}`, none)).toBe(inner);
  });
});
