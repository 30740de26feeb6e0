import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { technologiesQuerySchema, thumbnailQuerySchema } from "../../../src/pages/query-schemas.ts";

/** The names of the parameters that a source reads. */
function namesIn(source: string): string[] {
  const text = readFileSync(join(import.meta.dirname, "../../../src/pages", source), "utf8");
  const read = [...text.matchAll(/query\.(?:text|boolean|integer|dimensions|choice)\("(\w+)"/g)];
  const limited = [...text.matchAll(/limitedText\(query, "(\w+)"/g)];
  const shared = text.includes("readFreshness(query)") ? namesIn("freshness.ts") : [];
  return [...new Set(["url", ...shared, ...[...read, ...limited].map(([, name]) => name ?? "")])].sort();
}

describe("the described queries of the page service", () => {
  it.each([
    ["thumbnails/parameters.ts", thumbnailQuerySchema],
    ["technologies/endpoints.ts", technologiesQuerySchema],
  ])("name the parameters that %s reads", (source, schema) => {
    expect(Object.keys(schema.shape).sort()).toEqual(namesIn(source));
  });
});
