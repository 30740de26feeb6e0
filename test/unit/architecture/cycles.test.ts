import { expect, it } from "vitest";
import { importsOf, sources } from "./sources.ts";

/** The groups of files in which each leads to all others of it, by imports of values or of types. */
function cycles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const reached = new Map([...imports.keys()].map((path) => [path, reachedFrom(path, imports)]));
  const found = new Map<string, string[]>();
  for (const [path, others] of reached) {
    if (!others.has(path)) continue;
    const group = [...others].filter((other) => reached.get(other)?.has(path)).sort();
    found.set(group.join(), group);
  }
  return [...found.values()].sort();
}

/** All files that imports lead to from one, over any number of others. */
function reachedFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const left = [...(imports.get(start) ?? [])];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    left.push(...(imports.get(next) ?? []));
  }
  return reached;
}

it("finds a cycle over several files, and what leads into it is no part of it", () => {
  const imports = new Map([
    ["in", ["a"]],
    ["a", ["b"]],
    ["b", ["c", "out"]],
    ["c", ["a"]],
    ["out", []],
  ]);
  expect(cycles(imports)).toEqual([["a", "b", "c"]]);
});

// The linter looks at imports of values alone: two files that know each other's types are one subject, or have a third between them.
it("no files of the program import each other, not even by types", () => {
  const imports = new Map(sources("src").map((file) => [file.path, importsOf(file)]));
  expect(cycles(imports)).toEqual([]);
});
