import { expect, it } from "vitest";
import { citationsOf, hasPlaces } from "../../support/documents.ts";

const DOCUMENT =
  "# Title\n\n## What the service does\n\n1. One.\n\n### Tool calling rules\n\n9. Nine.\n\n## Limits (all)\n\n2. Two.\n";

it("finds the documents that comments cite, also across lines and several at once", () => {
  // Another test checks all citations in source files. It must not see these.
  const folder = "docs";
  const source = `/** One (${folder}/a.md). */
    /**
     * Two (${folder}/b.md,
     * Limits, rule 2).
     */
    // Three (${folder}/c.md, docs/d/e.md; RFC 1, section 2)`;
  expect(citationsOf(source)).toEqual([
    { file: "docs/a.md", places: [] },
    { file: "docs/b.md", places: ["Limits", "rule 2"] },
    { file: "docs/c.md", places: [] },
    { file: "docs/d/e.md", places: [] },
  ]);
});

it.each([
  [["Limits"], true],
  [["Limits", "rule 2"], true],
  [["Limits", "rule 9"], false],
  [["Errors"], false],
  [["general rule 1"], true],
  [["general rules 1 and 3"], false],
  [["tool rule 9"], true],
  [["tool rule 1"], false],
])("says whether a document has %j", (places, isThere) => {
  expect(hasPlaces(DOCUMENT, places)).toBe(isThere);
});
