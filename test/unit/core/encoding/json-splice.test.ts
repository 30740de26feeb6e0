import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  getMemberText,
  hasRepeatedMember,
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

it("finds a member behind an escaped name, and the last one of two", () => {
  expect(getMemberText('{"mod\\u0065l":"x"}', ["model"])).toBe('"x"');
  expect(replaceMember('{"r":{"model":"x","o":{"model":1}}}', ["r", "model"], '"y"')).toBe(
    '{"r":{"model":"y","o":{"model":1}}}',
  );
  expect(getMemberText('{"a":1,"a":2}', ["a"])).toBe("2");
  expect(getMemberText('{"a":[1]}', ["a", "b"])).toBeNull();
});

it("recognizes a repeated member, however it is written", () => {
  expect(hasRepeatedMember('{"model":"a","mod\\u0065l":"b"}', ["model"])).toBe(true);
  expect(hasRepeatedMember('{"model":"a","x":{"model":"b"},"y":1,"y":2}', ["model"])).toBe(false);
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
