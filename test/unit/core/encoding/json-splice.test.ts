import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  findAmbiguousMember,
  getMemberText,
  hasMemberInAnyCase,
  removeMember,
  replaceMember,
  setMember,
} from "../../../../src/core/encoding/json-splice.ts";

// V8 14 can read the name "\\"" as "\\" after it has read an object with the name "\\".
const names = fc
  .oneof(fc.constantFrom("model", "a", '"b', "c\\", "ü"), fc.string())
  .filter((name) => name !== "\\" && name !== '"');
const objects = fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true });
const spacing = fc.constantFrom(undefined, 2, "\t");

it("changes one value and no other byte", () => {
  const text = '{ "a" : [1, {"model":"x"}],\r\n "model" :"old" , "z":"}\\""}';
  expect(setMember(text, "model", '"new"')).toBe(
    '{ "a" : [1, {"model":"x"}],\r\n "model" :"new" , "z":"}\\""}',
  );
  expect(removeMember(text, "model")).toBe('{ "a" : [1, {"model":"x"}],\r\n "z":"}\\""}');
  expect(removeMember(text, "z")).toBe('{ "a" : [1, {"model":"x"}],\r\n "model" :"old" }');
  expect(setMember("{ }", "b", "1")).toBe('{ "b":1}');
  expect(setMember('{"a":1}', "b", "[]")).toBe('{"a":1,"b":[]}');
});

it("finds a member after an escaped name, and the last one of two", () => {
  expect(getMemberText('{"mod\\u0065l":"x"}', ["model"])).toBe('"x"');
  expect(replaceMember('{"r":{"model":"x","o":{"model":1}}}', ["r", "model"], '"y"')).toBe(
    '{"r":{"model":"y","o":{"model":1}}}',
  );
  expect(getMemberText('{"a":1,"a":2}', ["a"])).toBe("2");
  expect(getMemberText('{"a":[1]}', ["a", "b"])).toBeNull();
});

it.each([
  ['{"model":"a","mod\\u0065l":"b"}', "model"],
  ['{"model":"a","Model":"b"}', "model"],
  ['{"STREAM":true,"model":"a"}', "stream"],
  ['{"\u017ftream":true}', "stream"],
  ['{"model":"a","stream":true}', null],
  ['{"model":"a","x":{"model":"b","Model":"c"},"y":1,"y":2}', null],
])("detects a member that is stated twice or in another case: %s", (text, found) => {
  expect(findAmbiguousMember(text, ["model", "stream"])).toBe(found);
});

it("finds a member in any case", () => {
  expect(hasMemberInAnyCase('{"Fallbac\u212as":[]}', ["models", "fallbacks"])).toBe(true);
  for (const name of ["\u0130nput", "\u0131nput"])
    expect(hasMemberInAnyCase(`{"${name}":1}`, ["input"])).toBe(true);
  expect(hasMemberInAnyCase('{"x":{"models":[]}}', ["models", "fallbacks"])).toBe(false);
});

it.each([
  ['{"a":1,"b":2,"a":3}', '{"b":2}', '{"b":2,"a":0}'],
  ['{ "a":1 , "a":2 , "b":2 }', '{ "b":2 }', '{ "b":2 ,"a":0}'],
  ['{"b":2,"a":1,"a":2}', '{"b":2}', '{"b":2,"a":0}'],
  ['{"a":1,"b":2,"a":3,"c":4,"\\u0061":5}', '{"b":2,"c":4}', '{"b":2,"c":4,"a":0}'],
  ['{"a":1,"a":2}', "{}", '{"a":0}'],
])("removes and sets all statements of a member: %s", (text, removed, set) => {
  expect(removeMember(text, "a")).toBe(removed);
  expect(setMember(text, "a", "0")).toBe(set);
});

it("agrees with parsing and building the object again", async () => {
  await fc.assert(
    fc.property(objects, names, fc.jsonValue(), spacing, (object, name, value, space) => {
      const text = JSON.stringify(object, null, space);
      const { [name]: _, ...rest } = object;
      expect(JSON.parse(removeMember(text, name))).toEqual(JSON.parse(JSON.stringify(rest)));
      const set = JSON.parse(setMember(text, name, JSON.stringify(value)));
      expect(Object.hasOwn(set, name)).toBe(true);
      expect({ ...set, [name]: null }).toEqual({ ...JSON.parse(text), [name]: null });
      expect(set[name]).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
