import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { VERSION } from "../../../src/core/version.ts";

it("the build's version is that of its package", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({ version: VERSION });
});
