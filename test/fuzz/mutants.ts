/**
 * Checks the tests of the tool scanner: every hold-back, index increment and commit condition is removed in turn, in a
 * copy, and some test must fail. Run it with `node test/fuzz/mutants.ts`; arguments select mutants by parts of their names.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calls } from "./mutants/calls.ts";
import { marks } from "./mutants/marks.ts";
import { values } from "./mutants/values.ts";

/** Milliseconds that one run of the quick tests, and of all tests, may take. */
const QUICK_LIMIT = 30_000;
const LIMIT = 120_000;
/** What the scanner and its tests consist of. */
const PARTS = [
  "src/core/conversation",
  "src/core/encoding",
  "src/gateway/tools",
  "test/fuzz/quick.ts",
  "test/support/find-calls.ts",
  "test/unit/gateway/tools",
];
const mutants = [...calls, ...values, ...marks];

let running: ChildProcess | undefined;

/** Ends the program that runs with all that it started: each leads a process group of its own. */
function stop(): void {
  const { pid } = running ?? {};
  running = undefined;
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone already.
  }
}

/** Resolves to whether a program of Node ends well; one that does not end in time is killed and has failed. */
function succeeds(folder: string, limit: number, ...program: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, program, { stdio: "ignore", cwd: folder, detached: true });
    running = child;
    const timer = setTimeout(() => {
      stop();
      resolve(false);
    }, limit);
    const settle = (code: number | null): void => {
      clearTimeout(timer);
      if (running === child) stop();
      resolve(code === 0);
    };
    child.on("exit", settle);
    child.on("error", () => settle(null));
  });
}

/** Whether the tests in `folder` pass: the quick ones first, since they find most mutants. */
async function passes(folder: string): Promise<boolean> {
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  return (
    (await succeeds(folder, QUICK_LIMIT, join(folder, "test/fuzz/quick.ts"))) &&
    (await succeeds(folder, LIMIT, vitest, "run", "--bail=1", "--pool=threads", "--root", folder))
  );
}

const root = process.cwd();
const folder = mkdtempSync(join(tmpdir(), "mutants-"));
const wanted = process.argv.slice(2);
const selected = mutants.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const survivors: string[] = [];
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    stop();
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
}
try {
  for (const part of PARTS) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  if (!(await passes(folder))) throw new Error("the tests fail without a mutant");
  for (const { name, file, from, to } of selected) {
    const path = join(folder, "src/gateway/tools", file);
    const source = readFileSync(path, "utf8");
    if (source.split(from).length !== 2) throw new Error(`"${name}" does not fit the source exactly once`);
    writeFileSync(
      path,
      source.replace(from, () => to),
    );
    const survived = await passes(folder);
    if (survived) survivors.push(name);
    console.info(`${survived ? "SURVIVED" : "killed  "} ${name}`);
    writeFileSync(path, source);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.info(`${selected.length - survivors.length} of ${selected.length} mutants killed`);
process.exitCode = survivors.length > 0 ? 1 : 0;
