import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hasMemberAt,
  hasMemberInText,
  removeMemberFromText,
  withoutMemberAt,
} from "../../../../src/core/encoding/member-path.ts";

const object = fc.dictionary(fc.constantFrom("a", "b", "c", "A", "b_"), fc.jsonValue({ maxDepth: 4 }), {
  noNullPrototype: true,
});
const path = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 });

describe("members by path", () => {
  it("are also found within lists", () => {
    const value = { tools: [{ name: "f", strict: true }, { name: "g" }], strict: true };
    expect(hasMemberAt(value, ["tools", "strict"])).toBe(true);
    expect(withoutMemberAt(value, ["tools", "strict"])).toEqual({
      tools: [{ name: "f" }, { name: "g" }],
      strict: true,
    });
    expect(value.tools[0]).toHaveProperty("strict");
  });

  it("keeps the bytes of other members of a text", () => {
    const text = '{ "n": 1.0, "tools" :[{"strict":true, "v":1}] , "last":[ ]}';
    expect(removeMemberFromText(text, ["tools", "strict"])).toBe(
      '{ "n": 1.0, "tools" :[{"v":1}] , "last":[ ]}',
    );
    expect(removeMemberFromText(text, ["tools", "other"])).toBe(text);
  });

  it("are removed from a text that states them twice", () => {
    const text = '{"tools":[{"strict":true}],"n":1,"tools":[{"v":1}]}';
    expect(hasMemberInText(text, ["tools", "strict"])).toBe(true);
    expect(removeMemberFromText(text, ["tools", "strict"])).toBe('{"tools":[{}],"n":1,"tools":[{"v":1}]}');
    expect(removeMemberFromText('{"user":"a","n":1,"user":"b"}', ["user"])).toBe('{"n":1}');
  });

  // Readers take the first or the last of equal names, and some ignore case or underscores.
  it.each([
    ['{"tools":[{"strict":true,"strict":1,"v":1}]}', ["tools", "strict"], '{"tools":[{"v":1}]}'],
    ['{"a":{"b":{"x":1},"b":{}}}', ["a", "b", "x"], '{"a":{"b":{}}}'],
    ['{"a":[[{"b":{"x":1},"b":2}]]}', ["a", "b", "x"], '{"a":[[{"b":2}]]}'],
    ['{"Tools":[{"STRICT":true}],"n":1}', ["tools", "strict"], '{"Tools":[{}],"n":1}'],
    ['{"n":1,"SEED":1,"ſeed":3,"\\u0073eed":2}', ["seed"], '{"n":1}'],
    ['{"generation_config":{"top_k":1}}', ["generationConfig", "topK"], '{"generation_config":{}}'],
  ])("are removed in every spelling: %s", (text, members, rest) => {
    expect(hasMemberInText(text, members)).toBe(true);
    expect(removeMemberFromText(text, members)).toBe(rest);
    expect(hasMemberAt(JSON.parse(rest), members)).toBe(false);
    expect(hasMemberAt(withoutMemberAt(JSON.parse(text), members), members)).toBe(false);
  });

  it("are removed from a value as from its text", () => {
    fc.assert(
      fc.property(object, path, (value, members) => {
        const without = withoutMemberAt(value, members);
        expect(hasMemberAt(without, members)).toBe(false);
        const text = JSON.stringify(value);
        expect(hasMemberInText(text, members)).toBe(hasMemberAt(value, members));
        expect(JSON.parse(removeMemberFromText(text, members))).toEqual(JSON.parse(JSON.stringify(without)));
      }),
    );
  });
});
