// Measures the lines of `src` that the unit tests run, and those that the black-box tests on Deno run besides.
// `npm run coverage:deno [-- FILES]`: FILES are the black-box tests to run; default: all of the project `deno`.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, root } from "./development.mjs";

const folder = join(root, "coverage");
const unit = join(folder, "unit");
const counts = join(folder, "deno");
const denoReport = join(folder, "deno.lcov");

/** Runs a program of the project. A failed test does not stop the measurement, but the exit code tells it. */
function run(name, args, env = {}) {
  const program = join(root, "node_modules", ".bin", name);
  const { status } = spawnSync(program, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exitCode = 1;
}

/** Reads a report in the format of lcov: by file below `src/`, how often each line ran. */
function readReport(path) {
  const files = new Map();
  let lines = new Map();
  for (const entry of readFileSync(path, "utf8").split("\n")) {
    const file = /^SF:(.*)/.exec(entry)?.[1];
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(entry) ?? [];
    if (file !== undefined) {
      lines = new Map();
      files.set(file.slice(file.lastIndexOf("/src/") + 1), lines);
    } else if (line !== undefined) lines.set(Number(line), Number(count));
  }
  return files;
}

/** Adds up the lines of each folder: all of them, those that unit tests run, and those that any test runs. */
function sumUp(byUnits, byDeno) {
  const folders = new Map();
  for (const [file, lines] of byUnits) {
    const path = file.split("/").slice(1, 3).join("/");
    const sums = folders.get(path) ?? { all: 0, unit: 0, any: 0 };
    folders.set(path, sums);
    const deno = byDeno.get(file);
    for (const [line, count] of lines) {
      sums.all += 1;
      if (count > 0) sums.unit += 1;
      if (count > 0 || (deno?.get(line) ?? 0) > 0) sums.any += 1;
    }
  }
  return folders;
}

const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

rmSync(folder, { recursive: true, force: true });
mkdirSync(counts, { recursive: true });
const files = process.argv.slice(2);
run("vitest", [
  ...["run", "test/unit", "--project", "unit", "--project", "integration"],
  ...["--coverage", "--coverage.reportOnFailure"],
  ...["--coverage.reporter", "lcovonly", "--coverage.reportsDirectory", unit],
]);
run("vitest", ["run", "--project", "deno", ...files], { DENO_COVERAGE_DIR: counts });
run("deno", ["coverage", "--lcov", `--output=${denoReport}`, "--include=/src/.*\\.ts$", counts], {
  DENO_DIR: join(cacheFolder, "deno"),
});
const folders = sumUp(readReport(join(unit, "lcov.info")), readReport(denoReport));
const total = { all: 0, unit: 0, any: 0 };
const rows = [...folders].sort(([a], [b]) => (a < b ? -1 : 1));
for (const [, sums] of rows) for (const name of Object.keys(total)) total[name] += sums[name];
console.table(
  Object.fromEntries(
    [...rows, ["all", total]].map(([name, { all, unit: byUnit, any }]) => [
      name,
      { lines: all, unit: percent(byUnit, all), "unit and Deno": percent(any, all) },
    ]),
  ),
);
