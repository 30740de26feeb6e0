import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CitationFilter, linkCitations } from "../../../src/generation/citations.ts";

function filtered(pieces: readonly string[]): string {
  const filter = new CitationFilter();
  return pieces.map((piece) => filter.push(piece)).join("") + filter.finish();
}

const results = [
  { index: 1, url: "https://one.example/a(b)", title: "One" },
  { index: 2, url: "https://two.example/", title: "Two" },
];

describe("streams hide citation placeholders", () => {
  it.each([
    ["a[citation:1]b", "ab"],
    ["[reference:12][citation:3] x", " x"],
    ["[citation:]", "[citation:]"],
    ["[citation:1", "[citation:1"],
    ["[[citation:1]]", "[]"],
    ["a[0] and [link](x)", "a[0] and [link](x)"],
    ["ends with [", "ends with ["],
    ["[citation:1234567]", "[citation:1234567]"],
  ])("%j becomes %j at every split", (input, output) => {
    for (let at = 0; at <= input.length; at += 1) {
      expect(filtered([input.slice(0, at), input.slice(at)])).toBe(output);
    }
    expect(filtered([...input])).toBe(output);
  });

  it("does not depend on how the text is cut", () => {
    const alphabet = fc.array(
      fc.constantFrom("[", "]", "citation:", "reference:", "1", "23", "c", "x ", "ü"),
    );
    fc.assert(
      fc.property(alphabet, (units) => {
        const text = units.join("");
        expect(filtered([...text])).toBe(filtered([text]));
      }),
    );
  });

  it("holds back no more than a marker's length", () => {
    const filter = new CitationFilter();
    const input = `${"x".repeat(1000)}[citation:12345`;
    expect(input.length - filter.push(input).length).toBeLessThanOrEqual(20);
  });
});

describe("whole texts get Markdown links", () => {
  it("citation N points at index N", () => {
    expect(linkCitations("a[citation:2]", results)).toBe("a[2](https://two.example/)");
  });

  it("a link's address cannot end the link early", () => {
    expect(linkCitations("[citation:1]", results)).toBe("[1](https://one.example/a%28b%29)");
  });

  it("reference N counts from 1", () => {
    expect(linkCitations("[reference:1]", results)).toBe("[1](https://one.example/a%28b%29)");
  });

  it("reference N counts from 0 when reference 0 occurs", () => {
    expect(linkCitations("[reference:0][reference:1]", results)).toBe(
      "[1](https://one.example/a%28b%29)[2](https://two.example/)",
    );
  });

  it("a marker that points nowhere goes", () => {
    expect(linkCitations("a[citation:9]b", results)).toBe("ab");
  });
});
