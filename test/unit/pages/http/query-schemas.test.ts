import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contentQuerySchema } from "../../../../src/pages/content/query-schemas.ts";
import { metadataQuerySchema } from "../../../../src/pages/metadata/query-schemas.ts";
import { technologiesQuerySchema } from "../../../../src/pages/technologies/query-schemas.ts";
import { thumbnailQuerySchema } from "../../../../src/pages/thumbnails/query-schemas.ts";

/** Sources that several operations share, by the call that reads their parameters. */
const SHARED: Readonly<Record<string, string>> = {
  "readFreshness(query, ": "http/freshness.ts",
  "readSetup(query, ": "http/page-setup-parameters.ts",
  "readMoment(query)": "http/moment-parameters.ts",
};

/** The names of the parameters that a source reads. */
function namesIn(source: string): string[] {
  const text = readFileSync(join(import.meta.dirname, "../../../../src/pages", source), "utf8");
  const read = [...text.matchAll(/query\.\w+\("(\w+)"/g)].map(([, name]) => name ?? "");
  const shared = Object.entries(SHARED).filter(([call]) => text.includes(call));
  return [...read, ...shared.flatMap(([, shared]) => namesIn(shared))];
}

/** Read for all operations alike (`page-caller.ts`, `define-operation.ts`). */
const OF_ALL = ["url", "key", "keyId", "expires", "signature", "async", "webhook", "uploadUrl"];

describe("the described queries of the page service", () => {
  it.each([
    [
      [
        "thumbnails/thumbnail-parameters.ts",
        "thumbnails/size-parameters.ts",
        "thumbnails/locale-parameters.ts",
        "thumbnails/paper-layout.ts",
        "thumbnails/print-options.ts",
      ],
      thumbnailQuerySchema,
    ],
    [["technologies/endpoints.ts"], technologiesQuerySchema],
    [["metadata/endpoints.ts"], metadataQuerySchema],
    [["content/content-parameters.ts"], contentQuerySchema],
  ])("name the parameters that %j read", (sources, schema) => {
    const names = new Set([...OF_ALL, ...sources.flatMap(namesIn)]);
    expect(Object.keys(schema.shape).sort()).toEqual([...names].sort());
  });
});
