import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CitationFilter,
  linkCitations as linkedWithPlaces,
} from "../../../../../src/gateway/generation/assembly/citations.ts";
import { ProviderCitations } from "../../../../../src/gateway/generation/assembly/provider-citations.ts";

function filtered(pieces: readonly string[]): string {
  const filter = new CitationFilter();
  return pieces.map((piece) => filter.push(piece)).join("") + filter.finish();
}

const linkCitations = (text: string, found: typeof results) => linkedWithPlaces(text, found).text;

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
    ["[citation:9[citation:1]]", "[citation:9]"],
    ["a[0] and [link](x)", "a[0] and [link](x)"],
    ["ends with [", "ends with ["],
    ["[citation:1234567]", "[citation:1234567]"],
  ])("for any split: %j becomes %j", (input, output) => {
    for (let at = 0; at <= input.length; at += 1) {
      expect(filtered([input.slice(0, at), input.slice(at)])).toBe(output);
    }
    expect(filtered([...input])).toBe(output);
  });

  it("for any split of any text", () => {
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

  it("while they hold back at most the length of a marker", () => {
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

  it("a marker without a target is removed", () => {
    expect(linkCitations("a[citation:9]b", results)).toBe("ab");
  });
});

describe("the places that refer to sources", () => {
  const TEXT =
    "Water is wet. Ice is cold[citation:1][citation:2], they say.\nNobody[citation:9] knows [reference:1].";
  const claims = [
    [results[0]?.url, "Ice is cold"],
    [results[1]?.url, "Ice is cold"],
    [results[0]?.url, "knows"],
  ];

  it("of a stream are the positions of the markers, for any split", () => {
    for (const size of [1, 3, 7, TEXT.length]) {
      const filter = new CitationFilter();
      let shown = "";
      for (let at = 0; at < TEXT.length; at += size) shown += filter.push(TEXT.slice(at, at + size));
      shown += filter.finish();
      const citations = filter.citations(results);
      expect(citations.map(({ url, claim }) => [url, claim.text])).toEqual(claims);
      for (const { start, end, claim } of citations) {
        expect(start).toBe(end);
        expect(shown.slice(claim.start, claim.start + claim.text.length)).toBe(claim.text);
        expect(shown.slice(claim.start, start).trimEnd()).toBe(claim.text);
      }
    }
  });

  it("of a long sentence begin at the same place, for any split within a marker", () => {
    const text = `${"a".repeat(700)}[citation:1]`;
    const claims = [text.length, 705, 710].map((at) => {
      const filter = new CitationFilter();
      filter.push(text.slice(0, at));
      filter.push(text.slice(at));
      return filter.citations(results)[0]?.claim;
    });
    expect(claims).toEqual(Array.from({ length: 3 }, () => ({ start: 200, text: "a".repeat(500) })));
  });

  it("of a whole text are its links", () => {
    const { text, citations } = linkedWithPlaces(TEXT, results);
    expect(citations.map(({ url, claim }) => [url, claim.text])).toEqual(claims);
    expect(citations.map(({ start, end }) => text.slice(start, end))).toEqual([
      "[1](https://one.example/a%28b%29)",
      "[2](https://two.example/)",
      "[1](https://one.example/a%28b%29)",
    ]);
    for (const { claim } of citations) {
      expect(text.slice(claim.start, claim.start + claim.text.length)).toBe(claim.text);
    }
  });

  it("are bounded in number, and cost linear time", () => {
    const many = "[citation:1]".repeat(100_000);
    expect(linkedWithPlaces(many, results).citations).toHaveLength(1000);
    const filter = new CitationFilter();
    filter.push(many);
    expect(filter.citations(results)).toHaveLength(1000);
  });
});

it("positions outside the text are left out", () => {
  const given = new ProviderCitations();
  const numbers = [1.5, -1, 2 ** 53, 1e308, Number.POSITIVE_INFINITY, Number.NaN];
  for (const number of numbers) {
    given.push({ type: "citation", url: "https://a.example/", title: "", start: number, end: number }, 0);
    given.push({ type: "citation", url: "https://a.example/", title: "", start: 0, end: number }, 0);
  }
  expect(given.resolveIn("A text 😀 of some length.")).toEqual([]);
});
