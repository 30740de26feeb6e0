import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { VERSION } from "../../src/version.ts";

it("the build's version is that of its package", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  expect(JSON.parse(text)).toMatchObject({ version: VERSION });
});
