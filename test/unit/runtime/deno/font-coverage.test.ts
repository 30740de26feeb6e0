import { expect, it } from "vitest";
import { findMissingScripts } from "../../../../src/runtime/deno/font-coverage.ts";

it.each([
  [[], 6],
  [["OpenSans-Regular.ttf", "NotoSansCJK-Regular.ttc"], 5],
  [["DejaVuSans.ttf", "NotoColorEmoji.ttf"], 3],
  [
    [
      "NotoSansCJK-Regular.ttc",
      "NotoSansDevanagari.ttf",
      "NotoSansThai.ttf",
      "NotoNaskh.ttf",
      "NotoSansHebrew.ttf",
    ],
    1,
  ],
])("finds the scripts that lack a font with %j", (names, count) => {
  expect(findMissingScripts(names)).toHaveLength(count);
});
