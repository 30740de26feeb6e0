import { dirname } from "node:path";
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

/** A folder and all folders that it is in. */
function withParents(folder: string): string[] {
  const parts = folder.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
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

/** The folders directly in `folder` that import each other: `a/x.ts` that imports `b/y.ts` is an import of `b` by `a`. */
function importsBetweenFolders(folder: string, imports: ReadonlyMap<string, readonly string[]>) {
  const inner = (path: string) =>
    path.startsWith(`${folder}/`) ? /^(.+?)\//.exec(path.slice(folder.length + 1))?.[1] : undefined;
  const between = new Map<string, string[]>();
  for (const [path, targets] of imports) {
    const from = inner(path);
    if (from === undefined) continue;
    const others = targets.flatMap((target) => inner(target) ?? []).filter((to) => to !== from);
    between.set(from, [...(between.get(from) ?? []), ...others]);
  }
  return between;
}

it("finds folders that import each other, and disregards the files beside them", () => {
  const imports = new Map([
    ["src/a/one.ts", ["src/b/two.ts", "src/index.ts"]],
    ["src/b/two.ts", ["src/c/three.ts"]],
    ["src/c/three.ts", ["src/b/four.ts"]],
    ["src/index.ts", ["src/a/one.ts"]],
  ]);
  expect(cycles(importsBetweenFolders("src", imports))).toEqual([["b", "c"]]);
});

// Files directly in a folder are its index, or serve all folders in it: they may be imported by these, and import them.
it("no folders of the program import each other, at any depth", () => {
  const imports = new Map(sources("src").map((file) => [file.path, importsOf(file)]));
  const folders = new Set([...imports.keys()].map((path) => dirname(path)).flatMap(withParents));
  const found = [...folders].map(
    (folder) => [folder, cycles(importsBetweenFolders(folder, imports))] as const,
  );
  expect(found.filter(([, groups]) => groups.length > 0)).toEqual([]);
});
