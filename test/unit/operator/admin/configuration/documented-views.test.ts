import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { configViewSchema } from "../../../../../src/operator/admin/configuration/config-answers.ts";

it("the contract names each member of the configuration that administrators see", () => {
  const path = join(import.meta.dirname, "../../../../../docs/contract/admin-configuration.md");
  const [, section = ""] =
    /## Configuration \(admin view\)\n([\s\S]*?)\n## /.exec(readFileSync(path, "utf8")) ?? [];
  const [view = ""] = section.split("An export has");
  const members = Object.keys(configViewSchema().shape);
  expect(members.filter((name) => !view.includes(`\`${name}\``))).toEqual([]);
  expect(view).not.toContain("`alerts`");
});
