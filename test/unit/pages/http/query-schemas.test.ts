import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTENT } from "../../../../src/pages/content/endpoints.ts";
import { METADATA } from "../../../../src/pages/metadata/endpoints.ts";
import type { Operation, OperationRequest } from "../../../../src/pages/operations/define-operation.ts";
import { TECHNOLOGIES } from "../../../../src/pages/technologies/endpoints.ts";
import { THUMBS } from "../../../../src/pages/thumbnails/endpoints.ts";

/** Parameters that `page-caller.ts` and `define-operation.ts` read for all operations. */
const READ_ELSEWHERE = ["keyId", "expires", "signature", "webhook", "uploadUrl"];
const SAFETY = { privateHosts: new Set<string>() };

/** The names that an operation knows: its error for a name that is similar to none lists them. */
function knownNames({ read }: Operation<OperationRequest>): string[] {
  try {
    read(new URLSearchParams({ url: "example.com", "0123456789": "x" }), SAFETY);
  } catch (error) {
    const [, names = ""] = /The parameters are ([^.]+)\./.exec(String(error)) ?? [];
    return names.split(", ");
  }
  throw new Error("The operation takes any parameter.");
}

describe("the described queries of the page service", () => {
  it.each<Operation<OperationRequest>>([THUMBS, TECHNOLOGIES, METADATA, CONTENT])(
    "have the parameters that $name reads",
    (operation) => {
      const names = [...READ_ELSEWHERE, ...knownNames(operation)];
      expect(Object.keys(operation.query.shape).sort()).toEqual(names.sort());
    },
  );

  it("have a row for each parameter in the contract of thumbnails", () => {
    const path = join(import.meta.dirname, "../../../../docs/page-contract/thumbnails.md");
    const [, table = ""] = /\n(\| Name \| Type[\s\S]*?)\n\n/.exec(readFileSync(path, "utf8")) ?? [];
    const [, ...rows] = table.split("\n").filter((line) => !line.startsWith("|---"));
    const names = rows.flatMap((row) => (row.split(" | ")[0] ?? "").slice(2).split(", "));
    expect(names.sort()).toEqual(Object.keys(THUMBS.query.shape).sort());
  });
});
