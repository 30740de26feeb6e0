import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PageSignals } from "../../../../src/core/ports/page-browser.ts";
import { signalsFromHtml, TechnologyDetector } from "../../../../src/pages/technologies/index.ts";
import { pages } from "./fixtures.ts";
import {
  analyzePlainly,
  describeOurs,
  describePlain,
  fingerprints,
  rawTechnologies,
} from "./plain-engine.ts";

/** The plain engine tries every pattern, which takes seconds. This bound only ends what would never end, also on a busy machine. */
const LONGEST_MS = 300_000;

const detector = new TechnologyDetector(fingerprints);

function expectIdentical(signals: PageSignals): number {
  const plain = describePlain(analyzePlainly(signals));
  const { js: _, dom: __, ...texts } = signals;
  expect(describeOurs(detector.findMatches(texts))).toEqual(plain);
  return plain.length;
}

/** A text that a pattern of the data matches, where the generator of texts can follow it. */
function matching(pattern: string): fc.Arbitrary<string> | undefined {
  const source = (pattern.split("\\;")[0] ?? "").replace(/\+(?!\?)/g, "{1,5}").replace(/\*(?!\?)/g, "{0,5}");
  try {
    const text = fc.stringMatching(new RegExp(source));
    fc.sample(text, 1);
    return text;
  } catch {
    return undefined;
  }
}

function patternsOf(field: string): string[] {
  return Object.values(rawTechnologies).flatMap((technology) => {
    const patterns = technology[field];
    return (Array.isArray(patterns) ? patterns : [patterns]).filter((pattern) => typeof pattern === "string");
  });
}

/** A text with signs of technologies in it: matches of real patterns, in changed case, between other text. */
function signs(field: string): fc.Arbitrary<string> {
  const patterns = patternsOf(field);
  const sign = fc
    .nat(patterns.length - 1)
    .chain((index) => matching(patterns[index] ?? "") ?? fc.constant("none"));
  const cased = fc.tuple(sign, fc.constantFrom("as it is", "upper", "lower")).map(([text, how]) => {
    if (how === "upper") return text.toUpperCase();
    return how === "lower" ? text.toLowerCase() : text;
  });
  return fc
    .array(fc.oneof({ weight: 3, arbitrary: cased }, fc.string(), fc.string({ unit: "binary" })), {
      maxLength: 6,
    })
    .map((parts) => parts.join(" "));
}

describe("against the plain engine with all technologies", () => {
  it.each(Object.entries(pages))("the page %s gives the same detections", (_name, html) => {
    const headers = new Headers({
      server: "nginx/1.25.1",
      "x-powered-by": "PHP/8.2.1",
      "set-cookie": "PHPSESSID=1; Path=/",
    });
    expectIdentical(signalsFromHtml({ html, headers, url: "https://www.example.com/" }));
  });

  it("finds something on each page that has signs", () => {
    for (const name of ["blog", "application", "shop", "old", "unicode"]) {
      const signals = signalsFromHtml({
        html: pages[name] ?? "",
        headers: new Headers(),
        url: "https://www.example.com/",
      });
      expect(expectIdentical(signals), name).toBeGreaterThan(0);
    }
  });

  it(
    "mixtures of pages give the same detections",
    () => {
      // Pieces of markup, cut anywhere, with text between that is wider than a byte, or long.
      const piece = fc
        .tuple(fc.constantFrom(...Object.values(pages)), fc.nat(), fc.nat(2_000))
        .map(([html, from, length]) => html.slice(from % (html.length + 1)).slice(0, length));
      const between = fc.constantFrom(
        "",
        " ",
        "Größe – 例え ",
        "<p>😀</p>",
        "x".repeat(9_000),
        "<b>é".repeat(3_000),
      );
      const mixture = fc
        .array(fc.tuple(piece, between), { minLength: 4, maxLength: 12 })
        .map((parts) => parts.flat().join(""));
      let found = 0;
      fc.assert(
        fc.property(mixture, (html) => {
          found += expectIdentical(
            signalsFromHtml({ html, headers: new Headers(), url: "https://www.example.com/" }),
          );
        }),
        { numRuns: 15 },
      );
      expect(found).toBeGreaterThan(15);
    },
    LONGEST_MS,
  );

  it(
    "generated pages give the same detections",
    () => {
      const few = (field: string) => fc.array(signs(field), { maxLength: 3 });
      const named = fc.dictionary(
        fc.constantFrom(
          "generator",
          "server",
          "X-Powered-By",
          "PHPSESSID",
          "constructor",
          "__proto__",
          "mx",
          "TXT",
        ),
        fc.array(
          fc.oneof(fc.constantFrom("nginx/1.2.3", "WordPress 6.4", "PHP/8", "Drupal 10"), fc.string()),
          {
            maxLength: 2,
          },
        ),
      );
      const page = fc.record({
        url: signs("url"),
        html: signs("html"),
        text: signs("text"),
        headers: named,
        cookies: named,
        meta: named,
        dns: named,
        scriptSrc: few("scriptSrc"),
        inlineScripts: few("scripts"),
        externalScripts: few("scripts"),
        css: few("css"),
        xhrHosts: few("xhr"),
        robots: signs("robots"),
        certIssuer: signs("certIssuer"),
      });
      let found = 0;
      fc.assert(
        fc.property(page, (signals) => {
          found += expectIdentical(signals);
        }),
        { numRuns: 12 },
      );
      expect(found).toBeGreaterThan(12);
    },
    LONGEST_MS,
  );
});
