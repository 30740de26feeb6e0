import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, root, sources } from "./sources.ts";

/** One row of the table in docs/architecture.md. */
interface Row {
  readonly group: string;
  readonly mayImport: readonly string[];
  readonly folders: readonly string[];
}

const list = (cell: string): string[] =>
  cell
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

function readTable(): Row[] {
  const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const section = text.split(/^## /m).find((part) => part.startsWith("Groups of folders")) ?? "";
  const rows = [...section.matchAll(/^\| `([\w-]+)` \|([^|]*)\|[^|]*\|([^|]*)\|$/gm)];
  return rows.map(([, group = "", mayImport = "", folders = ""]) => ({
    group,
    mayImport: list(mayImport),
    folders: list(folders),
  }));
}

/** The group and the folder of a file in `src/`: `src/core/http/x.ts` is in `core`, `http`. */
function placeOf(path: string): { group: string; folder: string } {
  const [, group = "", folder = ""] = path.split("/");
  const [, ...folders] = path.split("/").slice(0, -1);
  if (folders.length === 0) return { group: "entry", folder: "files" };
  return { group, folder: folders.length === 1 ? "files" : folder };
}

interface Import {
  readonly from: ReturnType<typeof placeOf>;
  readonly to: ReturnType<typeof placeOf>;
  readonly file: string;
}

const imports: readonly Import[] = sources("src").flatMap((file) =>
  importsOf(file)
    .filter((target) => target.startsWith("src/"))
    .map((target) => ({ from: placeOf(file.path), to: placeOf(target), file: `${file.path} → ${target}` })),
);

describe("the groups of folders", () => {
  const table = readTable();
  const rowOf = (group: string) => table.find((row) => row.group === group);

  it("are those of the table: eight rows, each with all folders of its group", () => {
    const found = new Map<string, Set<string>>();
    for (const { path } of sources("src")) {
      const { group, folder } = placeOf(path);
      found.set(group, (found.get(group) ?? new Set()).add(folder));
    }
    expect(table.length).toBe(8);
    const listed = Object.fromEntries(table.map(({ group, folders }) => [group, folders.toSorted()]));
    expect(listed).toEqual(
      Object.fromEntries([...found].map(([group, names]) => [group, [...names].sort()])),
    );
  });

  it("import only what their row allows", () => {
    const between = imports.filter(({ from, to }) => from.group !== to.group);
    const breaches = between.filter(({ from, to }) => !rowOf(from.group)?.mayImport.includes(to.group));
    expect(breaches.map(({ file }) => file)).toEqual([]);
  });

  it("need every permission of their row", () => {
    const unused = table.flatMap(({ group, mayImport }) =>
      mayImport
        .filter((other) => !imports.some(({ from, to }) => from.group === group && to.group === other))
        .map((other) => `${group} → ${other}`),
    );
    expect(unused).toEqual([]);
  });

  it("have no cycle: each row permits only rows below it", () => {
    const order = table.map(({ group }) => group);
    const upward = table.flatMap(({ group, mayImport }) =>
      mayImport
        .filter((other) => order.indexOf(other) <= order.indexOf(group))
        .map((other) => `${group} → ${other}`),
    );
    expect(upward).toEqual([]);
  });

  it("have no cycle inside: each folder imports only folders listed after it", () => {
    const inside = imports.filter(({ from, to }) => from.group === to.group && from.folder !== to.folder);
    const breaches = inside.filter(({ from, to }) => {
      const folders = rowOf(from.group)?.folders ?? [];
      return folders.indexOf(to.folder) <= folders.indexOf(from.folder);
    });
    expect(breaches.map(({ file }) => file)).toEqual([]);
  });
});
