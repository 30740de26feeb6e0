import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, root, sources } from "./sources.ts";

/** Folders may import those that docs/architecture.md allows them, and no others. */
function allowList(): Map<string, readonly string[]> {
  const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const rows = [...text.matchAll(/^\| `([\w/-]+)` \|([^|]*)\|/gm)];
  return new Map(rows.map(([, folder = "", allowed = ""]) => [folder, allowed.split(",").flatMap(name)]));
}

const name = (text: string): string[] => (text.trim() === "" ? [] : [text.trim()]);

/** What a file of `src/` counts as: its folder, a runtime's own folder, or the file itself where it lies in none. */
function roomOf(path: string): string {
  const parts = relative("src", path).split("/");
  const [first = ""] = parts;
  if (parts.length === 1) return first.replace(/\.tsx?$/, "");
  return first === "platform" && parts.length > 2 ? `platform/${parts[1]}` : first;
}

/** Every import between rooms, as `from → to`, with the files that have it. */
function imports(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of sources("src")) {
    const { path } = file;
    for (const target of importsOf(file)) {
      if (!target.startsWith("src/")) continue;
      const [from, to] = [roomOf(path), roomOf(target)];
      if (from === to) continue;
      const edge = `${from} → ${to}`;
      found.set(edge, [...(found.get(edge) ?? []), path]);
    }
  }
  return found;
}

describe("the layers", () => {
  const allowed = allowList();
  const edges = imports();
  const listed = [...allowed].flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`));

  it("has a row for every folder, and no others", () => {
    const rooms = new Set(sources("src").map(({ path }) => roomOf(path)));
    expect([...allowed.keys()].sort()).toEqual([...rooms].sort());
  });

  it("hold: no folder imports what its row does not allow", () => {
    const breaches = [...edges].filter(([edge]) => !listed.includes(edge));
    expect(breaches.map(([edge, files]) => `${edge}: ${files.join(", ")}`)).toEqual([]);
  });

  it("allow nothing that nobody needs", () => {
    expect(listed.filter((edge) => !edges.has(edge))).toEqual([]);
  });

  it("stand in order: each row imports only rows below it", () => {
    const order = [...allowed.keys()];
    const upwards = [...allowed].flatMap(([from, targets]) =>
      targets.filter((to) => order.indexOf(to) <= order.indexOf(from)).map((to) => `${from} → ${to}`),
    );
    expect(upwards).toEqual([]);
  });
});
