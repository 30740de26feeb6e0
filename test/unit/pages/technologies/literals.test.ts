import fc from "fast-check";
import { describe, expect, it } from "vitest";
import engine from "wappalyzer-core";
import {
  getLiteralGroups,
  parseCatalogue,
  type TextField,
} from "../../../../src/pages/technologies/catalogue.ts";
import { LiteralScanner } from "../../../../src/pages/technologies/literal-scanner.ts";
import { TextIndex } from "../../../../src/pages/technologies/text-index.ts";
import { fingerprints } from "./plain-engine.ts";

const catalogue = parseCatalogue(fingerprints);
const fields: TextField[] = [
  "certIssuer",
  "css",
  "html",
  "robots",
  "scriptSrc",
  "scripts",
  "text",
  "url",
  "xhr",
];

describe("the literals of the fingerprints", () => {
  it("are in every text that their pattern matches", () => {
    let checked = 0;
    for (const field of fields) {
      for (const technology of catalogue.technologies) {
        getLiteralGroups(technology, field).forEach((groups, index) => {
          const pattern = String(technology.fingerprint[field]?.[index]);
          const { regex } = engine.parsePattern(pattern);
          for (const text of textsMatching(pattern, regex)) {
            checked++;
            const folded = text.toLowerCase();
            for (const group of groups) {
              expect(
                group.some((literal) => folded.includes(literal)),
                `${pattern} on ${text}`,
              ).toBe(true);
            }
          }
        });
      }
    }
    expect(checked).toBeGreaterThan(5000);
  }, 60_000);

  it("are known for nearly every pattern, or detection would be slow", () => {
    const patterns = fields.flatMap((field) =>
      catalogue.technologies.flatMap((technology) => getLiteralGroups(technology, field)),
    );
    expect(patterns.filter((groups) => groups.length === 0).length).toBeLessThan(patterns.length / 1000);
  });
});

describe("the search for literals", () => {
  it("finds all literals that occur, at every place, in any case", () => {
    const letter = fc.constantFrom("a", "b", "/", "-");
    const literal = fc.string({ unit: letter, minLength: 3, maxLength: 7 });
    const text = fc
      .array(
        fc.oneof(
          fc.string({ unit: fc.constantFrom("a", "B", "b", "A", "/", "-", "é", "K") }),
          fc.string({ unit: "binary" }),
        ),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        fc.uniqueArray(literal, { minLength: 1, maxLength: 20 }),
        fc.array(text, { maxLength: 3 }),
        (literals, texts) => {
          const scanner = new LiteralScanner(literals);
          for (const each of texts) {
            const folded = each.replace(/[A-Z]/g, (upper) => upper.toLowerCase());
            const expected = literals.map((literal, index): [number, number[]] => [
              index,
              positionsOf(literal, folded),
            ]);
            const found = [...scanner.scan(each)].map(([index, places]): [number, number[]] => [
              index,
              places.toSorted((a, b) => a - b),
            ]);
            expect(new Map(found.sort(([a], [b]) => a - b))).toEqual(
              new Map(expected.filter(([, positions]) => positions.length > 0)),
            );
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("finds literals anywhere in a long text, also after characters of several bytes", () => {
    const literals = [
      "wp-",
      "cdn.",
      "/wp-c",
      "shopify",
      "ontent/themes/a-long-one-from-which-nothing-is-missing",
    ];
    const scanner = new LiteralScanner(literals);
    const filling = fc
      .tuple(fc.constantFrom("x", "é", "例", "😀", "\ud800", "wp-conten"), fc.nat(9_000))
      .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length));
    const sign = fc.constantFrom("wp-content/themes/a-long-one-from-which-nothing-is-missing", "CDN.Shopify");
    fc.assert(
      fc.property(fc.array(fc.oneof(filling, sign), { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        const folded = text.toLowerCase();
        const found = scanner.scan(text);
        for (const [index, literal] of literals.entries()) {
          const all = [...folded.matchAll(new RegExp(literal.replaceAll(".", "\\."), "g"))].map(
            (match) => match.index,
          );
          const places = found.get(index) ?? [];
          expect(places).toHaveLength(Math.min(all.length, 5_000));
          if (all.length < 5_000) expect(places.toSorted((a, b) => a - b)).toEqual(all);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("works if all literals are longer than three characters", () => {
    const scanner = new LiteralScanner(["wp-content", "shopify.com"]);
    expect([...scanner.scan("<a href='//CDN.Shopify.COM/x'>")]).toEqual([[1, [15]]]);
    expect([...scanner.scan("wp-conten")]).toEqual([]);
    expect([...scanner.scan("")]).toEqual([]);
    expect([...scanner.scan("wp-content WP-CONTENT")]).toEqual([[0, [0, 11]]]);
    expect([...new LiteralScanner([]).scan("wp-content")]).toEqual([]);
  });
});

describe("the index of patterns", () => {
  it("offers a pattern only when each of its groups occurs", () => {
    const technologies = {
      A: { cats: [], website: "", html: ["x"], literals: { html: [["powered by", ["abc", "def"]]] } },
    };
    const index = new TextIndex(parseCatalogue(JSON.stringify({ categories: [], technologies })), "html");
    expect(index.findCandidates("powered by")).toEqual([]);
    expect(index.findCandidates("Powered By DEF").map(({ technology }) => technology.name)).toEqual(["A"]);
  });
});

/** Where a literal starts in a text, at all places, overlapping ones included. */
function positionsOf(literal: string, text: string): number[] {
  return [...Array(text.length).keys()].filter((at) => text.startsWith(literal, at));
}

/** Some texts that a pattern matches; none where the generator of texts cannot follow the pattern. */
function textsMatching(pattern: string, regex: RegExp): string[] {
  const source = (pattern.split("\\;")[0] ?? "").replace(/\+(?!\?)/g, "{1,3}").replace(/\*(?!\?)/g, "{0,3}");
  try {
    const texts = fc.sample(fc.stringMatching(new RegExp(source)), { numRuns: 2, seed: 7 });
    return texts.flatMap((text) => [text, text.toUpperCase()]).filter((text) => regex.test(text));
  } catch {
    return [];
  }
}
