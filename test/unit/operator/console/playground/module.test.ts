import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { playgroundsModule } from "../../../../../scripts/console/playgrounds.mjs";
import { folders, playgrounds } from "./playgrounds.ts";

const LIST = `
import { one } from "./one/dialect.ts";
import type { Dialect } from "./dialect.ts";
import { three } from './number-three/dialect.ts';
import { two } from "./two/dialect.ts";

/** The order counts = [not, this]. */
export const DIALECTS: readonly Dialect[] = [
  two, // first
  three,
  /* one before last, */
  one,
];
`;

/** The folders that a module imports from, in the order of its list. */
function offered(text: string): string[] {
  const imports = text.matchAll(/^import \{ playground as (\w+) \} from "\.\/([\w-]+)\/playground\.ts";$/gm);
  const folderOf = new Map(Array.from(imports, ([, name = "", folder = ""]) => [name, folder]));
  const names = text.match(/^export const playgrounds = \[(.*)\];$/m)?.[1] ?? "";
  return names.split(", ").map((name) => folderOf.get(name) ?? `${name}?`);
}

describe("the generated module with the playgrounds", () => {
  it("has the order of the gateway's list, not of its imports", () => {
    expect(offered(playgroundsModule(LIST, () => true))).toEqual(["two", "number-three", "one"]);
  });

  it("leaves out the dialects that have no playground", () => {
    expect(offered(playgroundsModule(LIST, (folder) => folder !== "number-three"))).toEqual(["two", "one"]);
  });

  it.each([
    ["no list", "export const OTHERS = [one];", "must have the line"],
    ["a list that is computed", "export const DIALECTS = makeDialects();", "must have the line"],
    ["a spread", `${LIST.replace("two,", "...two,")}`, '"...two"'],
    ["a call", `${LIST.replace("two,", "wrapped(two),")}`, '"wrapped(two)"'],
    ["a name that is not imported", LIST.replace("two,", "four,"), '"four"'],
    ["a hole", LIST.replace("two,", "two,,"), '""'],
    ["a dialect of no folder", LIST.replace("./two/dialect.ts", "./two.ts"), '"two"'],
  ])("is not generated from %s, and the error explains this", (_, list, said) => {
    expect(() => playgroundsModule(list, () => true)).toThrow(said);
  });

  it("needs at least one playground", () => {
    expect(() => playgroundsModule(LIST, () => false)).toThrow("No dialect");
  });

  it("offers every existing playground", () => {
    const list = readFileSync(
      join(import.meta.dirname, "../../../../../src/gateway/dialects/index.ts"),
      "utf8",
    );
    const made = offered(playgroundsModule(list, (folder) => folders.includes(folder)));
    expect(made.toSorted()).toEqual(folders);
    expect(playgrounds.map(({ id }) => id)).toEqual(folders);
  });
});
