import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../src/gateway/dialects/index.ts";
import { DRIVER_ALIASES, DRIVER_NAMES, DRIVERS } from "../../../src/gateway/providers/drivers.ts";
import { importsOf, root, type SourceFile, sources } from "./sources.ts";

const offenders = (files: readonly SourceFile[], pattern: RegExp) =>
  files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

/** The folders in a folder that have a certain file. */
const foldersWith = (folder: string, file: string) =>
  readdirSync(join(root, folder)).filter((entry) => existsSync(join(root, folder, entry, file)));

describe("the house", () => {
  const src = sources("src");

  it("has its sources where this test looks", () => {
    expect(src.length).toBeGreaterThan(30);
  });

  it("names runtimes only in the entry files and in src/runtime", () => {
    const outside = src.filter(({ path }) => !/^src\/(?:worker|deno)\.ts$|^src\/runtime\//.test(path));
    expect(offenders(outside, /from "cloudflare:|\bDeno\./)).toEqual([]);
  });

  it("lists every dialect, by the name of its folder", () => {
    const listed = DIALECTS.map(({ id }) => id);
    expect(listed.toSorted()).toEqual(foldersWith("src/gateway/dialects", "dialect.ts").toSorted());
  });

  it("lists every driver, by the name of its folder", () => {
    const listed = DRIVERS.map(({ id }) => id);
    expect(listed.toSorted()).toEqual(foldersWith("src/gateway/providers", "driver.ts").toSorted());
  });

  it("knows a driver only in its folder and in the list", () => {
    for (const id of [...DRIVER_NAMES, ...DRIVER_ALIASES.keys()]) {
      const others = src.filter(
        ({ path }) =>
          !path.startsWith(`src/gateway/providers/${id}/`) && path !== "src/gateway/providers/drivers.ts",
      );
      expect(offenders(others, new RegExp(`from "[^"]*/providers/${id}/|from "\\./${id}/driver`))).toEqual(
        [],
      );
      expect(offenders(others, new RegExp(`(?:kind|id|[dD]river|[pP]rovider) [!=]== "${id}"`))).toEqual([]);
    }
  });

  it("silences no type", () => {
    const everything = [...src, ...sources("durable-objects"), ...sources("sandbox")];
    expect(
      offenders(everything, /: any[;,)\]=|]|<any>|\bas any\b|as unknown as|@ts-ignore|@ts-expect-error/),
    ).toEqual([]);
  });

  it("has the tests of a source file in the folder of the same name", () => {
    // Tests of the console are one folder for all pages.
    const tests = sources("test/unit").filter(({ path }) => !path.startsWith("test/unit/operator/console/"));
    const misplaced = tests.flatMap(({ path }) => {
      const [, folder, name] = /^test\/unit\/(.+)\/([^/]+?)(?:\.browser)?\.test\.tsx?$/.exec(path) ?? [];
      const candidates = src
        .map((file) => file.path)
        .filter((file) => file.startsWith(`src/${folder}/`) && file.endsWith(`/${name}.ts`));
      const [only] = candidates;
      return candidates.length === 1 && only !== `src/${folder}/${name}.ts` ? [`${path} tests ${only}`] : [];
    });
    expect(misplaced).toEqual([]);
  });

  it("imports a page of the console only to show it: parts of several pages are in shared/", () => {
    const console = src.filter(({ path }) => path.startsWith("src/operator/console/"));
    const pageOf = (path: string) => /^src\/operator\/console\/pages\/([^/]+)\//.exec(path)?.[1];
    const shown = /^src\/operator\/console\/(?:(?:rare-)?pages\.tsx?|languages\/page-texts\.ts)$/;
    const breaches = console
      .filter(({ path }) => !shown.test(path))
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => pageOf(target) !== undefined && pageOf(target) !== pageOf(file.path))
          .map((target) => `${file.path} → ${target}`),
      );
    expect(breaches).toEqual([]);
  });
});
