// Builds the Worker: `worker.js`, and the modules that it loads lazily. Wrangler itself would bundle them into one file.
// Wrangler runs this script before it starts or deploys the Worker (`[build]` in wrangler.toml).
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { root } from "./development.mjs";

/** Node modules are provided by the runtime. CommonJS code may also `require` them. */
const NODE = {
  name: "node",
  setup({ onResolve, onLoad }) {
    const names = new RegExp(
      `^(?:node:.+|${builtinModules.filter((name) => !name.startsWith("_")).join("|")})$`,
    );
    onResolve({ filter: names }, ({ path, kind }) => {
      const name = path.startsWith("node:") ? path : `node:${path}`;
      return kind === "require-call" ? { path: name, namespace: "node" } : { path: name, external: true };
    });
    onLoad({ filter: /.*/, namespace: "node" }, ({ path }) => ({
      contents: `import its from "${path}"; module.exports = its;`,
    }));
  },
};

/** Longer than any build takes. */
const LONGEST_BUILD_MS = 60_000;

/** Inputs of the Worker: source folders, and the file with the versions of the libraries. */
const SOURCES = ["src", "durable-objects"];
const VERSIONS = "package-lock.json";

/**
 * Returns a hash of the sources. A cached check of one build is valid only for builds with the same hash. null without
 * `package-lock.json` (other package managers), because the versions of the libraries are then unknown.
 */
export function buildId(folder = root) {
  if (!isFile(join(folder, VERSIONS))) return null;
  const hash = createHash("sha256");
  const files = SOURCES.flatMap((source) =>
    readdirSync(join(folder, source), { recursive: true }).map((name) => join(source, name)),
  );
  for (const file of [VERSIONS, ...files.sort()]) {
    // Editors create broken links beside sources; skip them.
    if (isFile(join(folder, file))) hash.update(`${file}\n`).update(readFileSync(join(folder, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** esbuild options of the Worker. */
export const WORKER = {
  absWorkingDir: root,
  entryPoints: ["src/worker.ts"],
  outdir: join(root, "dist", "worker"),
  // A separate folder, so that `rules` in wrangler.toml match only these files as modules.
  chunkNames: "parts/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2024",
  // Syntax that the runtime supports.
  supported: { using: true },
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*"],
  loader: { ".txt": "copy", ".wasm": "copy" },
  define: { "process.env.NODE_ENV": '"production"', BUILD_ID: JSON.stringify(buildId()) },
  plugins: [NODE],
  minify: true,
  logLevel: "warning",
};

/**
 * Builds the Worker. Lazily loaded modules become separate files; shared code becomes files of its own.
 *
 * @param {{ folder?: string, readable?: boolean }} [options] `readable`: keeps the names of the source
 */
export async function buildWorker({ folder = WORKER.outdir, readable = false } = {}) {
  const { outputFiles } = await build({
    ...WORKER,
    outdir: folder,
    write: false,
    minify: !readable,
    sourcemap: "linked",
    sourcesContent: false,
  });
  place(folder, outputFiles);
}

/** Longer than any build needs to move its files. */
const LONGEST_PLACING_MS = 10_000;

/** Interval of checks whether another build has finished moving its files, in milliseconds. */
const LOOK_MS = 20;

/**
 * Runs `work` under a lock of the folder. Two builds at the same time would mix their files.
 *
 * @param {string} folder
 * @param {() => void} work
 */
function alone(folder, work) {
  const lock = `${folder}.lock`;
  while (!isTaken(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Takes the lock if it is free, or if a killed build left it. */
function isTaken(lock) {
  const stats = statSync(lock, { throwIfNoEntry: false });
  // Absolute difference, because the clock may have been set back.
  if (stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) > LONGEST_PLACING_MS)
    rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
}

/**
 * Replaces the previous build, one build at a time. Writes the entry last, so that it never refers to a missing file. Then
 * deletes files that only the previous build had, because they would be deployed too.
 *
 * @param {readonly { path: string, contents: Uint8Array }[]} files output files of esbuild
 */
export function place(folder, files) {
  mkdirSync(join(folder, "parts"), { recursive: true });
  alone(folder, () => placeAlone(folder, files));
}

function placeAlone(folder, files) {
  const made = new Set(files.map(({ path }) => relative(folder, path)));
  const isEntry = ({ path }) => basename(path).startsWith("worker.js");
  for (const file of [...files.filter((each) => !isEntry(each)), ...files.filter(isEntry)]) replace(file);
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = join(folder, name);
    if (/\.(?:js|map|txt|wasm)$/.test(name) ? !made.has(name) : isLeftBehind(path))
      rmSync(path, { force: true });
  }
}

/** Whether a temporary file is left over from a killed build. Wrangler kills a build when a source changes during it. */
function isLeftBehind(path) {
  const stats = /\.\d+$/.test(path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
  return stats?.isFile() === true && Date.now() - stats.mtimeMs > LONGEST_BUILD_MS;
}

/** Replaces a file atomically: concurrent readers see the old or the new content. */
function replace({ path, contents }) {
  try {
    if (readFileSync(path).equals(contents)) return;
  } catch {
    // The file did not exist.
  }
  const half = `${path}.${process.pid}`;
  writeFileSync(half, contents);
  renameSync(half, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildWorker({ readable: process.env.READABLE === "true" });
}
