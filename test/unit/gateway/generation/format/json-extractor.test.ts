import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractJson, JsonExtractor } from "../../../../../src/gateway/generation/format/json-extractor.ts";
import { type JsonFormat, rankJson } from "../../../../../src/gateway/generation/format/json-rank.ts";
import "../../../../support/properties.ts";

const JSON_FORMAT: JsonFormat = { type: "json" };
const OBJECT: JsonFormat = { type: "json-schema", schema: { type: "object" } };
const FORMATS = [JSON_FORMAT, OBJECT, { type: "json-schema", schema: { type: "array" } }] as const;

const F = "```";

/** What each piece yields, and the end. */
function streamed(pieces: readonly string[], format: JsonFormat = JSON_FORMAT): string[] {
  const stage = new JsonExtractor(format);
  return [...pieces.map((piece) => stage.push(piece)), stage.finish()];
}

/** Texts as models write them, and worse. */
const fragments = fc.constantFrom(
  ...[F, `${F}json\n`, `\n${F}`, "`", "\n", "  ", "{", "}", "[", "]", '"', "\\", ",", ":", "a", "1"],
  ...["[1]", "{}", '{"a":[1,{"b":"}"}]}', '{"a":"```"}', "Here you are:", "[Note]", "{a:1}", "true", "[tru"],
);
const answers = fc.array(fragments, { maxLength: 12 }).map((parts) => parts.join(""));
const cuts = fc.array(fc.nat(), { maxLength: 8 });

function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...places, text.length].map((place, index) => text.slice(places[index - 1] ?? 0, place));
}

describe("JSON that streams", () => {
  it("equals the whole answer for any split", () => {
    fc.assert(
      fc.property(answers, cuts, fc.constantFrom(...FORMATS), (text, places, format) => {
        const whole = extractJson(text, format);
        expect(streamed(cut(text, places), format).join("")).toBe(whole);
        expect(streamed([...text], format).join("")).toBe(whole);
      }),
      { numRuns: 2000 },
    );
  });

  it("contains only the JSON, with or without a fence or text around it", () => {
    const values = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    const before = fc.constantFrom("", "\n", `${F}json\n`, `${F}\n`, `Here you are:\n\n${F}json\r\n`);
    const after = fc.constantFrom("", "\n", ` \n${F}`, `\n${F}\nAnything else?\n${F}\n{}\n${F}`, "\nDone.");
    fc.assert(
      fc.property(values, fc.boolean(), before, after, cuts, (value, pretty, head, tail, places) => {
        const json = JSON.stringify(value, null, pretty ? 2 : 0);
        fc.pre(head.includes(F) || !tail.includes(F));
        expect(streamed(cut(head + json + tail, places)).join("")).toBe(json);
      }),
    );
  });

  it("never loses JSON that the text contains", () => {
    fc.assert(
      fc.property(answers, (text) => {
        if (rankJson(text, JSON_FORMAT).rank !== "valid") return;
        expect(JSON.parse(extractJson(text, JSON_FORMAT))).toEqual(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("is sent at once, except for a possible fence or text", () => {
    expect(streamed([`${F}js`, "on\n", '{"a', '":1', "}\n", F])).toEqual(["", "", '{"a', '":1', "}", "", ""]);
    expect(streamed(['{"a":', "1", "} ok"])).toEqual(['{"a":', "1", "}", ""]);
    expect(streamed(["[", "tr", "ue, 1]"])).toEqual(["", "", "[true, 1]", ""]);
  });

  it.each([
    ["words alone", "I cannot do that.", "I cannot do that."],
    ["words in brackets", "[Note] it is cold", "[Note] it is cold"],
    ["JSON after words in brackets", `[Note] so: ${F}json\n{"a":1}\n${F}`, '{"a":1}'],
    ["a list of sources before JSON that must be an object", `[1] is not it, ${F}\n{"a":1}\n${F}`, '{"a":1}'],
    ["JSON that is cut short in its fence", `${F}json\n{"a":[1,`, '{"a":[1,'],
    ["two objects", '{"a":1}\n{"b":2}', '{"a":1}\n{"b":2}'],
    ["two objects in a fence", `${F}\n{"a":1}\n{"b":2}\n${F}`, '{"a":1}\n{"b":2}'],
    ["an object within words", 'It is {"a":1}.', '{"a":1}'],
    ["code", `${F}python\nprint(1)\n${F}`, `${F}python\nprint(1)\n${F}`],
    ["a bare number", " 42 ", "42"],
  ])("%s", (_, text, expected) => {
    expect(extractJson(text, OBJECT)).toBe(expected);
    expect(streamed([...text], OBJECT).join("")).toBe(expected);
  });
});
