import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../scripts/development.mjs";

/** What would be published. */
interface Published {
  readonly polygate: { readonly size: number; readonly files: readonly { readonly path: string }[] };
}

const bin = join(root, "bin", "polygate.mjs");

/** Runs `npx polygate` with arguments, and no variables but these. */
function npx(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const { PATH } = process.env;
  return spawnSync(process.execPath, [bin, ...args], { encoding: "utf8", env: { PATH, ...variables } });
}

describe("the package", () => {
  it("can be published, and contains what it needs and no development files", () => {
    const { status, stdout } = spawnSync(
      "npm",
      ["publish", "--dry-run", "--offline", "--ignore-scripts", "--json"],
      { cwd: root, encoding: "utf8" },
    );
    expect(status).toBe(0);
    const { polygate }: Published = JSON.parse(stdout.slice(stdout.indexOf("{")));
    const paths = polygate.files.map(({ path }) => path);
    // What the program reads beside itself; `dist/program` is built when it is packed.
    const needed = [
      "bin/polygate.mjs",
      "scripts/launch.mjs",
      "deno.json",
      "dist/block-lists.txt",
      "LICENSE",
      "README.md",
    ];
    expect(paths).toEqual(
      expect.arrayContaining([
        ...needed,
        "dist/assets/data/technologies.json",
        "dist/assets/console/index.html",
        "dist/assets/console/key.html",
      ]),
    );
    expect(
      paths.filter((path) => /^(?:test|bench|docs|\.cache)\/|\.env|\.dev|\.wrangler/.test(path)),
    ).toEqual([]);
    // In bytes, compressed: 2.1 million, and 0.9 million more where `dist/program` was built before.
    expect(polygate.size).toBeLessThan(3_500_000);
  });

  it("is asked for by its name", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ name: "polygate", bin: { polygate: "bin/polygate.mjs" } });
    expect(manifest).not.toHaveProperty("private");
    expect(npx(["--version"]).stdout.trim()).toBe(manifest.version);
    expect(npx(["--help"])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("npx polygate [--port"),
    });
  });

  it("says which option it does not know", () => {
    expect(npx(["--prot", "1"])).toMatchObject({ status: 2, stderr: expect.stringContaining("'--prot'") });
  });

  // To run it by its name it must be executable: in a clone, setting the mode would be a change.
  it.skipIf(process.platform === "win32")("is committed as what can be executed", () => {
    expect(statSync(bin).mode & 0o111).toBe(0o111);
  });

  it("refuses an invalid port in a sentence", () => {
    const said = 'is "abc": it must be a whole number from 0 to 65535\n';
    expect(npx(["--port", "abc"])).toMatchObject({ status: 1, stdout: "", stderr: `--port ${said}` });
    expect(npx([], { PORT: "abc" })).toMatchObject({ status: 1, stdout: "", stderr: `PORT ${said}` });
    expect(npx(["--help"], { PORT: "abc" })).toMatchObject({ status: 0 });
  });

  it("shows keys that everybody knows to this machine alone", () => {
    for (const refused of [npx(["--host", "0.0.0.0"]), npx([], { HOST: "::", ADMIN_KEY: "" })]) {
      expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("set ADMIN_KEY") });
    }
  });
});
