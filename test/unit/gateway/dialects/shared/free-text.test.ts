import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFreeText, FreeTextDecoder } from "../../../../../src/gateway/dialects/shared/free-text.ts";

describe("the input of a free-text tool", () => {
  it("is the same for any split of the arguments", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.array(fc.nat(200)),
        fc.constantFrom("", " ", "\n  "),
        (text, cuts, space) => {
          const json = `{${space}"input"${space}:${space}${JSON.stringify(text)}${space}}`;
          const places = [...new Set([0, ...cuts.filter((cut) => cut < json.length), json.length])];
          places.sort((a, b) => a - b);
          const input = new FreeTextDecoder();
          let decoded = "";
          for (const [index, place] of places.slice(1).entries()) {
            decoded += input.push(json.slice(places[index], place));
          }
          expect(decoded + input.finish()).toBe(text);
        },
      ),
    );
  });

  it("takes linear time for white space", () => {
    const list = `[1,${" ".repeat(300_000)}2]`;
    const input = new FreeTextDecoder();
    expect(input.push(`{"input":${list} }`) + input.finish()).toBe(list);
  });

  it("is sent while the arguments are incomplete", () => {
    const input = new FreeTextDecoder();
    expect(input.push('{"input":"first')).toBe("first");
    expect(input.push(" second\\")).toBe(" second");
    expect(input.push("n")).toBe("\n");
  });

  it.each([
    ['{"patch":"text"}', "text"],
    ['{"input":12345678901234567890}', "12345678901234567890"],
    ['{"input":{"a":1}}', '{"a":1}'],
    [' { "input" : [1,\n 2] } \n', "[1,\n 2]"],
    ['"bare"', "bare"],
    ["{}", ""],
    ['{"a":"1","b":"2"}', '{"a":"1","b":"2"}'],
    ["no json", "no json"],
  ])("keeps other arguments: %s", (text, expected) => {
    expect(decodeFreeText(text)).toBe(expected);
  });
});
