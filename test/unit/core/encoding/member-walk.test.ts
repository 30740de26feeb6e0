import fc from "fast-check";
import { expect, test } from "vitest";
import { type VisitedMember, walkMembers } from "../../../../src/core/encoding/member-walk.ts";

function visited(text: string, skipped?: string): [string, number, string | undefined][] {
  const members: VisitedMember[] = [];
  walkMembers(text, (member) => {
    members.push(member);
    return member.name === skipped ? "skip" : "enter";
  });
  return members.map(({ name, depth, valueStart }) => [name, depth, text[valueStart]]);
}

test("all members are visited once, with their depth and the start of their value", () => {
  const text = '{"a": [1, {"b":"x,\\"c\\":1"}, [{"d" :null}]], "a":{"e":{}}, "f":true}';
  expect(visited(text)).toEqual([
    ["a", 0, "["],
    ["b", 2, '"'],
    ["d", 3, "n"],
    ["a", 0, "{"],
    ["e", 1, "{"],
    ["f", 0, "t"],
  ]);
  expect(visited(text, "a").map(([name]) => name)).toEqual(["a", "a", "f"]);
});

test("the walk ends when a visit stops it", () => {
  expect(walkMembers('{"a":1,"b":2}', ({ name }) => (name === "b" ? "stop" : "enter"))).toBe(true);
  expect(walkMembers('["a", 1]', () => "stop")).toBe(false);
});

test("the names of any value are those that a parser finds", () => {
  const namesOf = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(namesOf);
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, member]) => [name, ...namesOf(member)]);
  };
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(visited(text).map(([name]) => name)).toEqual(namesOf(JSON.parse(text)));
    }),
  );
});
